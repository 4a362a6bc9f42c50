//! Author traits: one per function table, in Rust's own terms.

use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::structure::{ItemReleases, field_doc, print_doc};
use sp_expand::ty::InScope;
use sp_ir::Type;

use super::method::signature;
use super::slots::{Slot, Table, associated};
use crate::context::Context;

/// The traits for an API's tables.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let tables = context.tables();
    tables
        .iter()
        .map(|table| author_trait(table, context))
        .collect()
}

fn author_trait(table: &Table<'_>, context: &Context<'_>) -> TokenStream {
    let name = &table.author;
    let line = format!("What fills a [`{}`]: one method per slot.", table.name);
    let doc = print_doc(
        &line,
        &table.item.loc,
        context.timeline.release_text(table.name, ""),
    );
    let types = table.handles.iter().map(|handle| {
        let doc = format!(" What stands behind a [`{handle}`].");
        let name = associated(handle);
        quote!(#[doc = #doc] type #name: Send + Sync + 'static;)
    });
    let methods = table.slots.iter().map(|slot| method(table, slot, context));
    quote! {
        #doc
        pub trait #name: Send + Sync + Sized + 'static {
            #(#types)*
            #(#methods)*
        }
    }
}

fn method(table: &Table<'_>, slot: &Slot<'_>, context: &Context<'_>) -> TokenStream {
    let catalog = context.catalog;
    let releases = context.timeline.release_text(table.name, &slot.field.name);
    let doc = print_doc(&field_doc(slot.field), &slot.field.loc, releases);
    let safety = slot.is_unsafe(catalog).then(|| {
        quote! {
            #[doc = ""]
            #[doc = " # Safety"]
            #[doc = " Pointers among the arguments are the host's, as its header says."]
        }
    });
    let signature = signature(slot, catalog, &InScope);
    if !slot.optional {
        return quote!(#doc #safety #signature;);
    }
    let constant = slot.presence_constant();
    let unused = unused(slot);
    let body = absent(table, slot);
    quote! {
        #[doc(hidden)]
        const #constant: bool = false;
        #doc
        #[doc = ""]
        #[doc = " Optional: the slot stays null unless this is written."]
        #safety
        #signature {
            #unused
            #body
        }
    }
}

/// Names the arguments that a default body does not look at.
fn unused(slot: &Slot<'_>) -> Option<TokenStream> {
    let names: Vec<_> = slot.arguments().map(|it| &it.name).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(quote!(let _ = #name;)),
        names => Some(quote!(let _ = (#(#names),*);)),
    }
}

/// What an optional slot does that the author has not written, and that is called all the same.
fn absent(table: &Table<'_>, slot: &Slot<'_>) -> TokenStream {
    let full = format!("{}.{}", table.name, slot.field.name);
    match (slot.fails(), slot.ret) {
        (true, _) => quote!(Err(Error::absent(#full))),
        (false, Type::Void) => TokenStream::new(),
        (false, _) => slot.neutral.clone(),
    }
}
