//! Tokens of C++.

use std::collections::HashMap;
use std::rc::Rc;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: Kind,
    /// The text; of a string, its value.
    pub text: Rc<str>,
    /// The line, counted from 1. A token of a macro's body has the line of the macro's call.
    pub line: u32,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number or a character.
    Literal,
    /// A string.
    String,
    /// `::`, `##`, or one other character.
    Punctuation,
    /// A directive without its `#`, in one line and without comments.
    Directive,
}

impl Token {
    /// Returns the bytes of memory that the token takes, for a budget.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<usize>() + self.text.len()
    }

    /// Returns true for this punctuation.
    pub fn is(&self, text: &str) -> bool {
        self.kind == Kind::Punctuation && *self.text == *text
    }

    /// Returns the identifier, or `None` for another token.
    pub fn word(&self) -> Option<&str> {
        (self.kind == Kind::Word).then_some(&*self.text)
    }
}

/// Joins tokens to the text of a type or an expression: with a space between two words only.
pub fn join(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut last: Option<&Token> = None;
    for token in tokens {
        let is_word = |it: &Token| matches!(it.kind, Kind::Word | Kind::Literal);
        if last.is_some_and(is_word) && is_word(token) || last.is_some_and(|it| it.is(",")) {
            text.push(' ');
        }
        match token.kind {
            Kind::String => text.push_str(&format!("{:?}", token.text)),
            _ => text.push_str(&token.text),
        }
        last = Some(token);
    }
    text
}

/// The closing mark of each parenthesis, brace and bracket, found in one pass.
pub struct Closing(HashMap<usize, usize>);

impl Closing {
    /// Returns the closing marks of `tokens`.
    pub fn new(tokens: &[Token]) -> Self {
        let (mut open, mut closing) = (Vec::new(), HashMap::new());
        for (index, token) in tokens.iter().enumerate() {
            match &*token.text {
                "(" | "{" | "[" if token.kind == Kind::Punctuation => open.push(index),
                ")" | "}" | "]" if token.kind == Kind::Punctuation => {
                    if let Some(start) = open.pop() {
                        closing.insert(start, index);
                    }
                }
                _ => {}
            }
        }
        Self(closing)
    }

    /// Returns the index after the mark that closes the one at `open`, or `None` if nothing closes it.
    pub fn after(&self, open: usize) -> Option<usize> {
        self.0.get(&open).map(|it| it + 1)
    }
}

/// Splits tokens at the commas outside of parentheses, braces and brackets.
pub fn split_arguments(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Punctuation {
            continue;
        }
        match &*token.text {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&tokens[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}
