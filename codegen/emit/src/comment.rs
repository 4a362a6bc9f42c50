//! Comments in generated code. A token stream cannot hold one, so it travels as a macro call with
//! the text, and becomes a comment once the code is text.

use proc_macro2::TokenStream;
use quote::quote;

const OPEN: &str = "__comment!(\"";
const CLOSE: &str = "\");";

/// A `SAFETY:` comment before the statement or item that follows.
pub fn safety(why: &str) -> TokenStream {
    let text = format!("SAFETY: {why}");
    quote!(__comment!(#text);)
}

/// Turns the macro calls of formatted code into comments.
pub fn restore(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    let mut after_comment = false;
    for line in code.lines() {
        let comment = line
            .trim_start()
            .strip_prefix(OPEN)
            .and_then(|it| it.strip_suffix(CLOSE));
        match comment {
            Some(comment) => {
                let indent = line.len() - line.trim_start().len();
                text.extend([&line[..indent], "// ", comment, "\n"]);
            }
            None if after_comment && line.is_empty() => {}
            None => text.extend([line, "\n"]),
        }
        after_comment = comment.is_some();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_becomes_a_comment_where_it_stood() {
        let why = safety("it is ours.");
        let file = syn::parse2(quote!(fn f() { #why unsafe { g() } })).unwrap();
        let text = restore(&prettyplease::unparse(&file));
        assert_eq!(
            text,
            "fn f() {\n    // SAFETY: it is ours.\n    unsafe { g() }\n}\n"
        );
    }
}
