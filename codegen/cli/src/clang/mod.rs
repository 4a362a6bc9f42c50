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
mod lexis;
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

/// Reads the declarations of those headers of `source` that `wanted` accepts.
///
/// # Errors
/// Where libclang is missing, a header has an error, or a declaration is of no supported kind.
pub fn declarations(
    source: &Source,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Declarations, ClangError> {
    let guess = constant::guess(source);
    // What was guessed wrong may not compile; without it, an error is the headers' own.
    let unit = match Unit::parse(source, &constant::appendix(&guess)) {
        Err(ParseError::Header(_)) => Unit::parse(source, "")?,
        unit => unit?,
    };
    let nodes = decl::nodes(&unit);
    let mut found = decl::collect(&unit, &nodes, wanted)?;
    let sizes = struct_size::find(&nodes, wanted);
    let macros = constant::find(&nodes, wanted, &sizes, &found);
    let values = constant::evaluate(source, &unit, &nodes, &sizes, &macros)?;
    struct_size::attach(&mut found.items, &sizes, &values);
    constant::attach(&mut found.items, macros, &values);
    let mut pages = comment::Pages::new(&unit);
    found.comments = comment::collect(&mut pages, &nodes, &found.items);
    comment::attach_sections(&mut pages, &mut found.items);
    Ok(Declarations {
        items: found.items,
        comments: found.comments,
    })
}
