//! The `use` lines of a generated file, found by the names that its code mentions, so that there
//! is none too many.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};
use sp_ir::{Item, Items};

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
    "Host",
    "OlderSignature",
    "Prefix",
    "PrefixMut",
    "Release",
    "Releases",
    "Result",
    "Versioned",
    "declarations",
    "guard",
    "handle",
];

/// The imports of an API's file called `part`, which holds `items`.
pub fn imports(part: &str, items: &TokenStream, catalog: &Catalog<'_>) -> TokenStream {
    // Each table's callbacks are a module of their own, with imports of its own.
    if matches!(part, "shims" | "epochs") {
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

/// The imports of an epoch's module, two below the API's own, which declares `items` itself.
pub fn epoch_imports(code: &TokenStream, items: &Items, catalog: &Catalog<'_>) -> TokenStream {
    let mut mentioned = mentioned(code);
    if code.to_string().contains("STRUCT_SIZE") {
        mentioned.insert("Versioned".to_owned());
    }
    let elsewhere = |name: &String| catalog.item(name).is_some() && !items.contains_key(name);
    let siblings = mentioned.iter().any(elsewhere).then(|| {
        quote!(
            use super::super::*;
        )
    });
    let outside = outside(&mentioned);
    quote!(#siblings #outside)
}

/// The names that `code` begins a path with.
pub fn mentioned(code: &TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    mention(code.clone(), &mut names);
    names
}

/// The names of other APIs among those that the files of `api` mention, by the API that has them.
pub fn foreign<'a, 'b>(
    api: &str,
    mentioned: impl Iterator<Item = &'b String>,
    catalog: &Catalog<'a>,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut foreign: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for name in mentioned {
        match catalog.home(name) {
            Some(home) if home != api => {
                foreign.entry(home).or_default().insert(name.clone());
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
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            // What stands before a colon is a parameter or a field, which has that name itself.
            TokenTree::Ident(name)
                if !after_colons
                    && !tokens.peek().is_some_and(|it| is_colon(it, Spacing::Alone)) =>
            {
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
