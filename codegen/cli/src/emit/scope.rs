//! The `use` lines of a generated file, found by the names that its code mentions, so that there
//! is none too many.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};
use sp_ir::Item;

use super::catalog::Catalog;

/// Names from outside the generated crate, by the path that has them.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("core::ffi", &["c_char", "c_void"]),
    ("core::marker", &["PhantomData", "PhantomPinned"]),
    ("core::mem", &["offset_of"]),
    ("sp_runtime", RUNTIME),
];

const RUNTIME: &[&str] = &[
    "Error",
    "Function",
    "Prefix",
    "PrefixMut",
    "Result",
    "Versioned",
    "guard",
    "handle",
];

/// The imports of an API's file called `part`, which holds `items`.
pub fn imports(part: &str, items: &TokenStream, catalog: &Catalog<'_>) -> TokenStream {
    // Each table's callbacks are a module of their own, with imports of its own.
    if part == "shims" {
        return TokenStream::new();
    }
    let mut mentioned = BTreeSet::new();
    mention(items.clone(), &mut mentioned);
    let elsewhere = |name: &String| catalog.item(name).is_some_and(|item| part_of(item) != part);
    // The trait is used through its constant, without being named.
    if part == "layout" && items.to_string().contains("STRUCT_SIZE") {
        mentioned.insert("Versioned".to_owned());
    }
    let siblings = mentioned.iter().any(elsewhere).then(|| {
        quote!(
            use super::*;
        )
    });
    let outside = outside(&mentioned);
    quote!(#siblings #outside)
}

/// The imports of a table's callbacks, two modules below the API's own.
pub fn shim_imports(items: &TokenStream) -> TokenStream {
    let mut mentioned = BTreeSet::new();
    mention(items.clone(), &mut mentioned);
    let outside = outside(&mentioned);
    quote!(use super::super::*; #outside)
}

/// The names of other APIs that the files of `api` mention, by the API that has them.
pub fn foreign<'a, 'b>(
    api: &str,
    files: impl Iterator<Item = &'b TokenStream>,
    catalog: &Catalog<'a>,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut mentioned = BTreeSet::new();
    files.for_each(|items| mention(items.clone(), &mut mentioned));
    let mut foreign: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for name in mentioned {
        match catalog.home(&name) {
            Some(home) if home != api => {
                foreign.entry(home).or_default().insert(name);
            }
            _ => {}
        }
    }
    foreign
}

/// The file that an item stands in.
fn part_of(item: &Item) -> &'static str {
    match item {
        Item::Struct(_) | Item::Union(_) => "structs",
        Item::Enum(_) => "enums",
        Item::Handle(_) => "handles",
        Item::Alias(_) => "aliases",
        Item::Callback(_) => "callbacks",
        Item::Function(_) => "functions",
        Item::Constant(_) => "constants",
    }
}

fn outside(mentioned: &BTreeSet<String>) -> TokenStream {
    let lines = OUTSIDE.iter().filter_map(|(path, names)| {
        let path = syn::parse_str::<syn::Path>(path).ok()?;
        let names: Vec<_> = names
            .iter()
            .filter(|name| mentioned.contains(**name))
            .collect();
        let names_used = names.iter().map(|name| format_ident!("{name}"));
        (!names.is_empty()).then(|| quote!(use #path::{#(#names_used),*};))
    });
    lines.collect()
}

/// The names that `tokens` begin a path with.
fn mention(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let mut after_colons = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(name) if !after_colons => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => mention(group.stream(), names),
            _ => {}
        }
        // The second colon of `::` stands alone; so does that of `name: type`, whose first is none.
        after_colons =
            is_colon(&token, Spacing::Joint) || (after_colons && is_colon(&token, Spacing::Alone));
    }
}

fn is_colon(token: &TokenTree, spacing: Spacing) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == ':' && it.spacing() == spacing)
}
