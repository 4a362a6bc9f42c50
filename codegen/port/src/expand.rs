//! Expands calls of macros.
//!
//! A call expands as in C: arguments are expanded unless `#` or `##` is beside them, and the result is read again with
//! the tokens after the call. A macro does not expand inside of its own expansion.

use crate::macros::{Macro, VARIADIC};
use crate::token::{Kind, Token, join};
use sp_system::budget::{Budget, Exceeded};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::rc::Rc;

/// The most macros that may be expanded inside each other.
const MAX_DEPTH: usize = 64;

/// A source that is not expanded to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpandError {
    /// It takes more steps or memory than the budget has.
    Exceeded(Exceeded),
    /// Calls of macros are nested too deep.
    TooDeep,
}

impl From<Exceeded> for ExpandError {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exceeded(it) => write!(f, "{it}"),
            Self::TooDeep => write!(f, "macros are nested more than {MAX_DEPTH} deep"),
        }
    }
}

/// The macros whose expansion a token is from, innermost first.
type Origin = Option<Rc<Expansion>>;

struct Expansion {
    name: Rc<str>,
    depth: usize,
    outer: Origin,
}

fn is_from(origin: &Origin, name: &str) -> bool {
    let mut next = origin.as_ref();
    while let Some(expansion) = next {
        if *expansion.name == *name {
            return true;
        }
        next = expansion.outer.as_ref();
    }
    false
}

/// A token, and the macros that it is from.
type Item = (Token, Origin);

/// The arguments of a call.
type Arguments = Vec<Vec<Item>>;

/// A call of a macro.
struct Call<'m> {
    definition: &'m Macro,
    arguments: Arguments,
    origin: Origin,
    line: u32,
    /// The number of arguments that contain this call.
    depth: usize,
}

/// Expands calls of macros.
pub struct Expander<'m> {
    /// The macros that are defined.
    pub macros: &'m HashMap<String, Macro>,
    /// The steps and memory that are left.
    pub budget: &'m mut Budget,
    /// The names of the macros that were expanded.
    pub expanded: &'m mut BTreeSet<String>,
}

impl<'m> Expander<'m> {
    /// Returns the expansion of tokens without directives.
    ///
    /// # Errors
    /// Returns an error if it takes more than the budget, or if macros are nested too deep.
    pub fn expand(&mut self, tokens: &[Token]) -> Result<Vec<Token>, ExpandError> {
        let items = tokens.iter().map(|it| (it.clone(), None)).collect();
        let expanded = self.expand_items(items, 0)?;
        Ok(expanded.into_iter().map(|(token, _)| token).collect())
    }

    fn expand_items(
        &mut self,
        mut items: Vec<Item>,
        depth: usize,
    ) -> Result<Vec<Item>, ExpandError> {
        // The last item is read first.
        items.reverse();
        let mut expanded = Vec::new();
        while let Some((token, origin)) = items.pop() {
            self.budget.step(1)?;
            match self.take_call(&token, &origin, &mut items, depth)? {
                Some(call) => items.extend(self.substitute(&call)?.into_iter().rev()),
                None => expanded.push((token, origin)),
            }
        }
        Ok(expanded)
    }

