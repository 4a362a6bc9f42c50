//! Functions: TensorFlow's are looked up at run time, the plugin's are entry points whose type is
//! given here.

use std::ffi::CString;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::structure::{Dates, print_doc};
use sp_expand::ty::{InScope, ident, print_function_type};
use sp_ir::{Function, Item, Items, Side};

use super::comment::safety;
use super::module::Source;

/// The functions of an API. A function whose body is in the header has no symbol, and is left out.
pub fn emit(source: &Source<'_>) -> TokenStream {
    let gate = |name: &str| {
        let gates: Vec<&str> = source.features.gates(name).collect();
        match gates.as_slice() {
            [] => TokenStream::new(),
            [one] => quote!(#[cfg(feature = #one)]),
            all => quote!(#[cfg(all(#(feature = #all),*))]),
        }
    };
    print(&source.api.items, source.timeline, &gate)
}

/// The functions among `items`; `gate` gives what must be on for one to be there.
pub fn print(items: &Items, dates: &dyn Dates, gate: &dyn Fn(&str) -> TokenStream) -> TokenStream {
    items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Function(item) if !item.inline => {
                Some(function(name, item, dates.of(name, ""), &gate(name)))
            }
            _ => None,
        })
        .collect()
}

fn function(name: &str, item: &Function, releases: &str, gate: &TokenStream) -> TokenStream {
    match item.exported_by.as_ref().map(|it| it.value) {
        Some(Side::Plugin) => entry_point(name, item, releases, gate),
        Some(Side::Core) | None => import(name, item, releases, gate),
    }
}

fn entry_point(name: &str, item: &Function, releases: &str, gate: &TokenStream) -> TokenStream {
    let line = format!("The plugin's entry point `{}`.", item.symbol);
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc, releases);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    quote!(#doc #gate pub type #name = #ty;)
}

fn import(name: &str, item: &Function, releases: &str, gate: &TokenStream) -> TokenStream {
    let line = format!("TensorFlow's `{}`, looked up on first use.", item.symbol);
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc, releases);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    let symbol = Literal::c_string(&CString::new(item.symbol.as_str()).unwrap_or_default());
    let why = safety("the signature is the header's.");
    quote!(#doc #gate #why pub static #name: Function<#ty> = unsafe { Function::new(#symbol) };)
}
