//! Author traits: one for each function table, with Rust types.

use super::doc::print_doc;
use super::ty::InScope;
use crate::model::docs::field_doc;
use crate::model::item_releases::ItemReleases;
use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::Type;

use super::method::signature;
use super::slots::{FunctionTable, Slot, associated};
use crate::model::context::Context;

/// Emits the traits for an API's tables.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let tables = FunctionTable::find_all(context);
    let tables = tables.iter().map(|table| author_trait(table, context));
    tables.collect()
}

fn author_trait(table: &FunctionTable<'_>, context: &Context<'_>) -> TokenStream {
    let name = &table.author;
    let line = format!(
        "The functions of a [`{0}`](super::{0}): one method for each slot.",
        table.name
    );
    let doc = print_doc(
        &line,
        &table.item.loc,
        context.timeline.release_text(table.name, ""),
    );
    let types = table.handles.iter().map(|handle| {
        let doc = format!(" The object behind a [`{handle}`].");
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

fn method(table: &FunctionTable<'_>, slot: &Slot<'_>, context: &Context<'_>) -> TokenStream {
    let catalog = context.catalog;
    let releases = context.timeline.release_text(table.name, &slot.field.name);
    let doc = print_doc(&field_doc(slot.field), &slot.field.loc, releases);
    let safety = slot.is_unsafe(catalog).then(|| {
        quote! {
            #[doc = ""]
            #[doc = " # Safety"]
            #[doc = " - Pointers among the arguments are valid as the host's header states."]
        }
    });
    let signature = signature(slot, catalog, &InScope);
    if !slot.optional {
        return quote!(#doc #safety #signature;);
    }
    let constant = slot.presence_constant();
    let ignored = ignored_arguments(slot);
    let body = default_body(table, slot);
    quote! {
        #[doc(hidden)]
        const #constant: bool = false;
        #doc
        #[doc = ""]
        #[doc = " Optional: the slot is null unless this method is implemented."]
        #safety
        #signature {
            #ignored
            #body
        }
    }
}

/// Prints a use of the arguments that a default body ignores.
fn ignored_arguments(slot: &Slot<'_>) -> Option<TokenStream> {
    let names: Vec<_> = slot.arguments().map(|it| &it.name).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(quote!(let _ = #name;)),
        names => Some(quote!(let _ = (#(#names),*);)),
    }
}

/// Prints the body of an optional method that the author does not implement. Other code may still call it.
fn default_body(table: &FunctionTable<'_>, slot: &Slot<'_>) -> TokenStream {
    let full = format!("{}.{}", table.name, slot.field.name);
    match (slot.has_status(), slot.ret) {
        (true, _) => quote!(Err(Error::absent(#full))),
        (false, Type::Void) => TokenStream::new(),
        (false, _) => slot.default_return.clone(),
    }
}
