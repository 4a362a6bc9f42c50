//! The declarations of a driver's header: any C header of a vendor.
//!
//! Unlike TensorFlow's headers it includes headers of the system. Its own headers are those that it includes in quotes, or
//! from its own folder or those of the user. Of the others only types are read, for the declarations that use them.
//!
//! What the IR cannot describe is in `Declarations::undescribed` with its reason and size, since bindings must name
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clang_sys::CXCursor_InclusionDirective;
use sp_ir::{Constant, Item, Loc, Value};

use super::constant::{self, NamedConstant};
use super::decl;
use super::error::ParseError;
use super::evaluate::{self, Values};
use super::input::{Dialect, ParseInput, system_folders};
use super::node::{self, Node, Selection};
use super::struct_size;
use super::unit::Unit;
use super::{ClangError, Declarations, within_limits};

/// The declarations of a driver's header.
#[derive(Debug, Default)]
pub struct DriverDeclarations {
    /// The declarations of the own headers, and the types of the others.
    pub declared: Declarations,
    /// The names of the own headers.
    pub own_headers: BTreeSet<String>,
    /// The constants whose value is unsigned and above the range of `i64`.
    pub unsigned: BTreeSet<String>,
    /// Macros with a number that have no value.
    pub macros_without_value: Vec<(String, Loc)>,
}

/// Reads the declarations of a driver's headers. Those that the IR cannot describe are in
/// [`Declarations::undescribed`].
///
/// # Errors
/// Returns an error if libclang is missing, a header has an error, or reading it exceeds the limits.
pub fn declarations(input: &ParseInput) -> Result<DriverDeclarations, ClangError> {
    within_limits(input, read_declarations)
}

pub(super) fn read_declarations(input: &ParseInput) -> Result<DriverDeclarations, ClangError> {
    let unit = parse(input)?;
    let own_headers = own_headers(&unit, input);
    let is_own = |header: &str| own_headers.contains(header);
    let select = |header: &str| match is_own(header) {
        true => Selection::Describable,
        false => Selection::TypesOnly,
    };
    let nodes = node::nodes(&unit, &select);
    let mut declared = decl::collect(&unit, &nodes, &is_own)?;
    let constants = constant::find(&nodes, &struct_size::find(&[]));
    let numbers = constants.iter().filter_map(NamedConstant::evaluated_name);
    let values = evaluate_all(input, &unit, &nodes, &numbers.collect::<Vec<_>>());
    constant::attach(&mut declared.items, constants, &values);
    Ok(DriverDeclarations {
        unsigned: unsigned(input, &declared.items),
        macros_without_value: constant::find_without_value(&nodes, &values),
        declared,
        own_headers,
    })
}

fn parse(input: &ParseInput) -> Result<Unit, ParseError> {
    let macros = evaluate::guess_numeric_macros(input);
    // A macro that was wrongly taken for a number may not compile.
    match Unit::parse(input, &evaluate::evaluation_code(&macros)) {
        Err(ParseError::Header(_)) => Unit::parse(input, ""),
        unit => unit,
    }
}

/// Returns the constants whose value is unsigned and above the range of `i64`.
fn unsigned(input: &ParseInput, items: &BTreeMap<String, Item>) -> BTreeSet<String> {
    let negative = items.iter().filter_map(|(name, item)| match item {
        Item::Constant(Constant {
            value: Value::Int(..0),
            ..
        }) => Some(name.as_str()),
        _ => None,
    });
    evaluate::find_positive(input, negative).unwrap_or_default()
}

/// Returns the values of macros. One that is no number in its place has none.
fn evaluate_all(input: &ParseInput, unit: &Unit, nodes: &[Node], names: &[&str]) -> Values {
    match evaluate::evaluate(input, unit, nodes, names.iter().copied()) {
        Ok(values) => values,
        Err(_) if names.len() < 2 => Values::default(),
        Err(_) => {
            let (first, second) = names.split_at(names.len() / 2);
            let mut values = evaluate_all(input, unit, nodes, first);
            values.extend(evaluate_all(input, unit, nodes, second));
            values
        }
    }
}

/// Returns the names of the headers that are the driver's own.
fn own_headers(unit: &Unit, input: &ParseInput) -> BTreeSet<String> {
    let mut own: BTreeSet<String> = input.headers.iter().cloned().collect();
    let folders = own_folders(input);
    // A header's includes come after the directive that includes it.
    for directive in unit.cursor().children() {
        if directive.kind() != CXCursor_InclusionDirective {
            continue;
        }
        let position = directive.position();
        let includer = position.and_then(|position| unit.header(position.file));
        let (Some(includer), Some(header)) = (includer, unit.included_header(directive)) else {
            continue;
        };
        let path = unit.path(&header);
        let is_near = || folders.iter().any(|folder| path.starts_with(folder));
        let is_quoted = || directive.tokens().iter().any(|it| it.text.starts_with('"'));
        if own.contains(&*includer) && (is_near() || is_quoted()) {
            own.insert(header.to_string());
        }
    }
    own
}

/// Returns the folders of the driver: not `/usr/include`, which has the headers of the C library too.
fn own_folders(input: &ParseInput) -> Vec<&Path> {
    let system = system_folders();
    let further: &[PathBuf] = match &input.dialect {
        Dialect::TensorFlow => &[],
        Dialect::Driver { folders, .. } => folders,
    };
    let folders = std::iter::once(&input.include_root).chain(further);
    let folders = folders.filter(|folder| !system.contains(folder));
    folders.map(PathBuf::as_path).collect()
}
