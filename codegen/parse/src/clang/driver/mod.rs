//! The declarations of a driver's header: any C header of a vendor.
//!
//! Unlike TensorFlow's headers it includes headers of the system. Its own headers are those that it includes in quotes, or
//! from its own folder. Headers in the folders of the user may be those of another library, such as the CUDA runtime of cuDNN, so their
//! functions are not read. Of the others only types are read, for the declarations that use them.
//!
//! `Declarations::undescribed` has the declarations that the IR cannot describe, with reason and size: bindings name them.

mod body;
mod constants;
mod evaluate;
mod forwards;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clang_sys::{CXCursor_FunctionDecl, CXCursor_InclusionDirective};

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
    /// The names of the own headers, and of those in the folders of the user.
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
    let headers = Headers::find(&unit, input);
    let is_bound = |header: &str| headers.all.contains(header);
    let select = |header: &str| match (headers.own.contains(header), is_bound(header)) {
        (true, _) => Selection::Describable,
        (false, true) => Selection::WithoutFunctions,
        (false, false) => Selection::TypesOnly,
    };
    let nodes = node::nodes(&unit, &select);
    let mut declared = decl::collect(&unit, &nodes, &is_bound)?;
    let names = name_anonymous(&unit, &nodes);
    let owned = |cursor: Cursor| decl::is_declared_in(&unit, cursor, &is_bound);
    let types = Types::new(&names, &owned, true);
    let mut constants = constants::read(input, &nodes, &mut declared, &types, &is_bound)?;
    let without_value = &mut constants.without_value;
    without_value.retain(|it| headers.own.contains(&it.loc.file));
    Ok(DriverDeclarations {
        constants,
        forwards: forwards::find(&unit, &nodes),
        declared,
        own_headers: headers.all,
    })
}

/// The headers of the driver.
#[derive(Default)]
struct Headers {
    /// Those whose declarations are bound.
    own: BTreeSet<String>,
    /// The same, and headers in the folders of the user, of which no functions are bound.
    all: BTreeSet<String>,
}

impl Headers {
    /// Sorts the included headers. If the own ones declare no function, those in the folders of the user are own ones too.
    fn find(unit: &Unit, input: &ParseInput) -> Self {
        let folders = own_folders(input);
        let (own, all) = (folders.get(..1).unwrap_or_default(), &folders[..]);
        let mut headers = Self {
            own: included(unit, input, own),
            all: included(unit, input, all),
        };
        if !headers.declares_function(unit) {
            headers.own.clone_from(&headers.all);
        }
        headers
    }

    fn declares_function(&self, unit: &Unit) -> bool {
        let is_own = |header: &str| self.own.contains(header);
        let mut cursors = unit.cursor().children().into_iter();
        cursors.any(|cursor| {
            let is_function = cursor.kind() == CXCursor_FunctionDecl;
            is_function && !cursor.is_static() && decl::is_declared_in(unit, cursor, &is_own)
        })
    }
}

/// Returns the headers that the input's headers include in quotes or from `folders`, and those that these include.
fn included(unit: &Unit, input: &ParseInput, folders: &[PathBuf]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = input.headers.iter().cloned().collect();
    // A header's includes come after the directive that includes it.
    for directive in unit.cursor().children() {
        if directive.kind() != CXCursor_InclusionDirective {
            continue;
        }
        let position = directive.position();
        let includer = position.and_then(|position| unit.header(position.file));
        let (Some(includer), Some(header)) = (
            includer,
            directive.included_file().and_then(|file| unit.header(file)),
        ) else {
            continue;
        };
        let path = unit.path(&header);
        let is_near = || folders.iter().any(|folder| path.starts_with(folder));
        let is_quoted = || directive.tokens().iter().any(|it| it.text.starts_with('"'));
        if found.contains(&*includer) && (is_near() || is_quoted()) {
            found.insert(header.to_string());
        }
    }
    found
}

/// Returns the folders of the driver, its own first. `/usr/include` is none: it has the headers of the C library too.
fn own_folders(input: &ParseInput) -> Vec<PathBuf> {
    let system = system_folders();
    let further: &[PathBuf] = match &input.dialect {
        Dialect::TensorFlow => &[],
        Dialect::Driver { folders, .. } => folders,
    };
    let is_system = |folder: &PathBuf| system.contains(folder);
    // In a folder of the system only the header itself is the driver's.
    let own = Some(&input.include_root).filter(|folder| !is_system(folder));
    let header = || input.include_root.join(input.headers.concat());
    let own = own.cloned().unwrap_or_else(header);
    let further = further.iter().filter(|folder| !is_system(folder));
    [own].into_iter().chain(further.cloned()).collect()
}
