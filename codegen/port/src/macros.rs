//! Definitions of macros.

use crate::lexer::tokenize;
use crate::token::Token;
use sp_system::budget::{Budget, Exceeded};

/// A macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macro {
    /// The parameters of a function-like macro; the last one of a variadic macro is `__VA_ARGS__`.
    pub parameters: Option<Vec<String>>,
    /// The tokens that it stands for.
    pub body: Vec<Token>,
    /// The line of the definition.
    pub line: u32,
}

/// The name of the parameter that stands for all further arguments.
pub const VARIADIC: &str = "__VA_ARGS__";

/// Parses the part of a directive after `define`: `NAME(a, b) body`. Returns `None` if it has no name, or another list
/// of parameters than C++ has.
///
/// # Errors
/// Returns an error if the tokens take more than the budget.
pub fn parse_definition(
    text: &str,
    line: u32,
    budget: &mut Budget,
) -> Result<Option<(String, Macro)>, Exceeded> {
    let text = text.trim_start();
    let end = text.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    // Without a line end before it, a `#` in the body would begin a directive.
    let mut tokens = tokenize(&format!(" ;{rest}"), budget)?.tokens;
    tokens.remove(0);
    tokens.iter_mut().for_each(|token| token.line = line);
    if name.is_empty() {
        return Ok(None);
    }
    let (parameters, body) = match rest.starts_with('(') {
        true => match tokens.iter().position(|it| it.is(")")) {
            Some(end) => (
                Some(parse_parameters(&tokens[1..end])),
                tokens.split_off(end + 1),
            ),
            None => return Ok(None),
        },
        false => (None, tokens),
    };
    let definition = Macro {
        parameters,
        body,
        line,
    };
    Ok(Some((name.to_owned(), definition)))
}

/// Returns the names of parameters. `...` and `name...` are both the variadic parameter.
fn parse_parameters(tokens: &[Token]) -> Vec<String> {
    let words = tokens.iter().filter_map(Token::word);
    let mut names: Vec<String> = words.map(str::to_owned).collect();
    if tokens.iter().any(|it| it.is(".")) {
        if tokens.len() >= 4 && tokens[tokens.len() - 4].word().is_some() {
            names.pop();
        }
        names.push(VARIADIC.to_owned());
    }
    names
}
