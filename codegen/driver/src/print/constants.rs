//! Prints constants.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_emit::printing::print_type;
use sp_ir::{Item, Type};

use super::{InScope, doc};
use crate::model::{ConstantValue, Model, NamedConstant};
use crate::names;

/// Prints a constant.
pub fn print(model: &Model, constant: &NamedConstant) -> TokenStream {
    let name = names::parsed(&constant.rust_name);
    let doc = doc(&constant.name, &constant.loc);
    let (ty, value) = match &constant.value {
        ConstantValue::Int(value) => integer(*value),
        ConstantValue::Typed { value, ty } => typed(model, *value, ty),
        ConstantValue::Float { value, bits } => float(*value, *bits),
        ConstantValue::Text(bytes) => text(bytes),
        ConstantValue::Address { value, ty } => address(model, *value, ty),
        ConstantValue::NoFunction(ty) => (print_type(ty, &InScope), quote!(None)),
        ConstantValue::Enumerator {
            enumeration, name, ..
        } => {
            let (ty, name) = (names::item(enumeration), names::enumerator(name));
            (quote!(#ty), quote!(#ty::#name))
        }
    };
    quote!(#[doc = #doc] pub const #name: #ty = #value;)
}

/// Returns the smallest of `u32`, `i32`, `u64` and `i64` that holds a value, as C's macros are mostly unsigned.
fn integer(value: i128) -> (TokenStream, TokenStream) {
    let literal = Literal::i128_unsuffixed(value);
    let ty = match value {
        0.. if u32::try_from(value).is_ok() => quote!(u32),
        0.. => quote!(u64),
        _ if i32::try_from(value).is_ok() => quote!(i32),
        _ => quote!(i64),
    };
    (ty, quote!(#literal))
}

fn typed(model: &Model, value: i128, ty: &Type) -> (TokenStream, TokenStream) {
    let literal = Literal::i128_unsuffixed(value);
    let value = match (model.enumeration(ty), model.resolve(ty)) {
        (Some((name, _)), _) => {
            let name = names::item(name);
            quote!(#name(#literal))
        }
        (None, Type::Bool) => {
            let is_true = value != 0;
            quote!(#is_true)
        }
        (None, _) => quote!(#literal),
    };
    (print_type(ty, &InScope), value)
}

fn float(value: f64, bits: u8) -> (TokenStream, TokenStream) {
    let ty = print_type(&Type::Float { bits }, &InScope);
    let special = match (value.is_nan(), value.is_infinite(), value > 0.0) {
        (true, ..) => Some(quote!(#ty::NAN)),
        (_, true, true) => Some(quote!(#ty::INFINITY)),
        (_, true, false) => Some(quote!(#ty::NEG_INFINITY)),
        _ => None,
    };
    let text = match bits {
        32 => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    };
    let value = special.unwrap_or_else(|| text.parse().unwrap_or_default());
    (ty, value)
}

/// Prints a C string, or the bytes of one that contains a NUL.
fn text(bytes: &[u8]) -> (TokenStream, TokenStream) {
    match std::ffi::CString::new(bytes) {
        Ok(text) => {
            let text = Literal::c_string(&text);
            (quote!(&::core::ffi::CStr), quote!(#text))
        }
        Err(_) => {
            let with_nul = [bytes, &[0]].concat();
            let length = Literal::usize_unsuffixed(with_nul.len());
            let literal = Literal::byte_string(&with_nul);
            (quote!(&[u8; #length]), quote!(#literal))
        }
    }
}

fn address(model: &Model, value: u64, ty: &Type) -> (TokenStream, TokenStream) {
    let literal = Literal::u64_unsuffixed(value);
    let printed = print_type(ty, &InScope);
    let value = match model.resolve(ty) {
        Type::Named(name) if matches!(model.item(name), Some(Item::Handle(_))) => {
            let name = names::item(name);
            quote!(#name(#literal as *mut c_void))
        }
        _ => quote!(#literal as #printed),
    };
    (printed, value)
}
