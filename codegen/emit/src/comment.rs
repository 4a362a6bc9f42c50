//! Comments in generated code. A token stream cannot contain a comment, so a comment is a macro call with
//! its text until the code is formatted.

use proc_macro2::TokenStream;
use quote::quote;

const OPEN: &str = "__comment!(\"";
const CLOSE: &str = "\");";

/// Returns a `SAFETY:` comment for the statement or item that follows.
pub fn safety(argument: &str) -> TokenStream {
    let text = format!("SAFETY: {argument}");
    quote!(__comment!(#text);)
}

/// Replaces the macro calls in formatted code by comments.
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
    fn replaces_macro_call_by_comment() {
        let comment = safety("the argument.");
        let file = syn::parse2(quote!(fn f() { #comment unsafe { g() } })).unwrap();
        let text = restore(&prettyplease::unparse(&file));
        assert_eq!(
            text,
            "fn f() {\n    // SAFETY: the argument.\n    unsafe { g() }\n}\n"
        );
    }
}
