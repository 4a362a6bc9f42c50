//! Reads the declarations of several APIs: in one parse, or API by API if that fails.

use super::{ExtractError, UnreadableApi};
use crate::clang::{self, ClangError, Declarations, ParseError, ParseInput};
use crate::contract::Notes;
use sp_system::parallel;

/// The declarations of all APIs.
pub struct Parsed {
    /// The declarations of the APIs that can be read.
    pub declared: Declarations,
    /// The APIs that cannot be read.
    pub unreadable: Vec<UnreadableApi>,
}

/// Reads the declarations in an input's own headers.
pub type Parse = dyn Fn(&ParseInput) -> Result<Declarations, ClangError> + Sync;

/// Returns a function that reads declarations, with their comments if `with_comments`.
pub fn reader(with_comments: bool) -> impl Fn(&ParseInput) -> Result<Declarations, ClangError> {
    move |input| {
        clang::within_limits(input, move |input| {
            clang::declarations(input, &|header| input.has(header), with_comments)
        })
    }
}

/// Reads the declarations in the headers of `input`, by `parse`.
///
/// # Errors
/// Returns an error if libclang is missing or cannot parse for the target.
pub fn parse_apis(
    notes: &[Notes],
    input: &ParseInput,
    parse: &Parse,
) -> Result<Parsed, ExtractError> {
    match parse(input) {
        Ok(declared) => Ok(Parsed {
            declared,
            unreadable: Vec::new(),
        }),
        Err(error) if fails_every_parse(&error) => Err(error.into()),
        Err(_) => Ok(parse_each_api(notes, input, parse)),
    }
}

/// Returns true for an error that does not depend on the headers, and for one after which libclang still runs.
fn fails_every_parse(error: &ClangError) -> bool {
    matches!(
        error,
        ClangError::Parse(
            ParseError::Library(_) | ParseError::Failed { .. } | ParseError::Exceeded { .. }
        )
    )
}

fn parse_each_api(notes: &[Notes], input: &ParseInput, parse: &Parse) -> Parsed {
    let inputs = notes
        .iter()
        .map(|notes| (notes, input_of_api(notes, input)));
    let inputs: Vec<_> = inputs.filter(|(_, own)| !own.headers.is_empty()).collect();
    let results = parallel::map(&inputs, |(_, own)| parse(own));
    let (mut declared, mut unreadable) = (Vec::new(), Vec::new());
    for ((notes, _), result) in inputs.into_iter().zip(results) {
        match result {
            Ok(declarations) => declared.push(declarations),
            Err(reason) => unreadable.push(UnreadableApi {
                api: notes.api.clone(),
                reason: reason.into(),
            }),
        }
    }
    Parsed {
        declared: Declarations::merge(declared),
        unreadable,
    }
}

/// Returns `input` with only the headers of one API.
pub fn input_of_api(notes: &Notes, input: &ParseInput) -> ParseInput {
    let own = input.headers.iter();
    let own = own.filter(|header| notes.has_header(header));
    ParseInput {
        headers: own.cloned().collect(),
        ..input.clone()
    }
}
