//! `headers/apis/<api>.toml`: facts that no header states, each with its evidence.
//!
//! A note that applies to no item is a mistake, and so is one that contradicts a comment without `overrides`. All
//! mistakes in a file are reported together.

mod error;
mod known_names;
mod release_range;
mod write;

use std::collections::BTreeMap;

use miette::{NamedSource, SourceSpan};
use serde::Deserialize;
use sp_ir::{Direction, Discriminator, Item, Presence, Receiver, Scope, Side, Transfer};

use super::Items;
use crate::contract::ExcludedHeaders;
pub use error::{Malformed, Mistake, NotesError};
pub use known_names::KnownNames;
use release_range::ReleaseRange;
use sp_data::embedded::API_NOTES;
use write::NoteWriter;

/// The notes of one API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// The API's name, which is the file's.
    #[serde(skip)]
    pub api: String,
    /// The headers whose declarations are the API's, in any release. `*` matches any characters.
    pub headers: Vec<String>,
    /// Headers of which the API has only some items, with the names of these.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// The macros that define the API's own version, in order.
    #[serde(default)]
    pub version: Vec<String>,
    /// The side that fills the structs with a name prefix or pattern.
    #[serde(default)]
    pub prefixes: BTreeMap<String, Side>,
    /// The functions that the plugin defines, with the evidence.
    #[serde(default)]
    pub entry_points: BTreeMap<String, String>,
    /// The headers' conventions for names and structs.
    pub conventions: Option<Conventions>,
    /// Our own docs of the items that have no other note.
    #[serde(default)]
    docs: BTreeMap<String, String>,
    /// The notes on items.
    #[serde(default)]
    pub item: BTreeMap<String, ItemNote>,
}

/// Rules for names and the order of fields that the headers state. The lints check them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conventions {
    /// Their source.
    pub evidence: String,
    /// The names of the field that follows `struct_size`; empty if none is stated.
    #[serde(default)]
    pub second_field: Vec<String>,
    /// Prefixes of the names of enumerations and enumerators.
    #[serde(default)]
    pub enums: Vec<String>,
    /// Prefixes of the names of functions.
    #[serde(default)]
    pub functions: Vec<String>,
    /// The items that are exempt, each with the reason. `*` matches any characters.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

impl Conventions {
    /// Returns the reason why `name` is exempt from the conventions, or `None` if it is not.
    pub fn reason(&self, name: &str) -> Option<&str> {
        let mut found = self.except.iter();
        let found = found.find(|(pattern, _)| matches(pattern, name));
        found.map(|(_, reason)| reason.as_str())
    }
}

/// The notes on one item.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemNote {
    releases: Option<ReleaseRange>,
    doc: Option<String>,
    evidence: Option<String>,
    rust: Option<String>,
    filled_by: Option<Side>,
    overrides: Option<Overrides>,
    receiver: Option<Receiver>,
    author_trait: Option<String>,
    discriminator: Option<Discriminator>,
    instead: Option<String>,
    presence: Vec<PresenceNote>,
    fields: BTreeMap<String, FieldNote>,
    params: BTreeMap<String, ParamNote>,
    ret: Option<ReturnNote>,
}

/// A presence of several fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresenceNote {
    releases: Option<ReleaseRange>,
    value: Presence,
    fields: Vec<String>,
    evidence: String,
    overrides: Option<PresenceOverrides>,
}

/// The notes on one field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FieldNote {
    releases: Option<ReleaseRange>,
    doc: Option<String>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    filled_by: Option<Side>,
    direction: Option<Direction>,
    default_return: Option<String>,
    params: BTreeMap<String, ParamNote>,
    ret: Option<ReturnNote>,
}

/// The notes on one parameter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ParamNote {
    releases: Option<ReleaseRange>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    direction: Option<Direction>,
    transfer: Option<Transfer>,
    scope: Option<Scope>,
}

/// The notes on a function's result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReturnNote {
    releases: Option<ReleaseRange>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    transfer: Transfer,
}

/// The source that a note contradicts on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Overrides {
    Comment,
}

/// The source that a note on presence contradicts on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PresenceOverrides {
    Comment,
    /// A validation message of core, which core reports under a condition only.
    Library,
}

impl Notes {
    /// Returns the embedded notes of all APIs.
    ///
    /// # Errors
    /// Returns an error if a file is malformed.
    pub fn all() -> Result<Vec<Self>, NotesError> {
        API_NOTES
            .iter()
            .filter(|(file, _)| *file != ExcludedHeaders::FILE)
            .map(|(file, text)| Self::parse(file.trim_end_matches(".toml"), text))
            .collect()
    }

