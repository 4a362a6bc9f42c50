//! Docs of generated Rust items.

use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::Loc;

/// Prints a doc: `text`, and below it the declaration's position in the header and its releases, if known.
pub fn print_doc(text: &str, source: &Loc, releases: &str) -> TokenStream {
    let lines = text.lines().map(|line| match line.trim_end() {
        "" => String::new(),
        line => format!(" {line}"),
    });
    let releases = match releases {
        "" => String::new(),
        known => format!(", {known}"),
    };
    let source = format!(" Source: `{}:{}`{releases}.", source.file, source.line);
    quote!(#(#[doc = #lines])* #[doc = ""] #[doc = #source])
}
