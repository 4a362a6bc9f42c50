//! Finds the registrations of sources.
//!
//! A source is read once, from its beginning: a macro's call expands with the definition before it. Both sides of a
//! condition are read, except after `#if 0`. No other file is opened: the macros and the constants of a header are known if
//! the header is one of the sources.

use crate::chain::shorten;
use crate::expand::Expander;
use crate::lexer::tokenize;
use crate::macros::{Macro, parse_definition};
use crate::names::Names;
use crate::registration::{Position, Registrations, Source, Unread};
use crate::token::{Closing, Kind, Token, join};
use crate::type_lists::type_lists;
use crate::{kernel_builder, op_builder};
use sp_system::budget::Budget;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The macros that register kernels, each with the number of arguments before the builder.
const KERNELS: [(&str, usize); 3] = [
    ("REGISTER_KERNEL_BUILDER", 0),
    ("REGISTER_SYSTEM_KERNEL_BUILDER", 0),
    ("REGISTER_KERNEL_BUILDER_IF_CONSTEXPR", 1),
];

/// The macros that define ops.
const OPS: [&str; 2] = ["REGISTER_OP", "REGISTER_SYSTEM_OP"];

/// The beginning of macros that register something else.
const OTHERS: [&str; 10] = [
    "REGISTER_GRAPH_TRANSFORM",
    "REGISTER_INPUT_COLOCATION_EXEMPTION",
    "REGISTER_OP_GRADIENT",
    "REGISTER_OP_NO_GRADIENT",
    "REGISTER_UNARY_VARIANT",
    "REGISTER_XLA",
    "REGISTER_GRAPPLER",
    "REGISTER_OPTIMIZATION",
    "REGISTER_FILE_SYSTEM",
    "REGISTER_LOCAL_DEVICE",
];

/// Returns the steps and memory for a source: a short one may call a macro for every type.
fn budget(length: usize) -> Budget {
    let length = length as u64;
    let steps = (1_u64 << 24).saturating_add(length.saturating_mul(32));
    Budget::new(
        steps,
        (64_u64 << 20).saturating_add(length.saturating_mul(32)),
    )
}

/// Returns what the sources register. Headers are read first, since the others use their macros and names.
pub fn scan(sources: &[Source]) -> Registrations {
    let mut found = Registrations::default();
    let mut shared = Scope::default();
    shared.macros.extend(type_lists());
    let headers = sources.iter().enumerate().filter(|(_, it)| it.is_header());
    for (index, source) in headers {
        Scan::new(index, &mut shared, &mut found).read(source);
    }
    for (index, source) in sources.iter().enumerate().filter(|(_, it)| !it.is_header()) {
        let mut scope = shared.clone();
        Scan::new(index, &mut scope, &mut found).read(source);
    }
    found.unread.sort();
    found.unread.dedup();
    found
}

/// The macros and names that are defined at a position of a source.
#[derive(Clone, Default)]
struct Scope {
    macros: HashMap<String, Macro>,
    names: Names,
    /// The macros whose bodies register kernels or ops, with their definitions.
    registering: BTreeMap<String, Position>,
    /// The macros that were called, or that another macro has got as an argument.
    called: BTreeSet<String>,
}

impl Scope {
    /// Reports macros that nothing has called.
    fn find_uncalled(&self, found: &mut Registrations) {
        for (name, position) in &self.registering {
            if !self.called.contains(name) {
                found.unread.push(Unread {
                    position: *position,
                    what: format!("#define {name}"),
                    reason: "the macro registers kernels or ops, and nothing calls it here"
                        .to_owned(),
                });
            }
        }
    }
}

struct Scan<'a> {
    source: usize,
    scope: &'a mut Scope,
    found: &'a mut Registrations,
    /// The number of conditions inside of `#if 0`, with itself.
    skipped: usize,
}

impl<'a> Scan<'a> {
    fn new(source: usize, scope: &'a mut Scope, found: &'a mut Registrations) -> Self {
        let skipped = 0;
        Self {
            source,
            scope,
            found,
            skipped,
        }
    }

