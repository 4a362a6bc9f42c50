//! Prints types and constants.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use sp_emit::printing::{print_function_type, print_type, safety};
use sp_ir::{Enum, Field, Item, Layout, Type};

use super::{InScope, bit_fields, constants, doc};
use crate::model::{Fields, Model, Shape};
use crate::names;

/// Prints all types, then all constants.
pub fn print(model: &Model) -> TokenStream {
    let types = model.types.iter();
    let types = types.map(|(name, item)| print_item(model, name, item));
    let values = model.opaque_values.iter();
    let values = values.map(|(name, layout)| print_bytes(name, *layout, &no_doc(name)));
    let opaque = model.opaque_types.iter();
    let opaque = opaque.map(|name| print_opaque(name, &no_doc(name)));
    let constants = model.constants.iter();
    let constants = constants.map(|it| constants::print(model, it));
    quote!(#(#types)* #(#values)* #(#opaque)* #(#constants)*)
}

fn no_doc(name: &str) -> String {
    format!(" `{name}`, whose fields are not bound.")
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
    let idents = names::fields(fields.iter().map(|it| it.name.as_str()));
    let members = fields.iter().zip(&idents).map(print_field);
    let asserts = assert_layout(name, layout);
    let offsets = fields.iter().zip(&idents);
    let offsets = offsets.map(|(field, member)| assert_offset(name, field, member));
    let accessors = model.accessors.get(name);
    let accessors = accessors.map(|it| bit_fields::print(model, &ident, it, is_union));
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
        #accessors
        #asserts
        #(#offsets)*
    }
}

fn print_field((field, name): (&Field, &Ident)) -> TokenStream {
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

fn assert_offset(name: &str, field: &Field, member: &Ident) -> TokenStream {
    let ident = names::item(name);
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
        let name = names::enumerator(&variant.name);
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
            fn fmt(&self, f__: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    Some(name__) => f__.write_str(name__),
                    None => write!(f__, "{}({})", #name, self.0),
                }
            }
        }
    }
}

/// Returns a value of an integer type. An unsigned value above the range of `i64` is stored as a negative one.
pub fn number(value: i64, repr: &Type) -> TokenStream {
    let is_unsigned = matches!(repr, Type::Int { signed: false, .. });
    let literal = match is_unsigned && value < 0 {
        true => Literal::u64_unsuffixed(value as u64),
        false => Literal::i64_unsuffixed(value),
    };
    quote!(#literal)
}

fn literal(value: u64) -> Literal {
    Literal::u64_unsuffixed(value)
}
