//! An index of a header's declarations by name, built before any of them is parsed.

use std::collections::BTreeMap;

use super::HeaderError;
use super::lexer::{Token, words};
use super::macros::Macros;

/// The form of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclarationForm {
    /// `typedef struct { .. } NAME`
    Struct,
    /// `typedef enum { .. } NAME`
    Enum,
    /// Any other typedef.
    Typedef,
    /// A function without a body.
    Function,
}

/// A declaration: for structs and enumerations the tokens between the braces, else all of them.
enum Entry<'a> {
    Once(Vec<Token<'a>>),
    /// Declared under an `#if`, or twice.
    Ambiguous(&'static str),
}

/// All declarations, by form and name.
#[derive(Default)]
pub struct Index<'a> {
    entries: BTreeMap<DeclarationForm, BTreeMap<&'a str, Entry<'a>>>,
    macros: Macros<'a>,
}

impl<'a> Index<'a> {
    /// Adds the declarations of one header.
    ///
    /// # Errors
    /// Returns an error if braces or conditionals do not match, or a `#pragma` packs structs.
    pub fn add_header(&mut self, tokens: &[Token<'a>]) -> Result<(), HeaderError> {
        let mut reader = Reader {
            tokens,
            conditionals: Vec::new(),
            unknown_conditionals: 0,
            open: 0,
        };
        while let Some(statement) = reader.statement(self)? {
            self.declare(&statement);
        }
        match (reader.conditionals.len(), reader.open) {
            (0, 0) => Ok(()),
            _ => Err(HeaderError::Unsupported(
                "a block or a conditional has no end",
            )),
        }
    }

    /// Returns the tokens of a declaration.
    ///
    /// # Errors
    /// Returns an error if the name is not declared in this form, or if it is not certain which declaration
    /// is in effect.
    pub fn get(&self, name: &str, form: DeclarationForm) -> Result<&[Token<'a>], HeaderError> {
        match self.entries.get(&form).and_then(|it| it.get(name)) {
            Some(Entry::Once(tokens)) => Ok(tokens),
            Some(Entry::Ambiguous(reason)) => Err(HeaderError::Unsupported(reason)),
            None => Err(HeaderError::Absent),
        }
    }

    /// Returns true if `name` is defined as a macro.
    pub fn is_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }

    /// Returns the words of the body of the macro `name`: an empty list if they are not known, `None` if it
    /// is not a macro.
    pub fn expansion(&self, name: &str) -> Option<Vec<&'a str>> {
        self.macros.expansion(name)
    }

    fn declare(&mut self, statement: &Statement<'a>) {
        let Some((form, name, tokens)) = classify(&statement.tokens) else {
            return;
        };
        let entry = match statement.is_conditional {
            true => Entry::Ambiguous("a definition is conditional"),
            false => Entry::Once(tokens.to_vec()),
        };
        let repeated = |old: &Entry<'a>| match (old, &entry) {
            (Entry::Once(old), Entry::Once(new)) => old == new && form != DeclarationForm::Struct,
            _ => false,
        };
        let entries = self.entries.entry(form).or_default();
        let entry = match entries.get(name) {
            Some(old) if !repeated(old) => Entry::Ambiguous("a name is declared twice"),
            _ => entry,
        };
        entries.insert(name, entry);
    }
}

/// A declaration's tokens, without its `;`.
#[derive(Default)]
struct Statement<'a> {
    tokens: Vec<Token<'a>>,
    is_conditional: bool,
    /// The number of open braces.
    depth: usize,
    first_word: Option<&'a str>,
}

impl<'a> Statement<'a> {
    fn push(&mut self, token: Token<'a>) {
        match token {
            Token::Punctuation(b'{') => self.depth += 1,
            Token::Punctuation(b'}') => self.depth -= 1,
            Token::Word(word) => self.first_word = self.first_word.or(Some(word)),
            _ => {}
        }
        self.tokens.push(token);
        // The body of a function or a namespace ends without a `;`.
        let is_closed = self.depth == 0 && token == Token::Punctuation(b'}');
        if is_closed && !declares_type(self.first_word) {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.tokens.clear();
        self.first_word = None;
    }
}

/// Returns the form and name of the declaration in a statement, and its relevant tokens.
fn classify<'s, 'a>(
    tokens: &'s [Token<'a>],
) -> Option<(DeclarationForm, &'a str, &'s [Token<'a>])> {
    let Some(rest) = tokens.strip_prefix(&[Token::Word("typedef")]) else {
        let open = tokens
            .iter()
            .position(|it| *it == Token::Punctuation(b'('))?;
        let Token::Word(name) = tokens.get(open.checked_sub(1)?)? else {
            return None;
        };
        let is_whole = tokens.last() == Some(&Token::Punctuation(b')'));
        return is_whole.then_some((DeclarationForm::Function, *name, tokens));
    };
    let form = match rest.first()? {
        Token::Word("struct") => DeclarationForm::Struct,
        Token::Word("enum") => DeclarationForm::Enum,
        _ => DeclarationForm::Typedef,
    };
    let open = rest.iter().position(|it| *it == Token::Punctuation(b'{'));
    match (form, open, rest) {
        (
            DeclarationForm::Struct | DeclarationForm::Enum,
            Some(open),
            [.., close, Token::Word(name)],
        ) => {
            let is_plain = open <= 2 && *close == Token::Punctuation(b'}');
            let body = rest.get(open + 1..rest.len() - 2)?;
            is_plain.then_some((form, *name, body))
        }
        (_, None, _) => Some((DeclarationForm::Typedef, typedef_name(rest)?, rest)),
        _ => None,
    }
}

/// Returns the name in `(*NAME)(..)`, else the last word.
fn typedef_name<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let pointer = tokens.windows(3).find_map(|it| match it {
        [
            Token::Punctuation(b'('),
            Token::Punctuation(b'*'),
            Token::Word(name),
        ] => Some(*name),
        _ => None,
    });
    pointer.or_else(|| match tokens.last()? {
        Token::Word(name) => Some(*name),
        _ => None,
    })
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// For each open `#if`, true if the enclosed code is certainly compiled, as in an include guard.
    conditionals: Vec<bool>,
    /// The number of open `#if`s whose code may not be compiled.
    unknown_conditionals: usize,
    /// The number of open `extern "C"` blocks.
    open: usize,
}

