//! Opaque types, aliases and callback types.

use super::doc::print_doc;
use super::ty::{InScope, print_function_type, print_host_function_type, print_type};
use crate::model::item_releases::ItemReleases;
use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::ident;
use sp_ir::{Alias, Callback, Handle, Item, Items};

use crate::model::context::Context;
use crate::model::host_callbacks::host_callbacks;
use crate::model::parameter_docs;

/// Emits the handles of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let items = &context.api.items;
    items
        .iter()
        .filter_map(|(name, item)| {
            let releases = context.timeline.release_text(name, "");
            Some(handle(name, item.as_handle()?, releases))
        })
        .collect()
}

/// Emits the aliases of an API.
pub fn emit_aliases(context: &Context<'_>) -> TokenStream {
    let items = &context.api.items;
    items
        .iter()
        .filter_map(|(name, item)| {
            let releases = context.timeline.release_text(name, "");
            Some(alias(name, item.as_alias()?, releases))
        })
        .collect()
}

/// Emits the callback types of an API.
pub fn emit_callbacks(context: &Context<'_>) -> TokenStream {
    print_callbacks(&context.api.items, context.timeline)
}

/// Prints the callback types among `items`.
pub fn print_callbacks(items: &Items, releases: &dyn ItemReleases) -> TokenStream {
    let of_host = host_callbacks(items);
    let print_type = |name: &str, item: &Callback| match of_host.contains(name) {
        true => print_host_function_type(&item.signature, &InScope),
        false => print_function_type(&item.signature, &InScope),
    };
    items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Callback(item) => {
                let (ty, releases) = (print_type(name, item), releases.release_text(name, ""));
                Some(callback(name, item, ty, releases))
            }
            _ => None,
        })
        .collect()
}

fn handle(name: &str, item: &Handle, releases: &str) -> TokenStream {
    let line = if item.pointer {
        "A pointer to an opaque object."
    } else {
        "An opaque type."
    };
    let doc = print_doc(item.doc.as_deref().unwrap_or(line), &item.loc, releases);
    let name = ident(name);
    if let Some(rust) = item
        .rust
        .as_ref()
        .and_then(|it| syn::parse_str::<syn::Path>(it).ok())
    {
        return quote!(#doc pub use #rust as #name;);
    }
    if item.pointer {
        return quote! {
            #doc
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            #[repr(transparent)]
            pub struct #name(pub *mut c_void);
        };
    }
    quote! {
        #doc
        #[derive(Debug)]
        #[repr(C)]
        pub struct #name {
            _opaque: [u8; 0],
            _not_send: PhantomData<(*mut u8, PhantomPinned)>,
        }
    }
}

fn alias(name: &str, item: &Alias, releases: &str) -> TokenStream {
    let line = format!("Another name for `{}`.", print_type(&item.ty, &InScope));
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc, releases);
    let (name, ty) = (ident(name), print_type(&item.ty, &InScope));
    quote!(#doc pub type #name = #ty;)
}

fn callback(name: &str, item: &Callback, ty: TokenStream, releases: &str) -> TokenStream {
    let line = "A callback that the other side passes; it may be null.";
    let first = item.doc.as_deref().unwrap_or(line);
    let text = match parameter_docs::describe(&item.signature) {
        Some(facts) => format!("{first}\n\n{facts}"),
        None => first.to_owned(),
    };
    let doc = print_doc(&text, &item.loc, releases);
    let name = ident(name);
    quote!(#doc pub type #name = Option<#ty>;)
}
