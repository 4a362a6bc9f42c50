//! One API as a module of sp-abi: a file per kind of item, and the index that joins them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ty::ident;
use sp_ir::Api;

use super::catalog::Catalog;
use super::slots::Table;
use super::{
    Files, closure, constants, enums, functions, handles, layout, macros, page, scope, shims,
    structs, traits,
};

/// The files of `api`; `problems` gets what keeps it from being generated.
pub fn files(api: &Api, catalog: &Catalog<'_>, problems: &mut Vec<String>) -> Files {
    problems.extend(closure::undeclared(api, catalog));
    let tables = Table::all(api.items.iter(), catalog, problems);
    let mut parts = parts(api, &tables, catalog, problems);
    parts.retain(|part| !part.items.is_empty());
    let imports = scope::foreign(&api.name, parts.iter().map(|part| &part.items), catalog);
    let mut names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    let mut files: Files = parts.iter().map(|part| part.file(api, catalog)).collect();
    if !tables.is_empty() {
        names.push("macros");
        names.sort_unstable();
        let text = page::lay(
            "What `#[vtable]` asks of the traits.",
            &macros::emit(&tables, catalog),
        );
        files.insert(path(api, "macros"), text);
    }
    files.insert(
        path(api, "mod"),
        page::print(&doc(api), index(&names, &imports)),
    );
    files
}

fn path(api: &Api, part: &str) -> String {
    format!("src/{}/{part}.rs", api.name)
}

/// One file of items.
struct Part {
    name: &'static str,
    doc: &'static str,
    items: TokenStream,
}

impl Part {
    fn file(&self, api: &Api, catalog: &Catalog<'_>) -> (String, String) {
        let (uses, items) = (scope::imports(self.name, &self.items, catalog), &self.items);
        let text = page::print(&[self.doc.to_owned()], quote!(#uses #items));
        (path(api, self.name), text)
    }
}

/// Every kind's file, the empty ones too.
fn parts(
    api: &Api,
    tables: &[Table<'_>],
    catalog: &Catalog<'_>,
    problems: &mut Vec<String>,
) -> Vec<Part> {
    let part = |name, doc, items| Part { name, doc, items };
    let items = &api.items;
    vec![
        part(
            "aliases",
            "Other names for types.",
            handles::emit_aliases(items),
        ),
        part(
            "callbacks",
            "Functions that are handed over.",
            handles::emit_callbacks(items),
        ),
        part(
            "constants",
            "Macros and constants.",
            constants::emit(items, catalog, problems),
        ),
        part("enums", "Open enumerations.", enums::emit(items)),
        part(
            "functions",
            "Functions of TensorFlow and of the plugin.",
            functions::emit(items),
        ),
        part(
            "handles",
            "Types whose inside is hidden.",
            handles::emit(items),
        ),
        part(
            "layout",
            "The C compiler's layout, asserted.",
            layout::emit(items),
        ),
        part(
            "shims",
            "The C callbacks that call an author's methods.",
            shims::emit(tables, catalog),
        ),
        part(
            "structs",
            "Structs, with the facts of their contract.",
            structs::emit(items),
        ),
        part(
            "traits",
            "What an author implements.",
            traits::emit(tables, catalog),
        ),
    ]
}

fn doc(api: &Api) -> Vec<String> {
    let version = api
        .version
        .as_ref()
        .map(|it| format!(" (its headers say {it})"));
    let version = version.unwrap_or_default();
    vec![format!(
        "The API `{}` as TensorFlow {} has it{version}.",
        api.name, api.release
    )]
}

fn index(parts: &[&str], imports: &BTreeMap<&str, BTreeSet<String>>) -> TokenStream {
    let imports = imports.iter().map(|(api, names)| {
        let api = format_ident!("{api}");
        let names = names.iter().map(|name| ident(name));
        quote!(use crate::#api::{#(#names),*};)
    });
    let name = |part: &&str| format_ident!("{part}");
    let modules = parts.iter().filter(|it| **it != "shims").map(name);
    // A constant without a name has nothing to export.
    let exported = parts
        .iter()
        .filter(|it| !matches!(**it, "shims" | "layout"))
        .map(name);
    let shims = parts.iter().filter(|it| **it == "shims").map(name);
    quote! {
        #(mod #modules;)*
        #(pub mod #shims;)*
        #(#imports)*
        #(pub use #exported::*;)*
    }
}
