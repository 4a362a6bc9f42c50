//! Functions: TensorFlow's are looked up at run time, the plugin's are entry points whose type is
//! given here.

use std::ffi::CString;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::structure::{ItemReleases, print_doc};
use sp_expand::ty::{InScope, ident, print_function_type};
use sp_ir::{Function, Item, Items, Side};

use super::adapters::{self, Adapted};
use super::comment::safety;
use super::contract;
use super::exports::Exports;
use crate::context::Context;

/// The functions of an API. A function whose body is in the header has no symbol, and is left out.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let gate = |name: &str| {
        let gates: Vec<&str> = context.features.gates(name).collect();
        match gates.as_slice() {
            [] => TokenStream::new(),
            [one] => quote!(#[cfg(feature = #one)]),
            all => quote!(#[cfg(all(#(feature = #all),*))]),
        }
    };
    let before = |name: &str, item: &Function| adapters::of(name, item, context);
    print(
        &context.api.items,
        context.timeline,
        context.exports,
        &gate,
        &before,
    )
}

/// The functions among `items`; `gate` gives what must be on for one to be there, `before` the
/// signatures that it had.
pub fn print(
    items: &Items,
    dates: &dyn ItemReleases,
    exports: &Exports<'_>,
    gate: &dyn Fn(&str) -> TokenStream,
    before: &dyn Fn(&str, &Function) -> Option<Adapted>,
) -> TokenStream {
    let functions = items.iter().filter_map(|(name, item)| match item {
        Item::Function(item) if !item.inline => Some((name, item)),
        _ => None,
    });
    functions
        .map(|(name, item)| {
            let (releases, gate) = (dates.release_text(name, ""), gate(name));
            match item.exported_by.as_ref().map(|it| it.value) {
                Some(Side::Plugin) => entry_point(name, item, releases, &gate),
                Some(Side::Core) | None => {
                    let before = before(name, item);
                    import(name, item, releases, exports, &gate, before)
                }
            }
        })
        .collect()
}

fn entry_point(name: &str, item: &Function, releases: &str, gate: &TokenStream) -> TokenStream {
    let line = format!("The plugin's entry point `{}`.", item.symbol);
    let facts = [contract::told(&item.signature)];
    let doc = print_doc(&lines(item, line, facts), &item.loc, releases);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    quote!(#doc #gate pub type #name = #ty;)
}

fn import(
    name: &str,
    item: &Function,
    releases: &str,
    exports: &Exports<'_>,
    gate: &TokenStream,
    before: Option<Adapted>,
) -> TokenStream {
    let line = format!("TensorFlow's `{}`, looked up on first use.", item.symbol);
    let (functions, before, told) = match before {
        Some(it) => (it.functions, it.before, Some(it.told)),
        None => Default::default(),
    };
    let facts = [
        contract::told(&item.signature),
        told,
        exports.told(&item.symbol),
    ];
    let doc = print_doc(&lines(item, line, facts), &item.loc, releases);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    let symbol = Literal::c_string(&CString::new(item.symbol.as_str()).unwrap_or_default());
    let (exported, instead) = (exports.attach(&item.symbol), instead(item));
    let unstable = unstable(item, !before.is_empty());
    let why = safety("the signature is the header's.");
    quote! {
        #functions
        #doc #gate #why
        pub static #name: Function<#ty> =
            unsafe { Function::new(#symbol) #exported #instead #unstable #before };
    }
}

fn instead(item: &Function) -> Option<TokenStream> {
    let other = &item.instead.as_ref()?.value;
    Some(quote!(.with_replacement(#other)))
}

/// Returns the call that makes a newer host prove the signature: TensorFlow calls the function
/// experimental, or it had another signature before.
fn unstable(item: &Function, had_other: bool) -> Option<TokenStream> {
    let (header, signature) = (&*item.loc.file, item.signature.canonical());
    let unstable = quote!(.with_unstable_signature(crate::NEWEST, #header, #signature));
    (had_other || is_experimental(item)).then_some(unstable)
}

/// What TensorFlow calls experimental it changes without a sign; a header's path says so.
pub fn is_experimental(item: &Function) -> bool {
    item.loc.file.contains("experimental")
}

/// The item's doc, or `line`; below it a paragraph for each fact.
fn lines<const N: usize>(item: &Function, line: String, facts: [Option<String>; N]) -> String {
    let first = item.doc.clone().unwrap_or(line);
    let all = [Some(first)].into_iter().chain(facts).flatten();
    all.collect::<Vec<_>>().join("\n\n")
}