    /// Returns the call that begins with `token`, whose arguments are removed from `items`.
    fn take_call(
        &mut self,
        token: &Token,
        origin: &Origin,
        items: &mut Vec<Item>,
        depth: usize,
    ) -> Result<Option<Call<'m>>, ExpandError> {
        let macros = self.macros;
        let name = token.word().filter(|name| !is_from(origin, name));
        let Some((name, definition)) = name.and_then(|it| Some((it, macros.get(it)?))) else {
            return Ok(None);
        };
        let arguments = match &definition.parameters {
            Some(parameters) => match self.take_arguments(parameters, items)? {
                Some(arguments) => arguments,
                None => return Ok(None),
            },
            None => Vec::new(),
        };
        let level = origin.as_ref().map_or(0, |it| it.depth) + 1;
        if level.max(depth) > MAX_DEPTH {
            return Err(ExpandError::TooDeep);
        }
        self.expanded.insert(name.to_owned());
        let expansion = Expansion {
            name: name.into(),
            depth: level,
            outer: origin.clone(),
        };
        Ok(Some(Call {
            definition,
            arguments,
            origin: Some(Rc::new(expansion)),
            line: token.line,
            depth,
        }))
    }

    /// Removes arguments in parentheses from `items`. Returns `None`, and removes nothing, if there are none, or not as
    /// many as the parameters.
    fn take_arguments(
        &mut self,
        parameters: &[String],
        items: &mut Vec<Item>,
    ) -> Result<Option<Arguments>, ExpandError> {
        if !items.last().is_some_and(|(token, _)| token.is("(")) {
            return Ok(None);
        }
        let is_variadic = parameters.last().is_some_and(|it| it == VARIADIC);
        let most = if is_variadic {
            parameters.len()
        } else {
            usize::MAX
        };
        let Some((mut arguments, end)) = self.read_arguments(items, most)? else {
            return Ok(None);
        };
        let lacks_rest = is_variadic && arguments.len() + 1 == parameters.len();
        if lacks_rest || parameters.is_empty() {
            arguments.resize(parameters.len(), Vec::new());
        }
        if arguments.len() != parameters.len() {
            return Ok(None);
        }
        items.truncate(end);
        Ok(Some(arguments))
    }

    /// Returns the arguments of a call, of which the `most`-th one contains all further commas, and the position of the
    /// parenthesis that closes it. The last item is read first.
    fn read_arguments(
        &mut self,
        items: &[Item],
        most: usize,
    ) -> Result<Option<(Arguments, usize)>, ExpandError> {
        let (mut arguments, mut depth) = (vec![Vec::new()], 0_usize);
        for (index, item) in items.iter().enumerate().rev() {
            self.budget.step(1)?;
            let token = &item.0;
            depth += usize::from(token.is("("));
            depth -= usize::from(token.is(")"));
            let is_first = token.is("(") && depth == 1;
            if depth == 0 {
                return Ok(Some((arguments, index)));
            }
            if token.is(",") && depth == 1 && arguments.len() < most {
                arguments.push(Vec::new());
            } else if let Some(argument) = arguments.last_mut()
                && !is_first
            {
                argument.push(item.clone());
            }
        }
        Ok(None)
    }

    /// Returns the body of a call's macro with the arguments in place of the parameters.
    fn substitute(&mut self, call: &Call<'_>) -> Result<Vec<Item>, ExpandError> {
        let body = &call.definition.body;
        let mut expanded = vec![None; call.arguments.len()];
        let mut found: Vec<Item> = Vec::new();
        let mut is_string = false;
        for (index, token) in body.iter().enumerate() {
            let next = body.get(index + 1);
            let is_pasted = index > 0 && body[index - 1].is("##");
            let is_part = is_pasted || next.is_some_and(|it| it.is("##"));
            let items = match call.parameter(token) {
                Some(parameter) if is_string => self.string(call, parameter)?,
                Some(parameter) if is_part => call.arguments[parameter].clone(),
                Some(parameter) => self.expanded_argument(call, parameter, &mut expanded)?,
                None if token.is("##") => continue,
                None => vec![call.item(token.clone())],
            };
            is_string = token.is("#") && next.is_some_and(|it| call.parameter(it).is_some());
            if is_string {
                continue;
            }
            self.budget.step(items.len() + 1)?;
            self.budget.allocate(items.len() * size_of::<Item>())?;
            let start = found.len();
            found.extend(items);
            if is_pasted {
                self.budget.step(paste(&mut found, start))?;
            }
        }
        Ok(found)
    }

    /// Returns the expansion of an argument, which is expanded once.
    fn expanded_argument(
        &mut self,
        call: &Call<'_>,
        parameter: usize,
        expanded: &mut [Option<Vec<Item>>],
    ) -> Result<Vec<Item>, ExpandError> {
        if let Some(known) = &expanded[parameter] {
            return Ok(known.clone());
        }
        let argument = self.expand_items(call.arguments[parameter].clone(), call.depth + 1)?;
        expanded[parameter] = Some(argument.clone());
        Ok(argument)
    }

    /// Returns `#parameter`.
    fn string(&mut self, call: &Call<'_>, parameter: usize) -> Result<Vec<Item>, ExpandError> {
        let argument = call.arguments[parameter].iter();
        let tokens: Vec<Token> = argument.map(|it| it.0.clone()).collect();
        let token = Token {
            kind: Kind::String,
            text: join(&tokens).into(),
            line: call.line,
        };
        self.budget.step(token.text.len())?;
        self.budget.allocate(token.bytes())?;
        Ok(vec![call.item(token)])
    }
}

