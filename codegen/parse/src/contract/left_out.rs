//! `headers/apis/left_out.toml`: headers that belong to no API.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::notes::{NotesError, malformed, matches};
use sp_data::embedded::API_NOTES;

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
