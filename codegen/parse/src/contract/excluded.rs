//! `headers/apis/excluded.toml`: headers that belong to no API.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::notes::{NotesError, malformed, matches};
use sp_data::embedded::API_NOTES;

/// Maps each header that belongs to no API (a name, or a pattern with `*`) to the reason.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct ExcludedHeaders(pub BTreeMap<String, String>);

impl ExcludedHeaders {
    /// The file's name among the notes.
    pub const FILE: &'static str = "excluded.toml";

    /// Returns the embedded list.
    ///
    /// # Errors
    /// Returns an error if the list is malformed.
    pub fn embedded() -> Result<Self, NotesError> {
        let text = API_NOTES.iter().find(|(file, _)| *file == Self::FILE);
        text.map_or(Ok(Self::default()), |(_, text)| Self::parse(text))
    }

    /// Parses a list.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML of this form.
    pub fn parse(text: &str) -> Result<Self, NotesError> {
        toml::from_str(text).map_err(|error| malformed("excluded", text, &error))
    }

    /// Returns the reason why a header is excluded, or `None` if it is not.
    pub fn reason(&self, header: &str) -> Option<&str> {
        let mut reasons = self.0.iter();
        let found = reasons.find(|(pattern, _)| matches(pattern, header));
        found.map(|(_, reason)| reason.as_str())
    }
}