impl Call<'_> {
    fn parameter(&self, token: &Token) -> Option<usize> {
        let name = token.word()?;
        let parameters = self.definition.parameters.as_ref()?;
        parameters.iter().position(|it| it == name)
    }

    /// Returns a token of the body, which has the line of the call.
    fn item(&self, mut token: Token) -> Item {
        token.line = self.line;
        (token, self.origin.clone())
    }
}

/// Joins the item at `index` with the one before it, and returns the length of its text.
fn paste(items: &mut Vec<Item>, index: usize) -> usize {
    if index == 0 || index >= items.len() {
        return 0;
    }
    let (right, _) = items.remove(index);
    let (left, _) = &mut items[index - 1];
    left.text = format!("{}{}", left.text, right.text).into();
    if left.kind == Kind::Punctuation {
        left.kind = right.kind;
    }
    left.text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokenize;
    use crate::macros::parse_definition;

    fn expand_with(definitions: &[&str], text: &str) -> Result<String, ExpandError> {
        let mut budget = Budget::for_input(text.len());
        let parsed = definitions
            .iter()
            .map(|it| parse_definition(it, 1, &mut budget).unwrap().unwrap());
        let macros = parsed.collect();
        let mut budget = Budget::for_input(text.len());
        let tokens = tokenize(text, &mut budget)?.tokens;
        let mut expander = Expander {
            macros: &macros,
            budget: &mut budget,
            expanded: &mut BTreeSet::new(),
        };
        expander.expand(&tokens).map(|it| join(&it))
    }

    #[track_caller]
    fn check(definitions: &[&str], text: &str, expected: &str) {
        assert_eq!(expand_with(definitions, text).as_deref(), Ok(expected));
    }

    #[test]
    fn arguments_replace_parameters() {
        check(&["F(a, b) b(a)"], "F((x, y), F(1, g))", "g(1)((x, y))");
        check(&["F() x"], "F() F", "x F");
        check(&["A 1", "F(a) a A"], "F(A)", "1 1");
    }

    #[test]
    fn macro_named_by_an_argument_is_called() {
        check(
            &["CALL_float(m) m(float)", "REG(T) f<T>;"],
            "CALL_float(REG)",
            "f<float>;",
        );
        check(
            &["ALL(m) ONE(m) ONE(m)", "ONE(m) m(int)", "R(T) T;"],
            "ALL(R)",
            "int;int;",
        );
    }

    #[test]
    fn arguments_are_pasted_and_become_strings() {
        check(&["F(D) DEVICE_##D #D"], "F(CPU)", "DEVICE_CPU\"CPU\"");
        check(&["F(a, b) a##_##b", "x y"], "F(x, 1)", "x_1");
        check(&["F(a) 1 ## a 2"], "F()", "1 2");
    }

    #[test]
    fn variadic_parameter_has_all_further_arguments() {
        check(
            &["F(a, ...) a: __VA_ARGS__"],
            "F(1, 2, 3) F(1)",
            "1:2, 3 1:",
        );
    }

    #[test]
    fn call_with_other_arguments_stays() {
        check(&["F(a, b) x"], "F(1) F F(", "F(1)F F(");
    }

    #[test]
    fn macro_does_not_expand_in_itself() {
        check(&["A A B", "B A"], "A", "A A");
        check(&["F(a) F(a + 1)"], "F(1)", "F(1+1)");
    }

    #[test]
    fn expansions_beyond_limits_are_errors() {
        let names: Vec<String> = (0..40)
            .map(|it| format!("M{it} M{0} M{0}", it + 1))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let result = expand_with(&names, "M0");
        assert!(
            matches!(result, Err(ExpandError::Exceeded(_))),
            "{result:?}"
        );
        let chain: Vec<String> = (0..100).map(|it| format!("M{it} M{}", it + 1)).collect();
        let chain: Vec<&str> = chain.iter().map(String::as_str).collect();
        assert_eq!(expand_with(&chain, "M0"), Err(ExpandError::TooDeep));
        let nested = "F(".repeat(1000) + &")".repeat(1000);
        assert_eq!(expand_with(&["F(a) a"], &nested), Err(ExpandError::TooDeep));
    }
}
