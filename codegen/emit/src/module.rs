//! One API as a module of sp-abi: a file per kind of item, and the index that joins them. Files know
//! nothing of each other, so that threads can make them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ty::ident;
use sp_ir::{Api, Item};

use super::slots::Table;
use super::{
    closure, constants, declared, enums, functions, handles, layout, macros, old, page, retyped,
    scope, shims, structs, traits,
};
use crate::context::Context;

/// Returns the reasons why no code can be emitted for the API.
pub fn problems(context: &Context<'_>) -> Vec<String> {
    let mut problems = closure::undeclared(context.api, context.catalog);
    Table::all(context.api.items.iter(), context.catalog, &mut problems);
    constants::emit(context, &mut problems);
    problems
}

/// Returns the path of a file of the API inside the crate.
fn path(api: &Api, part: &str) -> String {
    format!("src/{}/{part}.rs", api.name)
}

/// A file's name, its doc, and what is in it.
type Part = (&'static str, &'static str, fn(&Context<'_>) -> TokenStream);

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
    ("constants", "Macros and constants.", |context| {
        constants::emit(context, &mut Vec::new())
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
pub fn print(context: &Context<'_>, (name, doc, emit): &Part) -> Option<Printed> {
    let items = emit(context);
    if items.is_empty() {
        return None;
    }
    let uses = scope::imports(name, &items, context.catalog);
    Some(Printed {
        name,
        path: path(context.api, name),
        mentioned: scope::mentioned(&items),
        text: page::print(&[(*doc).to_owned()], quote!(#uses #items)),
    })
}

/// The macros that tell `#[vtable]` of the traits, if there are any.
pub fn print_macros(context: &Context<'_>) -> Option<Printed> {
    let tables = context.tables();
    let doc = "What `#[vtable]` asks of the traits.";
    (!tables.is_empty()).then(|| Printed {
        name: "macros",
        path: path(context.api, "macros"),
        mentioned: BTreeSet::new(),
        text: page::lay(doc, &macros::emit(&tables, context.catalog)),
    })
}

/// The file that joins the others.
pub fn index(context: &Context<'_>, parts: &[Printed]) -> (String, String) {
    let mut names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    names.sort_unstable();
    let mentioned = parts.iter().flat_map(|part| &part.mentioned);
    let imports = scope::foreign(&context.api.name, mentioned, context.catalog);
    let text = page::print(&doc(context.api), joined(context, &names, &imports));
    (path(context.api, "mod"), text)
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
    context: &Context<'_>,
    parts: &[&str],
    imports: &BTreeMap<&str, BTreeSet<String>>,
) -> TokenStream {
    let imports = imports.iter().map(|(api, names)| {
        let gate = context
            .features
            .is_cut(&context.api.name, api)
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
