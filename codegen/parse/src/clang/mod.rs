//! Reads the declarations in C headers, by libclang, and the comments beside them.
//!
//! The items are the IR's, without contract facts: `contract` interprets comments and names.

#![allow(non_upper_case_globals)] // clang-sys's constants have the names of C.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Visibility};

use constant::NamedConstant;
use node::Selection;

mod bit_field;
mod comment;
mod comment_lexer;
mod constant;
mod cursor;
mod decl;
mod diagnostic;
pub mod driver;
mod error;
mod evaluate;
mod input;
pub mod library;
mod limits;
mod literal;
mod merge;
mod names;
mod node;
mod string;
mod struct_size;
mod translation_unit;
mod ty;
mod unit;

#[cfg(test)]
mod tests;

pub use bit_field::BitField;
pub use comment::{Comment, Comments};
pub use decl::{DeclError, Undescribed, UndescribedReason};
pub use error::{ErrorInHeader, HeaderError, ParseError};
pub use input::{DEFAULT_TARGET, Dialect, Language, ParseInput};
pub use library::{Library, LibraryMissing};
pub use limits::within_limits;
pub use unit::Unit;

/// The declarations of a set of headers, by name. C's tags, typedefs, functions and macros share one map: no header of
/// TensorFlow uses one name for two of them.
#[derive(Debug, Default)]
pub struct Declarations {
    /// The items, without contract facts.
    pub items: BTreeMap<String, Item>,
    /// The functions of a driver's headers, where a tag may have the name of a function. Those of TensorFlow's headers are
    /// among the items.
    pub functions: BTreeMap<String, Item>,
    /// The bit-fields of a driver's structs and unions, whose items have the other fields.
    pub bit_fields: BTreeMap<String, Vec<BitField>>,
    /// The comments beside the items.
    pub comments: Comments,
    /// The declarations that the IR cannot describe. Empty unless such declarations are accepted.
    pub undescribed: Vec<Undescribed>,
    /// The visibility of the functions.
    pub visibility: BTreeMap<String, Visibility>,
    /// Structs without definition that only a typedef of a pointer refers to: `SP_Stream_st`.
    hidden_structs: BTreeSet<String>,
}

/// Headers cannot be read.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ClangError {
    /// The headers do not parse.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Parse(#[from] ParseError),
    /// The headers declare something that the IR cannot describe.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Decl(#[from] DeclError),
}

/// Reads the declarations of those headers of `input` that `wanted` accepts, with their comments if `with_comments`.
///
/// # Errors
/// Returns an error if libclang is missing, a header has an error, or the IR cannot describe a declaration.
pub fn declarations(
    input: &ParseInput,
    wanted: &dyn Fn(&str) -> bool,
    with_comments: bool,
) -> Result<Declarations, ClangError> {
    let select = |header: &str| match wanted(header) {
        true => Selection::All,
        false => Selection::Nothing,
    };
    read(input, &select, with_comments)
}

/// Reads the declarations of every header under the include root that `input` includes, without those that the IR
/// cannot describe.
///
/// # Errors
/// Returns an error if libclang is missing, or a header has an error.
pub fn reachable_declarations(input: &ParseInput) -> Result<Declarations, ClangError> {
    within_limits(input, |input| {
        read(input, &|_| Selection::Describable, true)
    })
}

impl Declarations {
    /// Merges the declarations of several parses. If two declare one name, the more complete declaration is used.
    pub fn merge(parses: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self::default();
        for other in parses {
            merge::add(&mut merged, other);
        }
        merged
    }
}

fn read(
    input: &ParseInput,
    select: &dyn Fn(&str) -> Selection,
    with_comments: bool,
) -> Result<Declarations, ClangError> {
    let macros = evaluate::guess_numeric_macros(input);
    // A macro that was wrongly taken for a number may not compile. Without the macros, an error is the headers' own.
    let unit = match Unit::parse(input, &evaluate::evaluation_code(&macros)) {
        Err(ParseError::Header(_)) => Unit::parse(input, "")?,
        unit => unit?,
    };
    let nodes = node::nodes(&unit, select);
    let mut declared = decl::collect(&unit, &nodes, &|_| true)?;
    let sizes = struct_size::find(&nodes);
    let constants = constant::find(&nodes, &sizes);
    let numbers = constants.iter().filter_map(NamedConstant::evaluated_name);
    let values = evaluate::evaluate(input, &unit, &nodes, sizes.symbols().chain(numbers))?;
    struct_size::attach(&mut declared.items, &sizes, &values);
    if with_comments {
        let items = declared.items.iter();
        let locs = constants.iter().map(NamedConstant::name_and_loc);
        let locs = locs.chain(items.map(|(name, item)| (name, item.loc())));
        let mut files = comment::CommentedFiles::new(&unit);
        declared.comments = comment::collect(&mut files, &nodes, locs);
        comment::attach_sections(&mut files, &mut declared.items);
    }
    constant::attach(&mut declared.items, constants, &values);
    Ok(declared)
}
