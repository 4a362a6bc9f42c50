//! The declarations of a driver's header: any C header of a vendor.
//!
//! Unlike TensorFlow's headers it includes headers of the system. Its own headers are those that it includes in quotes, or
//! from its own folder or those of the user. Of the others only types are read, for the declarations that use them.
//!
//! What the IR cannot describe is in `Declarations::undescribed` with its reason and size, since bindings must name
//! it.

mod constants;
mod evaluate;
mod forwards;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clang_sys::CXCursor_InclusionDirective;

use super::cursor::Cursor;
use super::decl;
use super::input::{Dialect, ParseInput, system_folders};
use super::names::name_anonymous;
use super::node::{self, Selection};
use super::ty::Types;
use super::unit::Unit;
use super::{ClangError, Declarations, within_limits};
pub use constants::{Constants, DriverConstant, FunctionAlias, WithoutValue};
pub use value::DriverValue;

/// The declarations of a driver's header.
#[derive(Debug, Default)]
pub struct DriverDeclarations {
    /// The declarations of the own headers, and the types of the others. Constants are not among them.
    pub declared: Declarations,
    /// The names of the own headers.
    pub own_headers: BTreeSet<String>,
    /// The macros and constants of the own headers.
    pub constants: Constants,
    /// The functions that inline functions call, if they do nothing else.
    pub forwards: BTreeMap<String, String>,
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
    let unit = Unit::parse(input, "")?;
    let own_headers = own_headers(&unit, input);
    let is_own = |header: &str| own_headers.contains(header);
    let select = |header: &str| match is_own(header) {
        true => Selection::Describable,
        false => Selection::TypesOnly,
    };
    let nodes = node::nodes(&unit, &select);
    let mut declared = decl::collect(&unit, &nodes, &is_own)?;
    let names = name_anonymous(&unit, &nodes);
    let owned = |cursor: Cursor| decl::is_declared_in(&unit, cursor, &is_own);
    let types = Types::new(&names, &owned, true);
    let constants = constants::read(input, &nodes, &mut declared, &types, &is_own)?;
    Ok(DriverDeclarations {
        constants,
        forwards: forwards::find(&unit, &nodes),
        declared,
        own_headers,
    })
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
