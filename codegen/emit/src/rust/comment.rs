//! Comments in generated code. A token stream cannot contain a comment, so a comment is a macro call with
//! its text until the code is formatted.

use std::str::Lines;

use proc_macro2::TokenStream;
use quote::quote;

const OPEN: &str = "__comment!(\"";
const CLOSE: &str = "\");";
const LONG_OPEN: &str = "__comment!(";

/// Columns of a comment.
const WIDTH: usize = 100;

/// Returns a `SAFETY:` comment for the statement or item that follows.
pub fn safety(argument: &str) -> TokenStream {
    let text = format!("SAFETY: {argument}");
    quote!(__comment!(#text);)
}

/// Replaces the macro calls in formatted code by comments, wrapped at [`WIDTH`].
pub fn restore(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    let mut after_comment = false;
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let comment = comment_text(line.trim_start(), &mut lines);
        match &comment {
            Some(comment) => {
                for line in textwrap::wrap(comment, WIDTH - indent.len() - 3) {
                    text.extend([indent, "// ", &line, "\n"]);
                }
            }
            None if after_comment && line.is_empty() => {}
            None => text.extend([line, "\n"]),
        }
        after_comment = comment.is_some();
    }
    text
}

/// Returns the text of a macro call that begins with `line`. prettyplease prints a long one in three lines.
fn comment_text<'a>(line: &'a str, rest: &mut Lines<'a>) -> Option<&'a str> {
    if line == LONG_OPEN {
        let text = rest.next()?.trim();
        rest.next();
        return text.strip_prefix('"')?.strip_suffix('"');
    }
    line.strip_prefix(OPEN)?.strip_suffix(CLOSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_macro_call_by_comment() {
        let comment = safety("the argument.");
        let file = syn::parse2(quote!(fn f() { #comment unsafe { g() } })).unwrap();
        let text = restore(&prettyplease::unparse(&file));
        let expected = "fn f() {\n    // SAFETY: the argument.\n    unsafe { g() }\n}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn wraps_long_comment() {
        let comment = safety(&"long argument ".repeat(12));
        let file = syn::parse2(quote!(fn f() { #comment unsafe { g() } })).unwrap();
        let text = restore(&prettyplease::unparse(&file));
        assert!(!text.contains("__comment"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.matches("long argument").count(), 12, "{text}");
        assert_eq!(text.matches("    // ").count(), 2, "{text}");
    }
}
