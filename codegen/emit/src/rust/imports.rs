//! The `use` lines of a generated file. They are computed from the names in its code, so that no import is
//! unused.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};
use sp_ir::{Item, Items};

use crate::model::catalog::Catalog;

/// Names from outside the generated crate, by their path.
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

/// Returns the imports of an API's file `part`, which contains `items`.
pub fn part_imports(part: &str, items: &TokenStream, catalog: &Catalog<'_>) -> TokenStream {
    // Their code consists of inner modules, which have imports of their own.
    if matches!(part, "shims" | "epochs") {
        return TokenStream::new();
    }
    let mut names = path_starts(items);
    let is_elsewhere = |name: &String| catalog.item(name).is_some_and(|item| part_of(item) != part);
    // The code uses a constant of the trait, without the trait's name.
    if part == "layout" && items.to_string().contains("STRUCT_SIZE") {
        names.insert("Versioned".to_owned());
    }
    let siblings = names.iter().any(is_elsewhere).then(|| {
        quote!(
            use super::*;
        )
    });
    let outside = outside(&names);
    quote!(#siblings #outside)
}

/// Returns the imports of a table's module in `shims`, two levels below the API's module.
pub fn table_imports(items: &TokenStream) -> TokenStream {
    let outside = outside(&path_starts(items));
    quote!(use super::super::*; #outside)
}

/// Returns the imports of an epoch's module, two levels below the API's module. It declares `items` itself.
pub fn epoch_imports(code: &TokenStream, items: &Items, catalog: &Catalog<'_>) -> TokenStream {
    let mut names = path_starts(code);
    if code.to_string().contains("STRUCT_SIZE") {
        names.insert("Versioned".to_owned());
    }
    let is_elsewhere = |name: &String| catalog.item(name).is_some() && !items.contains_key(name);
    let siblings = names.iter().any(is_elsewhere).then(|| {
        quote!(
            use super::super::*;
        )
    });
    let outside = outside(&names);
    quote!(#siblings #outside)
}

/// Returns the names that begin a path in `code`.
pub fn path_starts(code: &TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    add_path_starts(code.clone(), &mut names);
    names
}

/// Returns the names of other APIs in `names`, by the API that declares them.
pub fn names_of_other_apis<'a, 'b>(
    api: &str,
    names: impl Iterator<Item = &'b String>,
    catalog: &Catalog<'a>,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut foreign: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for name in names {
        match catalog.declaring_api(name) {
            Some(other) if other != api => {
                foreign.entry(other).or_default().insert(name.clone());
            }
            _ => {}
        }
    }
    foreign
}

/// Returns the file that contains an item.
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

fn outside(used: &BTreeSet<String>) -> TokenStream {
    let lines = OUTSIDE.iter().filter_map(|(path, names)| {
        let path = syn::parse_str::<syn::Path>(path).ok()?;
        let names: Vec<_> = names.iter().filter(|name| used.contains(**name)).collect();
        let idents = names.iter().map(|name| format_ident!("{name}"));
        (!names.is_empty()).then(|| quote!(use #path::{#(#idents),*};))
    });
    lines.collect()
}

fn add_path_starts(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let mut after_colons = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            // A name before a single colon is that of a parameter or field.
            TokenTree::Ident(name)
                if !after_colons
                    && !tokens.peek().is_some_and(|it| is_colon(it, Spacing::Alone)) =>
            {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => add_path_starts(group.stream(), names),
            _ => {}
        }
        // The second colon of `::` has spacing `Alone`, as has that of `name: type`, which no other precedes.
        after_colons =
            is_colon(&token, Spacing::Joint) || (after_colons && is_colon(&token, Spacing::Alone));
    }
}

fn is_colon(token: &TokenTree, spacing: Spacing) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == ':' && it.spacing() == spacing)
}
