//! Types as the generated file describes them, and as its thunks pass them.

use super::model::Model;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_ir::{Enum, Item, Type};

/// Returns the description of a type.
pub fn describe(model: &Model<'_>, ty: &Type) -> TokenStream {
    match model.resolve(ty) {
        Type::Void => quote!(Type::Void),
        Type::Int { bits, signed } => describe_int(*bits, *signed),
        Type::Float { bits } => {
            let bits = Literal::u8_unsuffixed(*bits);
            quote!(Type::Float { bits: #bits })
        }
        Type::Bool => quote!(Type::Bool),
        Type::Char => describe_int(8, true),
        Type::Size => describe_int(64, false),
        Type::Address { signed } => describe_int(64, *signed),
        Type::Named(name) => describe_named(model, name),
        Type::Pointer { pointee, mutable } => {
            let pointee = describe(model, pointee);
            quote!(Type::Pointer { pointee: &#pointee, mutable: #mutable })
        }
        Type::Array { .. } => quote!(Type::Opaque("array")),
        Type::Function(_) => quote!(Type::Function),
    }
}

fn describe_int(bits: u8, signed: bool) -> TokenStream {
    let bits = Literal::u8_unsuffixed(bits);
    quote!(Type::Int { bits: #bits, signed: #signed })
}

fn describe_named(model: &Model<'_>, name: &str) -> TokenStream {
    match model.item(name) {
        Some(Item::Struct(_)) => {
            let structure = structure_name(name);
            quote!(Type::Struct(&#structure))
        }
        Some(Item::Enum(_)) => {
            let enumeration = enumeration_name(name);
            quote!(Type::Enum(&#enumeration))
        }
        Some(Item::Handle(handle)) if handle.pointer => {
            quote!(Type::Pointer { pointee: &Type::Opaque(#name), mutable: true })
        }
        Some(Item::Callback(_)) => quote!(Type::Function),
        _ => quote!(Type::Opaque(#name)),
    }
}

/// Returns the static that describes the enumeration `name`.
pub fn enumeration(name: &str, item: &Enum) -> TokenStream {
    let constant = enumeration_name(name);
    let variants = item.variants.iter().map(|it| {
        let (name, value) = (&it.name, Literal::i64_unsuffixed(it.value));
        quote!((#name, #value))
    });
    quote! {
        static #constant: Enumeration = Enumeration { name: #name, variants: &[#(#variants),*] };
    }
}

fn enumeration_name(name: &str) -> Ident {
    format_ident!("ENUM_{}", name.to_uppercase())
}

/// Returns the name of the static that describes the struct `name`.
pub fn structure_name(name: &str) -> Ident {
    format_ident!("STRUCT_{}", name.to_uppercase())
}

/// Returns the Rust type by which a thunk passes a value, or `None` for `void`.
pub fn passed(model: &Model<'_>, ty: &Type) -> Option<TokenStream> {
    let ty = model.resolve(ty);
    if let Some(size) = model.by_value(ty) {
        let words = Literal::u64_unsuffixed(size / 8);
        return Some(quote!(Words<#words>));
    }
    Some(match ty {
        Type::Void => return None,
        Type::Int { bits, signed } => {
            let name = format_ident!("{}{bits}", if *signed { "i" } else { "u" });
            quote!(#name)
        }
        Type::Float { bits } => {
            let name = format_ident!("f{bits}");
            quote!(#name)
        }
        Type::Bool => quote!(u8),
        Type::Char => quote!(i8),
        Type::Named(name) => match model.item(name) {
            Some(Item::Enum(item)) => return passed(model, &item.repr),
            _ => quote!(usize),
        },
        _ => quote!(usize),
    })
}

/// Returns the expression of the bits of `value`, which is passed as a `ty`.
pub fn bits(model: &Model<'_>, ty: &Type, value: &Ident) -> TokenStream {
    let ty = model.resolve(ty);
    if model.by_value(ty).is_some() {
        return quote!((&raw const #value) as u64);
    }
    match ty {
        Type::Float { .. } => quote!(#value.to_bits() as u64),
        _ => quote!(#value as u64),
    }
}
