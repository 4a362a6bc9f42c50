//! Modules of older layouts and signatures. The functions that print the newest ones print these too.

use std::collections::BTreeMap;

use crate::model::item_releases::ItemReleases;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::{Item, Items};

use super::{functions, handles, imports, layout, structs};
use crate::model::context::Context;
use crate::model::epochs::{OlderDeclaration, module_doc};

/// Emits one module for each release that an epoch of the API began with.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let Some(modules) = context.older else {
        return TokenStream::new();
    };
    let has_table = |older: &Vec<OlderDeclaration<'_>>| {
        let mut items = older.iter().map(printed_item);
        items.any(|item| matches!(item, Item::Struct(it) if it.author_trait.is_some()))
    };
    // The derive macro of `Abi` refers to these modules as siblings of its own.
    let siblings = modules.values().any(has_table).then(|| {
        quote!(
            use super::{shims, traits};
        )
    });
    let printed = modules
        .iter()
        .map(|(name, older)| print_module(name, older, context));
    quote!(#siblings #(#printed)*)
}

fn print_module(name: &str, older: &[OlderDeclaration<'_>], context: &Context<'_>) -> TokenStream {
    let items: Items = older
        .iter()
        .map(|it| (it.name.to_owned(), printed_item(it)))
        .collect();
    let releases = EpochReleases(older);
    let code: TokenStream = [
        structs::print(&items, &releases, context.catalog),
        handles::print_callbacks(&items, &releases),
        functions::print(
            &items,
            &releases,
            context.exports,
            &|_| TokenStream::new(),
            &|_, _| None,
        ),
        layout::print(&items),
    ]
    .into_iter()
    .collect();
    let doc = format!(" {}", module_doc(name));
    let uses = imports::epoch_imports(&code, &items, context.catalog);
    let older_uses = older_imports(name, older, &context.api.name);
    let name = format_ident!("{name}");
    quote! {
        #[doc = #doc]
        pub mod #name {
            #uses
            #older_uses
            #code
        }
    }
}

/// Returns the imports of older declarations from other modules.
fn older_imports(module: &str, older: &[OlderDeclaration<'_>], api: &str) -> TokenStream {
    let all: BTreeMap<_, _> = older.iter().flat_map(|it| &it.references).collect();
    let foreign = all
        .into_iter()
        .filter(|(_, (declaring_api, other))| (*declaring_api, other.as_str()) != (api, module));
    let uses = foreign.map(|(name, (api, module))| {
        let name = ident(name);
        let api = format_ident!("{api}");
        let module = format_ident!("{module}");
        quote!(use crate::#api::epochs::#module::#name;)
    });
    uses.collect()
}

/// Returns the item to print. A table that the newest callbacks do not fit has no author trait.
fn printed_item(older: &OlderDeclaration<'_>) -> Item {
    let mut item = older.item.clone();
    if let (Item::Struct(table), false) = (&mut item, older.is_fillable) {
        table.author_trait = None;
        table.receiver = None;
    }
    item
}

/// The releases of older declarations.
struct EpochReleases<'a>(&'a [OlderDeclaration<'a>]);

impl ItemReleases for EpochReleases<'_> {
    fn release_text(&self, item: &str, member: &str) -> &str {
        let mut found = self.0.iter();
        let found = found.find(|older| older.name == item && member.is_empty());
        found.map_or("", |older| &older.release_text)
    }
}
