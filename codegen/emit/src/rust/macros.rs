//! A macro beside each author trait, with the same name. It passes the trait's slots to `#[vtable]`: an
//! attribute macro cannot read the trait, but it can call this macro.
//!
//! prettyplease prints the body of a macro as one line. The slots are therefore formatted as items of a
//! trait, and a template prints the macro around them.

use super::ty::Paths;
use askama::Template;
use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::ident;

use super::method::{RuntimePaths, signature};
use super::slots::{FunctionTable, associated};
use crate::model::catalog::Catalog;

/// Emits the macros for an API's tables.
pub fn emit(tables: &[FunctionTable<'_>], catalog: &Catalog<'_>) -> String {
    let tables = tables.iter().map(|table| slots_macro(table, catalog));
    tables.collect::<Vec<_>>().join("\n")
}

/// Expands `StreamExecutor! { [callback] rest }` to `callback! { { slots } rest }`.
#[derive(Template)]
#[template(
    ext = "txt",
    escape = "none",
    source = r#"
#[doc(hidden)]
#[macro_export]
macro_rules! __{{ name }} {
    ([$($callback:tt)*] $($rest:tt)*) => {
        $($callback)*! {
            {
{%- for line in lines %}
            {{ line }}
{%- endfor %}
            }
            $($rest)*
        }
    };
}
#[doc(hidden)]
pub use __{{ name }} as {{ name }};"#
)]
struct SlotsMacro {
    name: String,
    lines: Vec<String>,
}

fn slots_macro(table: &FunctionTable<'_>, catalog: &Catalog<'_>) -> String {
    let (name, lines) = (table.author.to_string(), slots(table, catalog));
    let text = SlotsMacro { name, lines }.render();
    text.unwrap_or_else(|error| panic!("cannot print the macro: {error}"))
}

/// Formats the slots with the indentation of trait items.
fn slots(table: &FunctionTable<'_>, catalog: &Catalog<'_>) -> Vec<String> {
    let types = table.handles.iter().map(|handle| associated(handle));
    let slots = table.slots.iter().map(|slot| {
        let optional = slot.optional.then(|| quote!(#[optional]));
        let signature = signature(slot, catalog, &Absolute(catalog));
        quote!(#optional #signature;)
    });
    let items = syn::parse_quote!(trait Slots { #(type #types;)* #(#slots)* });
    let file = syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![items],
    };
    let text = prettyplease::unparse(&file).replace(ROOT, "$crate::");
    let body = text.lines().filter(|line| line.starts_with(' '));
    body.map(str::to_owned).collect()
}

/// Placeholder for `$crate::`, which a parsed item cannot contain.
const ROOT: &str = "__crate::";

/// Paths that are valid wherever the macro expands.
struct Absolute<'a>(&'a Catalog<'a>);

impl Paths for Absolute<'_> {
    fn item(&self, name: &str) -> TokenStream {
        let item = ident(name);
        match self.0.declaring_api(name) {
            Some(api) => {
                let api = ident(api);
                quote!(__crate::#api::#item)
            }
            None => quote!(#item),
        }
    }

    fn ffi(&self, name: &str) -> TokenStream {
        let name = ident(name);
        quote!(::core::ffi::#name)
    }
}

impl RuntimePaths for Absolute<'_> {
    fn runtime(&self, name: &str) -> TokenStream {
        let name = ident(name);
        quote!(__crate::__rt::#name)
    }
}
