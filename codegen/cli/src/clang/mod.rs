//! From C headers to plain declarations: what the compiler knows, and the comments beside it.
//!
//! Nothing here interprets a comment or a name; that is `contract`'s work. The items that come
//! out are the IR's, with every fact still unsaid.

#![allow(non_upper_case_globals)] // clang-sys names its constants as C does

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Item;

use crate::crew;

mod comment;
mod constant;
mod cursor;
mod decl;
mod halves;
mod lexis;
pub mod library;
mod merge;
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
    /// The structs that a pointer's typedef is all there is of.
    behind: BTreeSet<String>,
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

/// Reads the declarations of those headers of `source` that `wanted` accepts, on two threads where the
/// caller has them.
///
/// # Errors
/// Where libclang is missing, a header has an error, or a declaration is of no supported kind.
pub fn declarations(
    source: &Source,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Declarations, ClangError> {
    // A header that leans on what stands before it cannot be read apart from that.
    read_halves(source, wanted)
        .map_or_else(|| read(source, &constant::guess(source), wanted, true), Ok)
}

fn read_halves(source: &Source, wanted: &(dyn Fn(&str) -> bool + Sync)) -> Option<Declarations> {
    if crew::hands() == 1 {
        return None;
    }
    let guess = constant::guess(source);
    let read = |half: &Source| read(half, &guess, wanted, true).ok();
    let halves = crew::each(&halves::of(source)?, read).into_iter();
    let halves: Option<Vec<_>> = halves.collect();
    merge::both(halves?.try_into().ok()?)
}

/// As [`declarations`], without the comments and on one thread.
///
/// # Errors
/// As [`declarations`].
pub fn bare_declarations(
    source: &Source,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Declarations, ClangError> {
    read(source, &constant::guess(source), wanted, false)
}

/// `guess` are the names of macros to evaluate, if they are.
fn read(
    source: &Source,
    guess: &BTreeSet<String>,
    wanted: &dyn Fn(&str) -> bool,
    with_comments: bool,
) -> Result<Declarations, ClangError> {
    // What was guessed wrong may not compile; without it, an error is the headers' own.
    let unit = match Unit::parse(source, &constant::appendix(guess)) {
        Err(ParseError::Header(_)) => Unit::parse(source, "")?,
        unit => unit?,
    };
    let nodes = decl::nodes(&unit, wanted);
    let mut found = decl::collect(&unit, &nodes)?;
    let sizes = struct_size::find(&nodes);
    let macros = constant::find(&nodes, &sizes, &found);
    let values = constant::evaluate(source, &unit, &nodes, &sizes, &macros)?;
    struct_size::attach(&mut found.items, &sizes, &values);
    constant::attach(&mut found.items, macros, &values);
    if with_comments {
        let mut pages = comment::Pages::new(&unit);
        found.comments = comment::collect(&mut pages, &nodes, &found.items);
        comment::attach_sections(&mut pages, &mut found.items);
    }
    Ok(found)
}
