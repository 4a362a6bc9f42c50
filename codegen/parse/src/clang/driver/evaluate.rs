//! Values of macros, computed by clang.
//!
//! For each macro `X` a parse contains the variable `__auto_type spgen_eval_X = (X);` on a line of its own. A macro that is no
//! constant expression is an error of that line, and of no other: the code is read again without it if it hides others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clang_sys::*;

use super::super::cursor::Cursor;
use super::super::decl::is_declared_in;
use super::super::error::ParseError;
use super::super::input::ParseInput;
use super::super::names::name_anonymous;
use super::super::node::{self, Selection};
use super::super::ty::Types;
use super::super::unit::{AppendixError, Unit};
use super::value::{self, Evaluated};

/// The value of each macro. A macro that the headers undefine is absent.
pub type Values = BTreeMap<String, Evaluated>;

/// Evaluates macros without parameters.
///
/// # Errors
/// Returns an error if libclang is missing.
pub fn evaluate(
    input: &ParseInput,
    names: &[String],
    is_own: &dyn Fn(&str) -> bool,
) -> Result<Values, ParseError> {
    let mut values = Values::new();
    let mut pending: Vec<&String> = names.iter().collect();
    loop {
        let found = evaluate_once(input, &pending, is_own)?;
        // A macro such as `{` hides the lines after it.
        pending.retain(|name| !found.contains_key(*name));
        let is_last = found.is_empty() || pending.is_empty();
        values.extend(found);
        if is_last {
            return Ok(values);
        }
    }
}

/// Returns the macros with parameters that the headers define to their end.
///
/// # Errors
/// Returns an error if libclang is missing.
pub fn find_defined(input: &ParseInput, names: &[String]) -> Result<BTreeSet<String>, ParseError> {
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let code = names
        .iter()
        .map(|name| format!("#ifdef {name}\nextern char {DEFINED}{name};\n#endif\n"));
    let (unit, _) = Unit::parse_with_errors(input, &code.collect::<String>())?;
    Ok(variables(&unit, DEFINED).into_keys().collect())
}

/// Prefixes of the variables: a value, the same as an integer, and a macro that is defined.
const VALUE: &str = "spgen_eval_";
const ADDRESS: &str = "spgen_address_";
const DEFINED: &str = "spgen_defined_";

/// The lines of the code of each macro, and the one with its value.
const LINES: usize = 4;
const VALUE_LINE: usize = 1;

fn evaluation_code(name: &str) -> String {
    format!(
        "#ifdef {name}\n__auto_type {VALUE}{name} = ({name});\nunsigned long {ADDRESS}{name} = (unsigned long)({name});\n#endif\n"
    )
}

fn evaluate_once(
    input: &ParseInput,
    names: &[&String],
    is_own: &dyn Fn(&str) -> bool,
) -> Result<Values, ParseError> {
    let code = names.iter().map(|name| evaluation_code(name));
    let (unit, errors) = Unit::parse_with_errors(input, &code.collect::<String>())?;
    let nodes = node::nodes(&unit, &|_| Selection::Nothing);
    let type_names = name_anonymous(&unit, &nodes);
    let owned = |cursor: Cursor| is_declared_in(&unit, cursor, is_own);
    let types = Types::new(&type_names, &owned, true);
    let (mut found, addresses) = (variables(&unit, VALUE), variables(&unit, ADDRESS));
    let mut values = failed(names, &errors);
    found.retain(|name, _| !values.contains_key(name));
    values.extend(found.into_iter().map(|(name, variable)| {
        let value = value::evaluate(variable, addresses.get(&name).copied(), &types);
        (name, value)
    }));
    Ok(values)
}

/// Returns the macros whose line has an error, with clang's message.
fn failed(names: &[&String], errors: &[AppendixError]) -> Values {
    let errors = errors.iter().rev();
    let errors = errors.filter(|error| error.line % LINES == VALUE_LINE);
    let failed = errors.filter_map(|error| {
        let name = names.get(error.line / LINES)?;
        let reason = format!("is a macro without a value: {}", error.message);
        let value = Evaluated {
            value: Err(reason),
            named: None,
        };
        Some(((*name).clone(), value))
    });
    failed.collect()
}

/// Returns the variables whose names begin with `prefix`, by the rest of their names.
fn variables<'u>(unit: &'u Unit, prefix: &str) -> HashMap<String, Cursor<'u>> {
    let cursors = unit.cursor().children().into_iter();
    let variables = cursors.filter(|cursor| cursor.kind() == CXCursor_VarDecl);
    let named = variables.filter_map(|cursor| {
        let name = cursor.name();
        Some((name.strip_prefix(prefix)?.to_owned(), cursor))
    });
    named.collect()
}
