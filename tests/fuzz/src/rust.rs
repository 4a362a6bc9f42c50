//! Generated Rust: it parses, and has no token from a snapshot's text.

use proc_macro2::{TokenStream, TokenTree};

use super::edit::MARK;
use super::markdown;

/// Panics if `code` is not Rust, has [`MARK`] as a token, or a doc comment with code.
pub fn check(path: &str, code: &str) {
    if let Err(error) = syn::parse_file(code) {
        panic!("{path} is no Rust: {error}");
    }
    let tokens: TokenStream = code.parse().expect("what parses has tokens");
    assert!(!has_mark(tokens), "{path} has `{MARK}` as a token");
    check_docs(code);
}

fn has_mark(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_mark(group.stream()),
        TokenTree::Ident(ident) => ident == MARK,
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn check_docs(code: &str) {
    let mut docs = String::new();
    for line in code.lines().chain([""]) {
        match line.trim_start().strip_prefix("///") {
            Some(doc) => docs.extend([doc, "\n"]),
            None => markdown::check_docs(&std::mem::take(&mut docs)),
        }
    }
}
