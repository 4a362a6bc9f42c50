//! Declarations of several APIs: in one parse, or API by API if that fails.

use super::{ExtractError, Unread};
use crate::clang::{self, ClangError, Declarations, ParseError, Source};
use crate::contract::Notes;
use sp_system::parallel;

/// The declarations that could be read.
pub struct Read {
    /// Those of all APIs that could be read.
    pub declared: Declarations,
    /// The other APIs.
    pub unread: Vec<Unread>,
}

/// Reads the declarations of a source's own headers.
pub type Parse = dyn Fn(&Source) -> Result<Declarations, ClangError> + Sync;

/// Reads declarations and comments.
pub fn with_comments(source: &Source) -> Result<Declarations, ClangError> {
    clang::declarations(source, &|header| source.has(header))
}

/// Reads declarations without comments.
pub fn bare(source: &Source) -> Result<Declarations, ClangError> {
    clang::bare_declarations(source, &|header| source.has(header))
}

/// Reads what the headers of `source` declare.
///
/// # Errors
/// Returns an error if libclang cannot be used at all.
pub fn all(notes: &[Notes], source: &Source, parse: &Parse) -> Result<Read, ExtractError> {
    match parse(source) {
        Ok(declared) => Ok(Read {
            declared,
            unread: Vec::new(),
        }),
        Err(error) if concerns_all(&error) => Err(error.into()),
        Err(_) => Ok(one_by_one(notes, source, parse)),
    }
}

/// Returns true for an error that every parse for this target would have.
fn concerns_all(error: &ClangError) -> bool {
    matches!(
        error,
        ClangError::Parse(ParseError::Library(_) | ParseError::Failed { .. })
    )
}

fn one_by_one(notes: &[Notes], source: &Source, parse: &Parse) -> Read {
    let alone = notes.iter().map(|one| (one, of_api(one, source)));
    let alone: Vec<_> = alone.filter(|(_, own)| !own.headers.is_empty()).collect();
    let results = parallel::map(&alone, |(_, own)| parse(own));
    let (mut declared, mut unread) = (Vec::new(), Vec::new());
    for ((notes, _), result) in alone.into_iter().zip(results) {
        match result {
            Ok(found) => declared.push(found),
            Err(reason) => unread.push(Unread {
                api: notes.api.clone(),
                reason: reason.into(),
            }),
        }
    }
    Read {
        declared: Declarations::join(declared),
        unread,
    }
}

/// Returns the part of `source` that is the headers of one API.
pub fn of_api(notes: &Notes, source: &Source) -> Source {
    let own = source.headers.iter().filter(|one| notes.has_header(one));
    Source {
        headers: own.cloned().collect(),
        ..source.clone()
    }
}
