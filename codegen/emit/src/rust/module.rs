//! One API as a module of sp-abi: a file for each kind of item, and `mod.rs`, which declares them. Several threads
//! can print the files, since none depends on another.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::Api;

use super::slots::FunctionTable;
use super::{
    constants, declarations, enums, epoch_modules, functions, handles, imports, layout, macros,
    retyped, shims, source_file, structs, traits,
};
use crate::model::context::Context;
use crate::model::docs::inline_functions;
use crate::model::references;

/// Returns the reasons why no code can be emitted for the API.
pub fn problems(context: &Context<'_>) -> Vec<String> {
    let mut problems = references::undeclared(context.api, context.catalog);
    let items = context.api.items.iter();
    let items = items.map(|(name, item)| (name.as_str(), item));
    FunctionTable::collect(items, context.catalog, &mut problems);
    constants::emit(context, &mut problems);
    problems
}

/// Returns the path of a file of the API inside the crate.
fn path(api: &Api, part: &str) -> String {
    format!("src/{}/{part}.rs", api.name)
}

/// A file's name, its doc, and the function that emits its items.
type Part = (&'static str, &'static str, fn(&Context<'_>) -> TokenStream);

/// The files of a module.
pub const PARTS: &[Part] = &[
    ("structs", "Structs and unions.", structs::emit),
    ("callbacks", "Types of callbacks.", handles::emit_callbacks),
    (
        "layout",
        "Assertions about the layouts of the C compiler.",
        layout::emit,
    ),
    (
        "functions",
        "Functions of TensorFlow, and entry points of the plugin.",
        functions::emit,
    ),
    (
        "epochs",
        "Older layouts and signatures that a later release broke.",
        epoch_modules::emit,
    ),
    (
        "shims",
        "C callbacks that call an author's methods.",
        shims::emit,
    ),
    ("traits", "Traits that an author implements.", traits::emit),
    (
        "retyped",
        "Slots whose signature depends on the release.",
        retyped::emit,
    ),
    ("handles", "Opaque types.", handles::emit),
    (
        "enums",
        "Enumerations, which may have unknown values.",
        enums::emit,
    ),
    (
        "declarations",
        "The declarations of the newest release as data.",
        declarations::emit,
    ),
    ("aliases", "Aliases of types.", handles::emit_aliases),
    ("constants", "Macros and constants.", |context| {
        constants::emit(context, &mut Vec::new())
    }),
];

/// A printed file.
pub struct PrintedFile {
    /// The name of its part.
    name: &'static str,
    /// Its path inside the crate.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The names that begin a path in its code.
    path_starts: BTreeSet<String>,
}

/// Prints the file of one part, or returns `None` if it has no items.
pub fn print(context: &Context<'_>, (name, doc, emit): &Part) -> Option<PrintedFile> {
    let items = emit(context);
    if items.is_empty() {
        return None;
    }
    let uses = imports::part_imports(name, &items, context.catalog);
    Some(PrintedFile {
        name,
        path: path(context.api, name),
        path_starts: imports::path_starts(&items),
        text: source_file::print(&[(*doc).to_owned()], quote!(#uses #items)),
    })
}

/// Prints the macros that pass the slots of the traits to `#[vtable]`, or returns `None` if there are none.
pub fn print_macros(context: &Context<'_>) -> Option<PrintedFile> {
    let tables = FunctionTable::find_all(context);
    let doc = "Macros that pass the slots of the traits to `#[vtable]`.";
    (!tables.is_empty()).then(|| PrintedFile {
        name: "macros",
        path: path(context.api, "macros"),
        path_starts: BTreeSet::new(),
        text: source_file::print_text(doc, &macros::emit(&tables, context.catalog)),
    })
}

/// Prints `mod.rs`.
pub fn print_mod(context: &Context<'_>, files: &[PrintedFile]) -> (String, String) {
    let mut names: Vec<&str> = files.iter().map(|file| file.name).collect();
    names.sort_unstable();
    let path_starts = files.iter().flat_map(|file| &file.path_starts);
    let imports = imports::names_of_other_apis(&context.api.name, path_starts, context.catalog);
    let text = source_file::print(&doc(context.api), mod_items(context, &names, &imports));
    (path(context.api, "mod"), text)
}

fn doc(api: &Api) -> Vec<String> {
    let version = api
        .version
        .as_ref()
        .map(|it| format!(" (version {it} of its headers)"));
    let version = version.unwrap_or_default();
    let mut lines = vec![format!(
        "The API `{}` of TensorFlow {}{version}.",
        api.name,
        api.release_name()
    )];
    let inline = inline_functions(&api.items).into_iter();
    let inline: Vec<String> = inline.map(|name| format!("`{name}`")).collect();
    if !inline.is_empty() {
        let reason = "Absent, since the header defines them inline and no library exports them:";
        lines.extend([String::new(), reason.to_owned()]);
        lines.extend(
            textwrap::wrap(&(inline.join(", ") + "."), 96)
                .into_iter()
                .map(Into::into),
        );
    }
    lines
}

fn mod_items(
    context: &Context<'_>,
    parts: &[&str],
    imports: &BTreeMap<&str, BTreeSet<String>>,
) -> TokenStream {
    let imports = imports.iter().map(|(api, names)| {
        let gate = context.features.is_gated(&context.api.name, api);
        let gate = gate.then(|| quote!(#[cfg(feature = #api)]));
        let api = format_ident!("{api}");
        let names = names.iter().map(|name| ident(name));
        quote!(#gate use crate::#api::{#(#names),*};)
    });
    let name = |part: &&str| format_ident!("{part}");
    let is_public = |part: &&&str| matches!(**part, "shims" | "epochs");
    let modules = parts.iter().filter(|it| !is_public(it)).map(name);
    // The file `layout` has unnamed constants only.
    let exported = parts.iter().filter(|it| !is_public(it) && **it != "layout");
    let exported = exported.map(name);
    let public = parts.iter().filter(is_public).map(name);
    quote! {
        #(mod #modules;)*
        #(pub mod #public;)*
        #(#imports)*
        #(pub use #exported::*;)*
    }
}