impl<'a> Reader<'_, 'a> {
    /// Returns the next statement at the top level.
    fn statement(&mut self, index: &mut Index<'a>) -> Result<Option<Statement<'a>>, HeaderError> {
        let mut statement = Statement::default();
        while let Some((token, rest)) = self.tokens.split_first() {
            self.tokens = rest;
            if let Token::Directive(text) = token {
                self.directive(text, index)?;
                if statement.depth > 0 {
                    statement.tokens.push(*token);
                }
                continue;
            }
            statement.is_conditional |= self.is_conditional();
            match token {
                Token::Punctuation(b';') if statement.depth == 0 => return Ok(Some(statement)),
                Token::Punctuation(b'{') if statement.tokens == EXTERN_C => {
                    self.open += 1;
                    statement.clear();
                }
                Token::Punctuation(b'}') if statement.depth == 0 => self.close_block()?,
                token => statement.push(*token),
            }
        }
        match statement.tokens.is_empty() && statement.depth == 0 {
            true => Ok(None),
            false => Err(HeaderError::Unsupported("a declaration has no end")),
        }
    }

    /// Closes an `extern "C"` block.
    fn close_block(&mut self) -> Result<(), HeaderError> {
        let closed = self.open.checked_sub(1);
        self.open = closed.ok_or(HeaderError::Unsupported("a brace closes nothing"))?;
        Ok(())
    }

    fn is_conditional(&self) -> bool {
        self.unknown_conditionals > 0
    }

    fn directive(&mut self, text: &'a str, index: &mut Index<'a>) -> Result<(), HeaderError> {
        let name = words(text).next().unwrap_or_default();
        let rest = text.get(name.len()..).unwrap_or_default();
        match name {
            "define" => {
                let is_conditional = self.unknown_conditionals > 0;
                index.macros.define(rest, is_conditional)?;
            }
            "undef" => index.macros.undefine(rest),
            "ifndef" | "ifdef" | "if" => {
                let is_transparent = self.is_transparent(name, rest);
                let is_transparent =
                    is_transparent && !(name == "ifndef" && index.is_macro(rest.trim()));
                self.conditionals.push(is_transparent);
                self.unknown_conditionals += usize::from(!is_transparent);
            }
            "else" | "elif" => {
                let last = self.conditionals.last_mut().ok_or(UNMATCHED)?;
                self.unknown_conditionals += usize::from(std::mem::take(last));
            }
            "endif" => {
                let last = self.conditionals.pop().ok_or(UNMATCHED)?;
                self.unknown_conditionals -= usize::from(!last);
            }
            "pragma" if words(rest).eq(["once"]) => {}
            "include" | "error" | "" => {}
            _ => {
                return Err(HeaderError::Unsupported(
                    "a directive may change its layouts",
                ));
            }
        }
        Ok(())
    }

    /// Returns true for `#ifdef __cplusplus`, for `#ifndef X` followed by `#define X`, and for conditions that
    /// exclude mobile builds only.
    fn is_transparent(&self, name: &str, rest: &str) -> bool {
        let condition: Vec<_> = words(rest).collect();
        let defines = |token: Option<&Token<'_>>| match token {
            Some(Token::Directive(text)) => {
                let mut words = words(text);
                words.next() == Some("define") && words.next() == condition.first().copied()
            }
            _ => false,
        };
        let mut names = condition.iter().filter(|it| **it != "defined").peekable();
        let is_desktop = names.peek().is_some() && names.all(|it| MOBILE_MACROS.contains(it));
        match name {
            "ifdef" => condition == ["__cplusplus"],
            "ifndef" if condition.len() == 1 => is_desktop || defines(self.tokens.first()),
            "if" => is_desktop && rest.matches('!').count() == rest.matches("defined").count(),
            _ => false,
        }
    }
}

/// Macros of mobile builds, which load no plugins.
const MOBILE_MACROS: [&str; 2] = ["IS_MOBILE_PLATFORM", "IS_SLIM_BUILD"];
const EXTERN_C: [Token<'static>; 2] = [Token::Word("extern"), Token::Literal];
const UNMATCHED: HeaderError = HeaderError::Unsupported("a conditional has no begin");

/// Returns true if a statement with this first word declares a type, so that a declarator or a `;` follows
/// its closing brace. Others are a function with a body, or a namespace.
fn declares_type(first: Option<&str>) -> bool {
    matches!(
        first,
        Some("typedef" | "struct" | "enum" | "union" | "class")
    )
}
