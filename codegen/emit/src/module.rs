//! One API as a module of sp-abi: a file per kind of item, and the index that joins them. Files know
//! nothing of each other, so that threads can make them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ty::ident;
use sp_ir::{Api, Item};

use super::catalog::Catalog;
use super::epochs::{Broken, Old};
use super::exports::Exports;
use super::features::Features;
use super::slots::Table;
use super::timeline::Timeline;
use super::{
    closure, constants, declared, enums, functions, handles, layout, macros, old, page, retyped,
    scope, shims, structs, traits,
};

/// What the files of one API are made from.
pub struct Source<'a> {
    /// The API.
    pub api: &'a Api,
    /// Every API's names.
    pub catalog: &'a Catalog<'a>,
    /// When its items came and went.
    pub timeline: &'a Timeline,
    /// What stands behind other APIs' features.
    pub features: &'a Features<'a>,
    /// Who exports functions.
    pub exports: &'a Exports<'a>,
    /// Every API's old forms.
    pub broken: &'a Broken<'a>,
    /// Its own.
    pub old: Option<&'a BTreeMap<String, Vec<Old<'a>>>>,
}

impl<'a> Source<'a> {
    /// What keeps it from being generated.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = closure::undeclared(self.api, self.catalog);
        Table::all(self.api.items.iter(), self.catalog, &mut problems);
        constants::emit(self, &mut problems);
        problems
    }

    /// The tables that authors fill; what they lack has been told.
    pub fn tables(&self) -> Vec<Table<'a>> {
        Table::all(self.api.items.iter(), self.catalog, &mut Vec::new())
    }

    /// Where a file of this API stands.
    fn path(&self, part: &str) -> String {
        format!("src/{}/{part}.rs", self.api.name)
    }
}

/// A file's name, its doc, and what is in it.
type Part = (&'static str, &'static str, fn(&Source<'_>) -> TokenStream);

/// Every kind's file.
pub const PARTS: &[Part] = &[
    (
        "structs",
        "Structs, with the facts of their contract.",
        structs::emit,
    ),
    (
        "callbacks",
        "Functions that are handed over.",
        handles::emit_callbacks,
    ),
    ("layout", "The C compiler's layout, asserted.", layout::emit),
    (
        "functions",
        "Functions of TensorFlow and of the plugin.",
        functions::emit,
    ),
    (
        "epochs",
        "What a later release broke, as it stood before.",
        old::emit,
    ),
    (
        "shims",
        "The C callbacks that call an author's methods.",
        shims::emit,
    ),
    ("traits", "What an author implements.", traits::emit),
    (
        "retyped",
        "Slots whose signature depends on the release, written once.",
        retyped::emit,
    ),
    ("handles", "Types whose inside is hidden.", handles::emit),
    ("enums", "Open enumerations.", enums::emit),
    (
        "declared",
        "The declarations of the newest release as data.",
        declared::emit,
    ),
    ("aliases", "Other names for types.", handles::emit_aliases),
    ("constants", "Macros and constants.", |source| {
        constants::emit(source, &mut Vec::new())
    }),
];

/// A file that is done.
pub struct Printed {
    /// Which part it is.
    name: &'static str,
    /// Where it stands.
    pub path: String,
    /// What it says.
    pub text: String,
    /// The names that its code begins a path with.
    mentioned: BTreeSet<String>,
}

/// One part's file, if there is anything in it.
pub fn print(source: &Source<'_>, (name, doc, emit): &Part) -> Option<Printed> {
    let items = emit(source);
    if items.is_empty() {
        return None;
    }
    let uses = scope::imports(name, &items, source.catalog);
    Some(Printed {
        name,
        path: source.path(name),
        mentioned: scope::mentioned(&items),
        text: page::print(&[(*doc).to_owned()], quote!(#uses #items)),
    })
}

/// The macros that tell `#[vtable]` of the traits, if there are any.
pub fn print_macros(source: &Source<'_>) -> Option<Printed> {
    let tables = source.tables();
    let doc = "What `#[vtable]` asks of the traits.";
    (!tables.is_empty()).then(|| Printed {
        name: "macros",
        path: source.path("macros"),
        mentioned: BTreeSet::new(),
        text: page::lay(doc, &macros::emit(&tables, source.catalog)),
    })
}

/// The file that joins the others.
pub fn index(source: &Source<'_>, parts: &[Printed]) -> (String, String) {
    let mut names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    names.sort_unstable();
    let mentioned = parts.iter().flat_map(|part| &part.mentioned);
    let imports = scope::foreign(&source.api.name, mentioned, source.catalog);
    let text = page::print(&doc(source.api), joined(source, &names, &imports));
    (source.path("mod"), text)
}

fn doc(api: &Api) -> Vec<String> {
    let version = api
        .version
        .as_ref()
        .map(|it| format!(" (its headers say {it})"));
    let version = version.unwrap_or_default();
    let mut lines = vec![format!(
        "The API `{}` as TensorFlow {} has it{version}.",
        api.name,
        api.release_name()
    )];
    let inline = |item: &Item| matches!(item, Item::Function(it) if it.inline);
    let left_out = api.items.iter().filter(|(_, item)| inline(item));
    let left_out: Vec<String> = left_out.map(|(name, _)| format!("`{name}`")).collect();
    if !left_out.is_empty() {
        let why = "Left out, since their bodies stand in the header and no library exports them:";
        lines.extend([String::new(), why.to_owned()]);
        lines.extend(
            textwrap::wrap(&(left_out.join(", ") + "."), 96)
                .into_iter()
                .map(Into::into),
        );
    }
    lines
}

fn joined(
    source: &Source<'_>,
    parts: &[&str],
    imports: &BTreeMap<&str, BTreeSet<String>>,
) -> TokenStream {
    let imports = imports.iter().map(|(api, names)| {
        let gate = source
            .features
            .is_cut(&source.api.name, api)
            .then(|| quote!(#[cfg(feature = #api)]));
        let api = format_ident!("{api}");
        let names = names.iter().map(|name| ident(name));
        quote!(#gate use crate::#api::{#(#names),*};)
    });
    let name = |part: &&str| format_ident!("{part}");
    let is_public = |part: &&&str| matches!(**part, "shims" | "epochs");
    let modules = parts.iter().filter(|it| !is_public(it)).map(name);
    // A constant without a name has nothing to export.
    let exported = parts
        .iter()
        .filter(|it| !is_public(it) && **it != "layout")
        .map(name);
    let public = parts.iter().filter(is_public).map(name);
    quote! {
        #(mod #modules;)*
        #(pub mod #public;)*
        #(#imports)*
        #(pub use #exported::*;)*
    }
}
