//! From C headers to plain declarations: what the compiler knows, and the comments beside it.
//!
//! Nothing here interprets a comment or a name; that is `contract`'s work. The items that come
//! out are the IR's, with every fact still unsaid.

#![allow(non_upper_case_globals)] // clang-sys names its constants as C does

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Item;

use constant::{Named, Values};
use decl::Wanted;
use sp_system::parallel;

mod comment;
mod constant;
mod cursor;
mod decl;
mod halves;
mod lexis;
pub mod library;
mod literal;
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
    let guess = constant::guess(source);
    // A header that leans on what stands before it cannot be read apart from that.
    let found = match read_halves(source, &guess, wanted) {
        Some(found) => found,
        None => read(source, &guess, &all_of(wanted), true)?,
    };
    Ok(found.named())
}

/// As [`declarations`], without the comments and on one thread.
///
/// # Errors
/// As [`declarations`].
pub fn bare_declarations(
    source: &Source,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Declarations, ClangError> {
    let guess = constant::guess(source);
    read(source, &guess, &all_of(wanted), false).map(Found::named)
}

/// Reads the declarations of every header under the include root that `source` includes. Those that
/// the IR cannot describe are left out.
///
/// # Errors
/// Returns an error if libclang is missing, or a header has an error.
pub fn reachable_declarations(source: &Source) -> Result<Declarations, ClangError> {
    let guess = constant::guess(source);
    read(source, &guess, &|_| Wanted::Describable, true).map(Found::named)
}

impl Declarations {
    /// Joins what several parses declare; of one name, what knows more.
    pub fn join(all: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        all.into_iter()
            .for_each(|other| merge::add(&mut joined, other));
        joined
    }
}

fn all_of(wanted: &dyn Fn(&str) -> bool) -> impl Fn(&str) -> Wanted {
    |header| match wanted(header) {
        true => Wanted::Items,
        false => Wanted::Nothing,
    }
}

fn read_halves(
    source: &Source,
    guess: &BTreeSet<String>,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Option<Found> {
    if parallel::threads() == 1 {
        return None;
    }
    let read = |half: &Source| {
        let wanted = |header: &str| match half.headers.iter().any(|one| one == header) {
            _ if !wanted(header) => Wanted::Nothing,
            true => Wanted::Items,
            false => Wanted::Names,
        };
        read(half, guess, &wanted, true).ok()
    };
    let halves = parallel::map(&halves::of(source)?, read).into_iter();
    let halves: Option<Vec<_>> = halves.collect();
    merge::both(halves?.try_into().ok()?)
}

/// What one parse gives: constants are yet to be told from names, which may be another's.
struct Found {
    declared: Declarations,
    constants: Vec<Named>,
    values: Values,
}

impl Found {
    fn named(mut self) -> Declarations {
        constant::attach(&mut self.declared.items, self.constants, &self.values);
        self.declared
    }
}

/// `guess` are the names of macros to evaluate, if they are.
fn read(
    source: &Source,
    guess: &BTreeSet<String>,
    wanted: &dyn Fn(&str) -> Wanted,
    with_comments: bool,
) -> Result<Found, ClangError> {
    // What was guessed wrong may not compile; without it, an error is the headers' own.
    let unit = match Unit::parse(source, &constant::appendix(guess)) {
        Err(ParseError::Header(_)) => Unit::parse(source, "")?,
        unit => unit?,
    };
    let nodes = decl::nodes(&unit, wanted);
    let mut declared = decl::collect(&unit, &nodes)?;
    let sizes = struct_size::find(&nodes);
    let constants = constant::find(&nodes, &sizes);
    let values = constant::evaluate(source, &unit, &nodes, &sizes, &constants)?;
    struct_size::attach(&mut declared.items, &sizes, &values);
    if with_comments {
        let items = declared.items.iter();
        let places = constants.iter().map(Named::place);
        let places = places.chain(items.map(|(name, item)| (name, item.loc())));
        let mut pages = comment::Pages::new(&unit);
        declared.comments = comment::collect(&mut pages, &nodes, places);
        comment::attach_sections(&mut pages, &mut declared.items);
    }
    Ok(Found {
        declared,
        constants,
        values,
    })
}
