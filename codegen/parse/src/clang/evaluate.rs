//! Values of numeric macros, constants and enumerators, computed by clang.
//!
//! For each macro the parse contains a line `enum { spgen_eval_X = (X) };`, and the enumerator has the value. The names
//! of the macros are guessed from the text; those that the guess misses need a second parse. Constants and enumerators
//! have their values without that.

use std::collections::{BTreeSet, HashMap};

use clang_sys::*;

use super::cursor::Cursor;
use super::error::ParseError;
use super::input::ParseInput;
use super::limits::read_header;
use super::literal;
use super::node::Node;
use super::unit::Unit;
use crate::identifier::split_identifier;

/// Prefix of the enumerators that evaluate macros.
const EVALUATED: &str = "spgen_eval_";

/// The value of each evaluated name.
pub type Values = HashMap<String, i64>;

/// Returns the names of macros that seem to be numbers or sizes.
pub fn guess_numeric_macros(input: &ParseInput) -> BTreeSet<String> {
    let headers = input.headers.iter();
    let paths = headers.map(|header| input.include_root.join(header));
    let texts = paths.filter_map(|path| read_header(&path));
    texts.flat_map(|text| guess_in_text(&text)).collect()
}

fn guess_in_text(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let defines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "));
    defines
        .filter_map(|define| {
            let (name, body) = split_identifier(define.trim_start());
            (!body.starts_with('(') && may_be_number(body)).then(|| name.to_string())
        })
        .collect()
}

fn may_be_number(body: &str) -> bool {
    let body = body.split("//").next().unwrap_or_default().trim();
    let is_size = body.contains("_OFFSET_OF_END(") || body.contains("_STRUCT_SIZE(");
    is_size || literal::is_integer(body)
}

/// Returns the code with which clang evaluates those of `names` that are macros.
pub fn evaluation_code(names: &BTreeSet<String>) -> String {
    let names = names.iter();
    names
        .map(|name| format!("#ifdef {name}\n{}#endif\n", evaluation_enum(name)))
        .collect()
}

fn evaluation_enum(name: &str) -> String {
    format!("enum {{ {EVALUATED}{name} = ({name}) }};\n")
}

/// Returns the values of `names`, and of all enumerators and constants among `nodes`.
///
/// # Errors
/// Returns an error if the first parse did not evaluate all of the names, and a second parse fails.
pub fn evaluate<'a>(
    input: &ParseInput,
    unit: &Unit,
    nodes: &[Node],
    names: impl Iterator<Item = &'a str>,
) -> Result<Values, ParseError> {
    let mut values = evaluated_values(unit);
    values.extend(nodes.iter().flat_map(declared_values));
    let missing: BTreeSet<&str> = names.filter(|name| !values.contains_key(*name)).collect();
    if !missing.is_empty() {
        let code: String = missing.into_iter().map(evaluation_enum).collect();
        values.extend(evaluated_values(&Unit::parse(input, &code)?));
    }
    Ok(values)
}

/// Returns the values of a constant or of enumerators, which need no evaluation by name.
fn declared_values(node: &Node) -> Vec<(String, i64)> {
    let cursor = node.cursor;
    match cursor.kind() {
        CXCursor_VarDecl if is_constant_integer(cursor) => {
            let value = cursor.initial_value();
            let value = value.map(|value| (cursor.name(), value)).into_iter();
            value.collect()
        }
        CXCursor_EnumDecl => node.enumerators().collect(),
        _ => Vec::new(),
    }
}

/// Returns the values of the enumerators that evaluate names.
fn evaluated_values(unit: &Unit) -> Values {
    let cursors = unit.cursor().children().into_iter();
    let enums = cursors.filter(|cursor| cursor.kind() == CXCursor_EnumDecl);
    let enumerators = enums.flat_map(Cursor::children);
    enumerators
        .filter_map(|enumerator| {
            let name = enumerator.name().strip_prefix(EVALUATED)?.to_string();
            Some((name, enumerator.enum_value()))
        })
        .collect()
}

/// Returns true for a constant of an integer type.
pub fn is_constant_integer(cursor: Cursor) -> bool {
    let ty = cursor.ty();
    let kind = ty.canonical().kind();
    ty.is_const() && (CXType_Bool..=CXType_Int128).contains(&kind)
}
