//! From C headers to plain declarations: what the compiler knows, and the comments beside it.
//!
//! Nothing here interprets a comment or a name; that is `contract`'s work. The items that come
//! out are the IR's, with every fact still unsaid.

#![allow(non_upper_case_globals)] // clang-sys names its constants as C does

use std::collections::BTreeMap;

use sp_ir::Item;

mod comment;
mod constant;
mod cursor;
mod decl;
pub mod library;
mod struct_size;
mod ty;
mod unit;

#[cfg(test)]
mod tests;

pub use comment::{Comment, Comments};
pub use decl::DeclError;
pub use library::{Library, LibraryMissing};
pub use unit::{DEFAULT_TARGET, HeaderError, ParseError, Source, Unit};

/// What a set of headers declares, by name. C's tags, typedefs, functions and macros share one map:
/// no header of TensorFlow uses one name for two things.
#[derive(Debug, Default)]
pub struct Declarations {
    /// The items, facts unsaid.
    pub items: BTreeMap<String, Item>,
    /// What is written beside them.
    pub comments: Comments,
}

/// Headers could not be read.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClangError {
    /// They do not parse.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Parse(#[from] ParseError),
    /// They declare something that the IR has no words for.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Decl(#[from] DeclError),
}

/// Reads the declarations of those headers of `source` that `wanted` accepts, out of two parses: one
/// to see what there is to evaluate, one in which clang evaluates it.
///
/// # Errors
/// Where libclang is missing, a header has an error, or a declaration is of no supported kind.
pub fn declarations(
    source: &Source,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Declarations, ClangError> {
    let unit = Unit::parse(source, "")?;
    let mut found = decl::collect(&unit, wanted)?;
    let sizes = struct_size::find(&unit, wanted);
    let macros = constant::find(&unit, wanted, &sizes, &found);
    let values = constant::evaluate(source, &sizes, &macros)?;
    struct_size::attach(&mut found.items, &sizes, &values);
    constant::attach(&mut found.items, macros, &values);
    found.comments = comment::collect(&unit, &found.items);
    comment::attach_sections(&unit, &mut found.items);
    Ok(Declarations {
        items: found.items,
        comments: found.comments,
    })
}
