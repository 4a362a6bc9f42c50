//! Functions: TensorFlow's are looked up at run time, the plugin's are entry points whose type is
//! given here.

use std::ffi::CString;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::structure::print_doc;
use sp_expand::ty::{InScope, ident, print_function_type};
use sp_ir::{Function, Item, Items, Side};

use super::comment::safety;

/// The functions of an API. A function whose body is in the header has no symbol, and is left out.
pub fn emit(items: &Items) -> TokenStream {
    items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Function(item) if !item.inline => Some(function(name, item)),
            _ => None,
        })
        .collect()
}

fn function(name: &str, item: &Function) -> TokenStream {
    match item.exported_by.as_ref().map(|it| it.value) {
        Some(Side::Plugin) => entry_point(name, item),
        Some(Side::Core) | None => import(name, item),
    }
}

fn entry_point(name: &str, item: &Function) -> TokenStream {
    let line = format!("The plugin's entry point `{}`.", item.symbol);
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    quote!(#doc pub type #name = #ty;)
}

fn import(name: &str, item: &Function) -> TokenStream {
    let line = format!("TensorFlow's `{}`, looked up on first use.", item.symbol);
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    let symbol = Literal::c_string(&CString::new(item.symbol.as_str()).unwrap_or_default());
    let why = safety("the signature is the header's.");
    quote!(#doc #why pub static #name: Function<#ty> = unsafe { Function::new(#symbol) };)
}
