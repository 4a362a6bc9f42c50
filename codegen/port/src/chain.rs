//! A chain of calls, as a builder has it: `Name("Relu").Device(DEVICE_CPU).TypeConstraint<float>("T")`.

use crate::names::Names;
use crate::token::{Closing, Kind, Token, join, split_arguments};

/// One call of a chain.
pub struct Call<'t> {
    /// The function.
    pub name: &'t str,
    /// The tokens between `<` and `>`.
    pub template: &'t [Token],
    /// The arguments.
    pub arguments: Vec<&'t [Token]>,
}

/// Splits a chain into its calls. `error` is the text of what is no call.
///
/// # Errors
/// Returns an error that names what is no call.
pub fn parse_chain(tokens: &[Token]) -> Result<Vec<Call<'_>>, String> {
    let closing = Closing::new(tokens);
    let mut calls = Vec::new();
    let mut rest = tokens;
    loop {
        rest = skip_qualifiers(rest);
        let Some((name, after)) = rest.split_first() else {
            return Ok(calls);
        };
        let unexpected = || format!("`{}` is no call", shorten(&join(rest)));
        let text = name.word().ok_or_else(unexpected)?;
        let (template, after) = template_arguments(after);
        if !after.first().is_some_and(|it| it.is("(")) {
            return Err(unexpected());
        }
        let open = tokens.len() - after.len();
        let end = closing.after(open).ok_or_else(unexpected)?;
        let inner = &tokens[open + 1..end - 1];
        calls.push(Call {
            name: text,
            template,
            arguments: if inner.is_empty() {
                Vec::new()
            } else {
                split_arguments(inner)
            },
        });
        rest = &tokens[end..];
    }
}

/// Skips `.`, `.template` and qualifiers such as `::tensorflow::`.
fn skip_qualifiers(mut tokens: &[Token]) -> &[Token] {
    loop {
        tokens = match tokens {
            [mark, rest @ ..] if mark.is(".") || mark.is("::") => rest,
            [word, rest @ ..] if word.word() == Some("template") => rest,
            [namespace, mark, rest @ ..] if namespace.word().is_some() && mark.is("::") => rest,
            _ => return tokens,
        };
    }
}

/// Splits off the tokens between `<` and `>` at the beginning.
fn template_arguments(tokens: &[Token]) -> (&[Token], &[Token]) {
    if !tokens.first().is_some_and(|it| it.is("<")) {
        return (&[], tokens);
    }
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        depth += usize::from(token.is("<"));
        depth -= usize::from(token.is(">"));
        if depth == 0 {
            return (&tokens[1..index], &tokens[index + 1..]);
        }
    }
    (&[], tokens)
}

/// Functions of TensorFlow that return the text of an attribute.
const FUNCTIONS: [(&str, &str); 7] = [
    ("GetPaddingAttrString", "padding: {'SAME', 'VALID'}"),
    (
        "GetPaddingAttrStringWithExplicit",
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
    ),
    (
        "GetExplicitPaddingsAttrString",
        "explicit_paddings: list(int) = []",
    ),
    (
        "GetConvnetDataFormatAttrString",
        "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    ),
    (
        "GetConvnet3dDataFormatAttrString",
        "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'",
    ),
    (
        "GetConvnetFilterFormatAttrString",
        "filter_format: {'HWIO', 'OIHW'} = 'HWIO'",
    ),
    (
        "GetMirrorPadModeAttrString",
        "mode: {'REFLECT', 'SYMMETRIC'}",
    ),
];

/// Returns the value of strings that follow each other, of a constant, or of a function of TensorFlow.
///
/// # Errors
/// Returns an error that names another expression.
pub fn string(tokens: &[Token], names: &Names) -> Result<String, String> {
    let is_string = |it: &Token| it.kind == Kind::String;
    if !tokens.is_empty() && tokens.iter().all(is_string) {
        return Ok(tokens.iter().map(|it| &*it.text).collect());
    }
    let function = |name: &str| FUNCTIONS.iter().find(|(known, _)| *known == name);
    let constant = match tokens {
        [.., name, open, close] if open.is("(") && close.is(")") => {
            name.word().and_then(function).map(|(_, text)| *text)
        }
        [.., name] => name.word().and_then(|it| names.string(it)),
        [] => None,
    };
    let unknown = || format!("`{}` is no string of this source", shorten(&join(tokens)));
    constant.map(str::to_owned).ok_or_else(unknown)
}

/// Returns the beginning of a text, for messages.
pub fn shorten(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut short: String = text.chars().take(LENGTH).collect();
    if text.chars().nth(LENGTH).is_some() {
        short.push_str("...");
    }
    short
}
