//! The modules of old forms, printed by the same emitters as the newest.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::structure::ItemReleases;
use sp_expand::ty::ident;
use sp_ir::{Item, Items};

use super::epochs::{Old, heading};
use super::{functions, handles, layout, scope, structs};
use crate::context::Context;

/// The old forms of an API, one module per release that an epoch began with.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let Some(modules) = context.old else {
        return TokenStream::new();
    };
    let has_table = |olds: &Vec<Old<'_>>| {
        let mut items = olds.iter().map(item_of);
        items.any(|item| matches!(item, Item::Struct(it) if it.author_trait.is_some()))
    };
    // What derives `Abi` looks for these beside its own module.
    let beside = modules.values().any(has_table).then(|| {
        quote!(
            use super::{shims, traits};
        )
    });
    let printed = modules
        .iter()
        .map(|(name, olds)| module(name, olds, context));
    quote!(#beside #(#printed)*)
}

fn module(name: &str, olds: &[Old<'_>], context: &Context<'_>) -> TokenStream {
    let items: Items = olds
        .iter()
        .map(|old| (old.name.to_owned(), item_of(old)))
        .collect();
    let dates = Epoch(olds);
    let code: TokenStream = [
        structs::print(&items, &dates, context.catalog),
        handles::print_callbacks(&items, &dates),
        functions::print(
            &items,
            &dates,
            context.exports,
            &|_| TokenStream::new(),
            &|_, _| None,
        ),
        layout::print(&items),
    ]
    .into_iter()
    .collect();
    let doc = format!(" {}", heading(name));
    let uses = scope::epoch_imports(&code, &items, context.catalog);
    let beside = beside(name, olds, &context.api.name);
    let name = format_ident!("{name}");
    quote! {
        #[doc = #doc]
        pub mod #name {
            #uses
            #beside
            #code
        }
    }
}

/// The old forms of other modules that these refer to.
fn beside(module: &str, olds: &[Old<'_>], api: &str) -> TokenStream {
    let all: BTreeMap<_, _> = olds.iter().flat_map(|old| &old.beside).collect();
    let foreign = all
        .into_iter()
        .filter(|(_, (home, other))| (*home, other.as_str()) != (api, module));
    let uses = foreign.map(|(name, (home, module))| {
        let (name, home, module) = (
            ident(name),
            format_ident!("{home}"),
            format_ident!("{module}"),
        );
        quote!(use crate::#home::epochs::#module::#name;)
    });
    uses.collect()
}

/// The item to print: a table that the newest callbacks do not fit is no author's to fill.
fn item_of(old: &Old<'_>) -> Item {
    let mut item = old.item.clone();
    if let (Item::Struct(table), false) = (&mut item, old.fillable) {
        table.author_trait = None;
        table.receiver = None;
    }
    item
}

/// When these forms held.
struct Epoch<'a>(&'a [Old<'a>]);

impl ItemReleases for Epoch<'_> {
    fn release_text(&self, item: &str, member: &str) -> &str {
        let found = self
            .0
            .iter()
            .find(|old| old.name == item && member.is_empty());
        found.map_or("", |old| &old.releases)
    }
}