    /// Parses the notes of `api`.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML of the documented form.
    pub fn parse(api: &str, text: &str) -> Result<Self, NotesError> {
        let notes: Self = toml::from_str(text).map_err(|error| malformed(api, text, &error))?;
        Ok(Self {
            api: api.into(),
            ..notes
        })
    }

    /// Returns true if at least a part of a header belongs to the API.
    pub fn has_header(&self, header: &str) -> bool {
        self.headers.iter().any(|pattern| matches(pattern, header))
    }

    /// Returns the items that the API has of a header, or `None` if it has all of them.
    pub fn only_of(&self, header: &str) -> Option<&[String]> {
        let mut only = self.only.iter();
        only.find(|(pattern, _)| matches(pattern, header))
            .map(|(_, names)| names.as_slice())
    }

    /// Returns the names of the items that are exempt from the conventions.
    fn exempt_items(&self) -> impl Iterator<Item = &String> {
        let except = self.conventions.iter();
        let except = except.flat_map(|conventions| conventions.except.keys());
        except.filter(|name| !name.contains('*'))
    }

    /// Returns the struct and the field of each note that overrides a validation message of `release`.
    pub fn library_overrides(&self, release: &str) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for (name, note) in &self.item {
            let overrides = note.presence.iter().filter(|presence| {
                let applies = presence
                    .releases
                    .is_none_or(|range| range.contains(release));
                applies && presence.overrides == Some(PresenceOverrides::Library)
            });
            let fields = overrides.flat_map(|presence| &presence.fields);
            found.extend(fields.map(|field| (name.as_str(), field.as_str())));
        }
        found
    }

    /// Reports the entry points and exempt items that nothing declares.
    fn report_undeclared_names(&self, items: &Items, writer: &mut NoteWriter<'_>) {
        let entry_points = self.entry_points.keys();
        for name in entry_points.filter(|name| !is_function(items, name)) {
            writer.report_undeclared(name, &format!("entry_points.{name}"));
        }
        let exempt = self.exempt_items();
        for name in exempt.filter(|name| !items.contains_key(*name)) {
            writer.report_undeclared(name, &format!("conventions.except.{name}"));
        }
    }

    /// Adds the facts of the notes to `items`.
    pub(super) fn annotate(
        &self,
        items: &mut Items,
        known: &KnownNames,
        release: &str,
    ) -> Result<(), NotesError> {
        let mut writer = NoteWriter {
            file: notes_path(&self.api),
            known,
            release,
            mistakes: Vec::new(),
        };
        self.report_undeclared_names(items, &mut writer);
        for (name, doc) in &self.docs {
            match items.get_mut(name) {
                Some(item) => *doc_mut(item) = Some(doc.clone()),
                None => writer.report_undeclared(name, &format!("docs.{name}")),
            }
        }
        for (name, note) in &self.item {
            let key = format!("item.{name}");
            match items.get_mut(name) {
                Some(item) => writer.item(name, item, note, &key),
                None => writer.report_undeclared(name, &key),
            }
        }
        match writer.mistakes {
            mistakes if mistakes.is_empty() => Ok(()),
            mistakes => Err(NotesError::Mistaken {
                file: notes_path(&self.api),
                mistakes,
            }),
        }
    }
}

/// Returns true if `pattern`, in which `*` matches any characters, matches all of `text`.
pub fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
            ends.any(|end| matches(rest, &text[end..]))
        }),
    }
}

/// Returns the error for a file that is not TOML of the documented form.
pub fn malformed(api: &str, text: &str, error: &toml::de::Error) -> NotesError {
    NotesError::Malformed(Box::new(Malformed {
        file: notes_path(api),
        message: error.message().to_string(),
        source_code: NamedSource::new(notes_path(api), text.to_string()),
        span: error.span().map(SourceSpan::from),
    }))
}

fn notes_path(api: &str) -> String {
    format!("headers/apis/{api}.toml")
}

/// Returns the docs of an item.
pub fn doc_mut(item: &mut Item) -> &mut Option<String> {
    match item {
        Item::Struct(item) => &mut item.doc,
        Item::Union(item) => &mut item.doc,
        Item::Enum(item) => &mut item.doc,
        Item::Handle(item) => &mut item.doc,
        Item::Alias(item) => &mut item.doc,
        Item::Callback(item) => &mut item.doc,
        Item::Function(item) => &mut item.doc,
        Item::Constant(item) => &mut item.doc,
    }
}

fn is_function(items: &Items, name: &str) -> bool {
    matches!(items.get(name), Some(Item::Function(_)))
}
