//! Prints types and constants.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_emit::printing::{print_function_type, print_type, safety};
use sp_ir::{Enum, Field, Item, Layout, Loc, Type};

use super::{InScope, doc_text};
use crate::model::{ConstantValue, Fields, Model, NamedConstant, Shape};
use crate::names;

/// Prints all types, then all constants.
pub fn print(model: &Model) -> TokenStream {
    let types = model
        .types
        .iter()
        .map(|(name, item)| print_item(model, name, item));
    let values = model.opaque_values.iter();
    let values = values.map(|(name, layout)| print_bytes(name, *layout, &no_doc(name)));
    let opaque = model
        .opaque_types
        .iter()
        .map(|name| print_opaque(name, &no_doc(name)));
    let constants = model.constants.iter().map(print_constant);
    quote!(#(#types)* #(#values)* #(#opaque)* #(#constants)*)
}

/// Returns true for an enumeration, also behind typedefs.
pub fn is_enum(model: &Model, ty: &Type) -> bool {
    let Type::Named(name) = ty else {
        return false;
    };
    let found = model.types.iter().find(|(known, _)| known == name);
    match found {
        Some((_, Item::Enum(_))) => true,
        Some((_, Item::Alias(alias))) => is_enum(model, &alias.ty),
        _ => false,
    }
}

fn no_doc(name: &str) -> String {
    format!(" `{name}`, whose fields are not bound.")
}

/// Returns the doc of an item: its C declaration and its position.
pub fn doc(declaration: &str, loc: &Loc) -> String {
    let file = loc.file.rsplit('/').next().unwrap_or_default();
    doc_text(&format!(" `{declaration}`, {file}:{}", loc.line))
}

fn print_item(model: &Model, name: &str, item: &Item) -> TokenStream {
    let doc = doc(&sp_ir::c::item(name, item), item.loc());
    let ident = names::item(name);
    match item {
        Item::Struct(_) | Item::Union(_) => print_record(model, name, item, &doc),
        Item::Enum(item) => print_enum(name, item, &doc),
        Item::Handle(handle) if handle.pointer => print_handle(name, &doc),
        Item::Handle(_) => print_opaque(name, &doc),
        Item::Alias(alias) => {
            let ty = print_type(&alias.ty, &InScope);
            quote!(#[doc = #doc] pub type #ident = #ty;)
        }
        Item::Callback(callback) => {
            let function = print_function_type(&callback.signature, &InScope);
            quote!(#[doc = #doc] pub type #ident = Option<#function>;)
        }
        Item::Function(_) | Item::Constant(_) => TokenStream::new(),
    }
}

fn print_handle(name: &str, doc: &str) -> TokenStream {
    let ident = names::item(name);
    let comment = safety(
        "the value is an address that only the driver dereferences, in calls that are unsafe.",
    );
    quote! {
        #[doc = #doc]
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct #ident(pub *mut c_void);
        #comment
        unsafe impl Send for #ident {}
        #comment
        unsafe impl Sync for #ident {}
        impl #ident {
            /// The null handle.
            pub const NULL: Self = Self(::core::ptr::null_mut());
        }
    }
}

fn print_opaque(name: &str, doc: &str) -> TokenStream {
    let ident = names::item(name);
    quote! {
        #[doc = #doc]
        #[repr(C)]
        pub struct #ident {
            _private: [u8; 0],
            _not_send: ::core::marker::PhantomData<*mut u8>,
        }
    }
}

fn print_bytes(name: &str, layout: Layout, doc: &str) -> TokenStream {
    let ident = names::item(name);
    let (size, align) = (literal(layout.size), literal(layout.align));
    let asserts = assert_layout(name, layout);
    quote! {
        #[doc = #doc]
        #[repr(C, align(#align))]
        #[derive(Clone, Copy)]
        pub struct #ident {
            /// The bytes.
            pub bytes: [u8; #size],
        }
        #asserts
    }
}

fn print_record(model: &Model, name: &str, item: &Item, doc: &str) -> TokenStream {
    let (fields, layout, is_union) = match item {
        Item::Struct(item) => (&item.fields, item.layout, false),
        Item::Union(item) => (&item.fields, item.layout, true),
        _ => return TokenStream::new(),
    };
    let repr = match model.shapes.get(name) {
        Some(Shape::Fields(Fields::Natural)) => quote!(C),
        Some(Shape::Fields(Fields::Packed(pack))) => {
            let pack = literal(*pack);
            quote!(C, packed(#pack))
        }
        Some(Shape::Fields(Fields::Aligned(align))) => {
            let align = literal(*align);
            quote!(C, align(#align))
        }
        Some(Shape::Bytes(..)) | None => return print_bytes(name, layout, doc),
    };
    if is_union && fields.is_empty() {
        return print_bytes(name, layout, doc);
    }
    let keyword = if is_union {
        quote!(union)
    } else {
        quote!(struct)
    };
    let ident = names::item(name);
    let members = fields.iter().map(print_field);
    let asserts = assert_layout(name, layout);
    let offsets = fields.iter().map(|field| assert_offset(name, field));
    let comment =
        safety("zeros are valid in every field: numbers, null pointers, and `None` for callbacks.");
    quote! {
        #[doc = #doc]
        #[repr(#repr)]
        #[derive(Clone, Copy)]
        pub #keyword #ident { #(#members)* }
        impl Default for #ident {
            /// Returns zeros.
            fn default() -> Self {
                #comment
                unsafe { ::core::mem::zeroed() }
            }
        }
        #asserts
        #(#offsets)*
    }
}

fn print_field(field: &Field) -> TokenStream {
    let name = sp_expand::ident(&field.name);
    let ty = print_type(&field.ty, &InScope);
    let doc = format!(" `{}`", sp_ir::c::member(&field.name, &field.ty));
    quote!(#[doc = #doc] pub #name: #ty,)
}

fn assert_layout(name: &str, layout: Layout) -> TokenStream {
    let ident = names::item(name);
    let (size, align) = (literal(layout.size), literal(layout.align));
    quote! {
        const _: () = assert!(::core::mem::size_of::<#ident>() == #size);
        const _: () = assert!(::core::mem::align_of::<#ident>() == #align);
    }
}

fn assert_offset(name: &str, field: &Field) -> TokenStream {
    let (ident, member) = (names::item(name), sp_expand::ident(&field.name));
    let offset = literal(field.offset);
    quote!(
        const _: () = assert!(::core::mem::offset_of!(#ident, #member) == #offset);
    )
}

fn print_enum(name: &str, item: &Enum, doc: &str) -> TokenStream {
    let ident = names::item(name);
    let repr = print_type(&item.repr, &InScope);
    let values = item.variants.iter().map(|variant| {
        let value = number(variant.value, &item.repr);
        let name = names::item(&variant.name);
        let doc = format!(" `{}`", variant.name);
        quote!(#[doc = #doc] pub const #name: Self = Self(#value);)
    });
    let mut seen = std::collections::BTreeSet::new();
    let distinct = item.variants.iter().filter(|it| seen.insert(it.value));
    let arms = distinct.map(|variant| {
        let (value, name) = (number(variant.value, &item.repr), &variant.name);
        quote!(#value => #name,)
    });
    quote! {
        #[doc = #doc]
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct #ident(pub #repr);
        impl #ident {
            #(#values)*
            /// Returns the name in the header, or `None` for a value that it does not list.
            pub const fn name(self) -> Option<&'static str> {
                Some(match self.0 {
                    #(#arms)*
                    _ => return None,
                })
            }
        }
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}({})", #name, self.0),
                }
            }
        }
    }
}

/// Returns a value of an integer type. An unsigned value above the range of `i64` is stored as a negative one.
fn number(value: i64, repr: &Type) -> TokenStream {
    let is_unsigned = matches!(repr, Type::Int { signed: false, .. });
    let literal = match is_unsigned && value < 0 {
        true => Literal::u64_unsuffixed(value as u64),
        false => Literal::i64_unsuffixed(value),
    };
    quote!(#literal)
}

fn print_constant(constant: &NamedConstant) -> TokenStream {
    let name = names::item(&constant.name);
    let doc = doc(&constant.name, &constant.loc);
    let (ty, value) = match &constant.value {
        ConstantValue::Int(value) => integer(*value),
        ConstantValue::Large(value) => {
            let value = literal(*value);
            (quote!(u64), quote!(#value))
        }
        ConstantValue::Text(text) if text.contains('\0') => return TokenStream::new(),
        ConstantValue::Text(text) => {
            let text = c_string(text);
            (quote!(&::core::ffi::CStr), quote!(#text))
        }
        ConstantValue::Enumerator { enumeration, name } => {
            let (ty, name) = (names::item(enumeration), names::item(name));
            (quote!(#ty), quote!(#ty::#name))
        }
    };
    quote!(#[doc = #doc] pub const #name: #ty = #value;)
}

fn c_string(text: &str) -> Literal {
    let text = std::ffi::CString::new(text).unwrap_or_default();
    Literal::c_string(&text)
}

/// Returns the smallest of `u32`, `i32`, `u64` and `i64` that holds a value, as C's macros are mostly unsigned.
fn integer(value: i64) -> (TokenStream, TokenStream) {
    let literal = Literal::i64_unsuffixed(value);
    let ty = match value {
        0.. if u32::try_from(value).is_ok() => quote!(u32),
        0.. => quote!(u64),
        _ if i32::try_from(value).is_ok() => quote!(i32),
        _ => quote!(i64),
    };
    (ty, quote!(#literal))
}

fn literal(value: u64) -> Literal {
    Literal::u64_unsuffixed(value)
}
