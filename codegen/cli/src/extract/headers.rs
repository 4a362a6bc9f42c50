//! Which of the headers at hand are read: each belongs to an API or is left out with a reason. One that
//! is neither is an error, so that a new header does not slip by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::ExtractError;
use crate::contract::Notes;
use crate::contract::notes::{NotesError, malformed, matches};
use crate::embedded::API_NOTES;
use crate::import::closure;
use crate::import::source::Installed;

/// A header that belongs to no API and is not left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray(pub String);

/// The headers that are no API's, each (a name, or a pattern with `*`) with the reason.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct LeftOut(pub BTreeMap<String, String>);

impl LeftOut {
    /// The file's name among the notes.
    pub const FILE: &'static str = "left_out.toml";

    /// The list that the binary carries.
    ///
    /// # Errors
    /// Where it is malformed.
    pub fn embedded() -> Result<Self, NotesError> {
        let text = API_NOTES.iter().find(|(file, _)| *file == Self::FILE);
        text.map_or(Ok(Self::default()), |(_, text)| Self::parse(text))
    }

    /// Reads such a list.
    ///
    /// # Errors
    /// Where the text is not TOML of that form.
    pub fn parse(text: &str) -> Result<Self, NotesError> {
        toml::from_str(text).map_err(|error| malformed("left_out", text, &error))
    }

    /// Why a header is left out, if it is.
    pub fn reason(&self, header: &str) -> Option<&str> {
        let mut reasons = self.0.iter();
        let found = reasons.find(|(pattern, _)| matches(pattern, header));
        found.map(|(_, reason)| reason.as_str())
    }
}

/// The headers that belong to APIs, of those below `root`.
pub fn of(notes: &[Notes], left_out: &LeftOut, root: &Path) -> Result<Vec<String>, ExtractError> {
    let found = found(root)?;
    let (mine, others): (Vec<String>, Vec<String>) = found
        .into_iter()
        .partition(|header| notes.iter().any(|notes| notes.has_header(header)));
    let strays = others
        .into_iter()
        .filter(|header| left_out.reason(header).is_none());
    let strays: Vec<Stray> = strays.map(Stray).collect();
    match (mine.is_empty(), strays.is_empty()) {
        (_, false) => Err(ExtractError::Strays { headers: strays }),
        (true, true) => Err(ExtractError::NoHeaders { root: root.into() }),
        (false, true) => Ok(mine),
    }
}

/// The headers of the C API, as an import takes them.
fn found(root: &Path) -> Result<BTreeSet<String>, ExtractError> {
    let no_headers = |_| ExtractError::NoHeaders { root: root.into() };
    let mut source = Installed::open(root).map_err(no_headers)?;
    let found = closure::of(&mut source, &mut |_| {})?;
    Ok(found.headers.into_keys().collect())
}