    fn read(mut self, source: &Source) {
        let mut budget = budget(source.text.len());
        let tokens = match tokenize(&source.text, &mut budget) {
            Ok(tokens) => tokens,
            Err(reason) => return self.unread(1, "the source", &reason),
        };
        for line in tokens.unterminated {
            self.unread(line, "a comment or a string", &"it has no end");
        }
        // The scope of a source that is no header ends with it.
        let before: BTreeSet<String> = self.scope.registering.keys().cloned().collect();
        let expanded = self.expand(&tokens.tokens, &mut budget);
        let mut names = std::mem::take(&mut self.scope.names);
        names.add(&expanded);
        self.find(&expanded, &names);
        self.scope.names = names;
        if !source.is_header() {
            self.scope
                .registering
                .retain(|name, _| !before.contains(name));
            self.scope.find_uncalled(self.found);
        }
    }

    fn unread(&mut self, line: u32, what: &str, reason: &dyn std::fmt::Display) {
        let position = self.position(line);
        self.found.unread.push(Unread {
            position,
            what: what.to_owned(),
            reason: reason.to_string(),
        });
    }

    fn position(&self, line: u32) -> Position {
        let source = self.source;
        Position { source, line }
    }

    /// Returns the tokens after the expansion of macros. It ends where the budget does.
    fn expand(&mut self, tokens: &[Token], budget: &mut Budget) -> Vec<Token> {
        let mut expanded = Vec::new();
        for part in tokens.chunk_by(|_, next| next.kind != Kind::Directive) {
            let (directive, code) = match part {
                [first, code @ ..] if first.kind == Kind::Directive => (Some(first), code),
                code => (None, code),
            };
            let result = self.expand_part(directive, code, budget);
            match result {
                Ok(tokens) => expanded.extend(tokens),
                Err(reason) => {
                    let line = part.first().map_or(1, |it| it.line);
                    self.unread(line, "the source from here on", &reason);
                    break;
                }
            }
        }
        expanded
    }

    fn expand_part(
        &mut self,
        directive: Option<&Token>,
        code: &[Token],
        budget: &mut Budget,
    ) -> Result<Vec<Token>, crate::expand::ExpandError> {
        if let Some(directive) = directive {
            self.apply(directive, budget)?;
        }
        if self.skipped > 0 {
            return Ok(Vec::new());
        }
        let mut expander = Expander {
            macros: &self.scope.macros,
            budget,
            expanded: &mut self.scope.called,
        };
        expander.expand(code)
    }

    fn apply(
        &mut self,
        directive: &Token,
        budget: &mut Budget,
    ) -> Result<(), sp_system::budget::Exceeded> {
        let text = directive.text.trim();
        let (name, rest) = text.split_at(
            text.find(|it: char| !it.is_ascii_alphabetic())
                .unwrap_or(text.len()),
        );
        match name {
            "if" | "ifdef" | "ifndef" if self.skipped > 0 => self.skipped += 1,
            "if" if rest.trim() == "0" => self.skipped = 1,
            "else" | "elif" if self.skipped == 1 => self.skipped = 0,
            "endif" => self.skipped = self.skipped.saturating_sub(1),
            "define" if self.skipped == 0 => {
                if let Some((name, definition)) = parse_definition(rest, directive.line, budget)? {
                    self.define(name, definition);
                }
            }
            "undef" if self.skipped == 0 => drop(self.scope.macros.remove(rest.trim())),
            _ => {}
        }
        Ok(())
    }

    /// Defines a macro. An empty definition, as for builds without a device, does not replace another one.
    fn define(&mut self, name: String, definition: Macro) {
        let is_registration =
            KERNELS.iter().any(|(known, _)| *known == name) || OPS.contains(&&*name);
        if is_registration || definition.body.is_empty() && self.scope.macros.contains_key(&name) {
            return;
        }
        let mut words = definition.body.iter().filter_map(Token::word);
        let registers = words.any(|it| {
            KERNELS.iter().any(|(known, _)| *known == it)
                || OPS.contains(&it)
                || self.scope.registering.contains_key(it)
        });
        if registers {
            let position = self.position(definition.line);
            self.scope
                .registering
                .entry(name.clone())
                .or_insert(position);
        }
        self.scope.macros.insert(name, definition);
    }

