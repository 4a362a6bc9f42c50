//! Functions. A function of TensorFlow is looked up at run time; an entry point of the plugin is a type.
//!
//! Functions are called with the newest signature. If an older release has a signature that only lacks flags, an
//! adapter omits these (`adapters.rs`); the running release selects it. The error for a missing function states the
//! wheels that export it (`availability.rs`).

use std::ffi::CString;

use super::doc::print_doc;
use super::ty::{InScope, print_function_type, print_host_function_type};
use crate::model::item_releases::ItemReleases;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::ident;
use sp_ir::{Function, Items, Side};

use super::adapters::{self, OlderCode};
use super::availability;
use super::comment::safety;
use crate::model::context::Context;
use crate::model::exports::Exports;
use crate::model::older_signatures::is_experimental;
use crate::model::parameter_docs;

/// Emits the functions of an API, except inline functions, which have no symbol.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let gate = |name: &str| {
        let gates: Vec<&str> = context.features.gates(name).collect();
        match gates.as_slice() {
            [] => TokenStream::new(),
            [feature] => quote!(#[cfg(feature = #feature)]),
            features => quote!(#[cfg(all(#(feature = #features),*))]),
        }
    };
    let older = |name: &str, item: &Function| adapters::print(name, item, context);
    print(
        &context.api.items,
        context.timeline,
        context.exports,
        &gate,
        &older,
    )
}

/// Prints the functions among `items`. `gate` returns the `cfg` attribute of a function, `older` the code for
/// its older signatures.
pub fn print(
    items: &Items,
    releases: &dyn ItemReleases,
    exports: &Exports<'_>,
    gate: &dyn Fn(&str) -> TokenStream,
    older: &dyn Fn(&str, &Function) -> Option<OlderCode>,
) -> TokenStream {
    let functions = items.iter();
    functions
        .filter_map(|(name, item)| Some((name, item.as_function()?)))
        .filter(|(_, item)| !item.inline)
        .map(|(name, item)| {
            let (release_text, gate) = (releases.release_text(name, ""), gate(name));
            match item.exported_by.as_ref().map(|it| it.value) {
                Some(Side::Plugin) => entry_point(name, item, release_text, &gate),
                Some(Side::Core) | None => {
                    let older = older(name, item);
                    import(name, item, release_text, exports, &gate, older)
                }
            }
        })
        .collect()
}

fn entry_point(name: &str, item: &Function, release_text: &str, gate: &TokenStream) -> TokenStream {
    let line = format!("The plugin's entry point `{}`.", item.symbol);
    let facts = [parameter_docs::describe(&item.signature)];
    let doc = print_doc(&doc_text(item, line, facts), &item.loc, release_text);
    let (name, ty) = (ident(name), print_function_type(&item.signature, &InScope));
    quote!(#doc #gate pub type #name = #ty;)
}

fn import(
    name: &str,
    item: &Function,
    release_text: &str,
    exports: &Exports<'_>,
    gate: &TokenStream,
    older: Option<OlderCode>,
) -> TokenStream {
    let line = format!("TensorFlow's `{}`, looked up on first use.", item.symbol);
    let (adapters, older_call, older_doc) = match older {
        Some(it) => (it.adapters, it.builder_call, Some(it.doc)),
        None => Default::default(),
    };
    let facts = [
        parameter_docs::describe(&item.signature),
        older_doc,
        exports.describe(&item.symbol),
    ];
    let doc = print_doc(&doc_text(item, line, facts), &item.loc, release_text);
    let name = ident(name);
    let ty = print_host_function_type(&item.signature, &InScope);
    let symbol = Literal::c_string(&CString::new(item.symbol.as_str()).unwrap_or_default());
    let availability = availability::builder_call(&item.symbol, exports);
    let replacement = replacement(item);
    let unstable = unstable_signature(item, !older_call.is_empty());
    let comment = safety("the signature is that of the header.");
    quote! {
        #adapters
        #doc #gate #comment
        pub static #name: Function<#ty> =
            unsafe { Function::new(#symbol) #availability #replacement #unstable #older_call };
    }
}

fn replacement(item: &Function) -> Option<TokenStream> {
    let other = &item.instead.as_ref()?.value;
    Some(quote!(.with_replacement(#other)))
}

/// Prints the call for a function whose signature a newer host must confirm: TensorFlow calls it experimental,
/// or it had another signature in an older release.
fn unstable_signature(item: &Function, has_older: bool) -> Option<TokenStream> {
    let (header, signature) = (&*item.loc.file, item.signature.canonical());
    let call = quote!(.with_unstable_signature(crate::NEWEST, #header, #signature));
    (has_older || is_experimental(item)).then_some(call)
}

/// Returns the item's doc, or `line` if it has none, with a paragraph for each fact.
fn doc_text<const N: usize>(item: &Function, line: String, facts: [Option<String>; N]) -> String {
    let doc = item.doc.clone().unwrap_or(line);
    let paragraphs = [Some(doc)].into_iter().chain(facts).flatten();
    paragraphs.collect::<Vec<_>>().join("\n\n")
}
