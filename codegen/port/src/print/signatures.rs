//! The arguments of `#[op(..)]` and `#[kernel(..)]`, which prettyplease prints without spaces: they are placeholders until the code is formatted.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use quote::format_ident;

/// Columns of a line.
const WIDTH: usize = 100;

const PLACEHOLDER: &str = "__signature_";

/// The signatures of a file.
#[derive(Default)]
pub struct Signatures(Vec<Vec<String>>);

impl Signatures {
    /// Returns the placeholder of a signature, whose parts a comma separates.
    pub fn add(&mut self, parts: &[TokenStream]) -> Ident {
        let index = self.0.len();
        self.0
            .push(parts.iter().map(|it| format_tokens(it.clone())).collect());
        format_ident!("{PLACEHOLDER}{index}")
    }

    /// Replaces the placeholders in formatted code.
    pub fn restore(&self, code: &str) -> String {
        let lines = code.lines().map(|line| match self.find(line) {
            Some((start, parts)) => format_attribute(start, parts),
            None => format!("{line}\n"),
        });
        lines.collect()
    }

    /// Returns the beginning of the attribute in a line, `    #[op(`, and its parts.
    fn find<'a>(&self, line: &'a str) -> Option<(&'a str, &[String])> {
        let start = line.find(PLACEHOLDER)?;
        let (start, placeholder) = line.split_at(start);
        let index = placeholder.strip_prefix(PLACEHOLDER)?.strip_suffix(")]")?;
        let parts = self.0.get(index.parse::<usize>().ok()?)?;
        start
            .trim_start()
            .starts_with("#[")
            .then_some((start, parts))
    }
}

/// Formats the attribute in one line if it fits, else in one for each part.
fn format_attribute(start: &str, parts: &[String]) -> String {
    let indent = &start[..start.len() - start.trim_start().len()];
    let line = format!("{start}{})]\n", parts.join(", "));
    if line.len() <= WIDTH + 1 {
        return line;
    }
    let parts = parts.iter().map(|it| format!("{indent}    {it},\n"));
    format!("{start}\n{}{indent})]\n", parts.collect::<String>())
}

/// Formats tokens as rustfmt would.
fn format_tokens(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    _ => ("(", ")"),
                };
                text.extend([open, &format_tokens(group.stream()), close]);
            }
            TokenTree::Punct(mark) => match (mark.as_char(), mark.spacing()) {
                (first @ ('-' | '>'), Spacing::Joint) => {
                    let second = tokens.next().map_or(String::new(), |it| it.to_string());
                    text.push_str(&format!(" {first}{second} "));
                }
                (':', Spacing::Joint) => {
                    tokens.next();
                    text.push_str("::");
                }
                (mark @ (',' | ':'), _) => text.extend([mark, ' ']),
                ('-', _) => text.push('-'),
                (mark, _) => text.extend([' ', mark, ' ']),
            },
            token => text.push_str(&token.to_string()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn signature_has_spaces_of_rustfmt() {
        let mut signatures = Signatures::default();
        let first = signatures.add(&[
            quote!(Scale(x: N * T, y: Ref(f32)) -> (z: T)),
            quote!(T: {f32, f64} = f32),
            quote!(N: int >= 1 = -1),
            quote!(s: {"a -> b"}),
            quote!(ops::Own),
        ]);
        let code = signatures.restore(&format!("  #[op({first})]\n"));
        let expected = "  #[op(\n      Scale(x: N * T, y: Ref(f32)) -> (z: T),\n      T: {f32, f64} = f32,\n      N: int >= 1 = -1,\n      s: {\"a -> b\"},\n      ops::Own,\n  )]\n";
        assert_eq!(code, expected);
        let second = signatures.add(&[quote!(A() -> ())]);
        assert_eq!(
            signatures.restore(&format!("#[op({second})]")),
            "#[op(A() -> ())]\n"
        );
    }
}