    fn find(&mut self, tokens: &[Token], names: &Names) {
        let closing = Closing::new(tokens);
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            index = match token.word() {
                Some(word) if self.scope.registering.contains_key(word) => {
                    self.find_passed(tokens, index);
                    index + 1
                }
                Some(word) if tokens.get(index + 1).is_some_and(|it| it.is("(")) => {
                    self.read_call(tokens, index, word, &closing, names)
                }
                _ => index + 1,
            };
        }
    }

    /// Reads the call of a macro at `index`, and returns the index from which to go on.
    fn read_call(
        &mut self,
        tokens: &[Token],
        index: usize,
        word: &str,
        closing: &Closing,
        names: &Names,
    ) -> usize {
        let (token, open) = (&tokens[index], index + 1);
        let kernel = KERNELS.iter().find(|(known, _)| *known == word);
        let end = closing.after(open);
        match (kernel, end) {
            (Some((_, skipped)), Some(end)) => {
                self.read_kernel(token, &tokens[open + 1..end - 1], *skipped, names);
                end
            }
            (None, Some(end)) if OPS.contains(&word) => {
                let after = chain_end(tokens, end, closing);
                self.read_op(
                    token,
                    &tokens[open + 1..end - 1],
                    &tokens[end..after],
                    names,
                );
                after
            }
            (None, _) if !OPS.contains(&word) => {
                self.find_other(token, word, &tokens[open..end.unwrap_or(open + 1)]);
                open
            }
            _ => {
                self.unread(token.line, word, &"its parentheses are not closed");
                open
            }
        }
    }

    fn read_kernel(&mut self, token: &Token, arguments: &[Token], skipped: usize, names: &Names) {
        let mut rest = arguments;
        for _ in 0..skipped {
            let comma = rest.iter().position(|it| it.is(","));
            rest = comma.map_or(&[], |comma| &rest[comma + 1..]);
        }
        match kernel_builder::parse(rest, names, self.position(token.line)) {
            Ok(kernel) => self.found.kernels.push(kernel),
            Err(reason) => self.unread(token.line, &call_text(token, rest), &reason),
        }
    }

    fn read_op(&mut self, token: &Token, arguments: &[Token], chain: &[Token], names: &Names) {
        match op_builder::parse(arguments, chain, names, self.position(token.line)) {
            Ok(op) => self.found.ops.push(op),
            Err(reason) => self.unread(token.line, &call_text(token, arguments), &reason),
        }
    }

    /// Reports a macro that registers kernels and is an argument of a call that nothing here expands.
    fn find_passed(&mut self, tokens: &[Token], index: usize) {
        let token = &tokens[index];
        let name = token.word().unwrap_or_default().to_owned();
        let caller = index.checked_sub(2).and_then(|it| tokens[it].word());
        let is_argument = index > 0 && tokens[index - 1].is("(");
        let is_call = tokens.get(index + 1).is_some_and(|it| it.is("("));
        let (what, reason) = match caller.filter(|_| is_argument && !is_call) {
            Some(caller) => (
                format!("{caller}({name})"),
                format!(
                    "`{caller}` is a macro of another file: name the header that defines it too"
                ),
            ),
            None if is_call => (
                name.clone(),
                "the macro has another number of parameters".to_owned(),
            ),
            None => (
                name.clone(),
                "it is no call of the macro that registers kernels or ops".to_owned(),
            ),
        };
        let line = token.line;
        self.scope.called.insert(name);
        self.unread(line, &what, &reason);
    }

    /// Reports a call of a macro that may register kernels, and that nothing here defines.
    fn find_other(&mut self, token: &Token, word: &str, call: &[Token]) {
        let is_other = OTHERS.iter().any(|it| word.starts_with(it));
        if !word.starts_with("REGISTER_") && !is_numbered(word) || is_other {
            return;
        }
        let what = format!("{word}{}", shorten(&join(&call[..call.len().min(64)])));
        let reason = match self.scope.macros.contains_key(word) {
            true => "the macro has another number of parameters",
            false => "it is a macro of another file: name the header that defines it too",
        };
        self.unread(token.line, &what, &reason);
    }
}

/// Returns true for a name such as `REGISTER6`.
fn is_numbered(word: &str) -> bool {
    let number = word.strip_prefix("REGISTER").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

/// Returns the text of a call, for messages.
fn call_text(token: &Token, arguments: &[Token]) -> String {
    let arguments = &arguments[..arguments.len().min(64)];
    format!("{}({})", token.text, shorten(&join(arguments)))
}

/// Returns the index after a chain of calls that begins at `start`.
fn chain_end(tokens: &[Token], start: usize, closing: &Closing) -> usize {
    let mut index = start;
    while let [dot, name, open, ..] = &tokens[index..]
        && dot.is(".")
        && name.word().is_some()
        && open.is("(")
        && let Some(end) = closing.after(index + 2)
    {
        index = end;
    }
    index
}
