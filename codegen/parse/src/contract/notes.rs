//! `headers/apis/<api>.toml`: what no header says, each with what it rests on.
//!
//! A note that nothing uses is a mistake, and so is one that contradicts a comment without
//! saying so. All mistakes of a file are reported together.

mod known;
mod mistake;
mod span;
mod write;

use std::collections::BTreeMap;

use miette::{NamedSource, SourceSpan};
use serde::Deserialize;
use sp_ir::{Direction, Discriminator, Item, Presence, Receiver, Scope, Side, Transfer};

use super::Items;
use crate::contract::LeftOut;
pub use known::Known;
pub use mistake::{Malformed, Mistake, NotesError};
use sp_data::embedded::API_NOTES;
use span::Span;
use write::{Writer, doc_of};

/// The notes of one API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// The API's name: the file's.
    #[serde(skip)]
    pub api: String,
    /// The headers whose declarations are the API's, those of any release; `*` stands for anything.
    pub headers: Vec<String>,
    /// Of those headers the ones that only some items are wanted of, with these.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// The macros that hold the API's own version, in order.
    #[serde(default)]
    pub version: Vec<String>,
    /// Which side fills the structs whose names begin so.
    #[serde(default)]
    pub prefixes: BTreeMap<String, Side>,
    /// The functions that the plugin defines, with the evidence.
    #[serde(default)]
    pub entry_points: BTreeMap<String, String>,
    /// The headers' conventions for names and structs.
    pub conventions: Option<Conventions>,
    /// Our own line about each item that nothing else need be said of.
    #[serde(default)]
    docs: BTreeMap<String, String>,
    /// What is said of each item.
    #[serde(default)]
    pub item: BTreeMap<String, ItemNote>,
}

/// Rules of naming and order that the headers state; the lints check them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conventions {
    /// Their source.
    pub evidence: String,
    /// The names of the field that follows `struct_size`; empty if none is stated.
    #[serde(default)]
    pub second_field: Vec<String>,
    /// How the names of enumerations and of their values begin.
    #[serde(default)]
    pub enums: Vec<String>,
    /// How the names of functions begin.
    #[serde(default)]
    pub functions: Vec<String>,
    /// The items that need not keep them, each with the reason; `*` stands for any characters.
    #[serde(default)]
    pub except: BTreeMap<String, String>,
}

impl Conventions {
    /// Returns the reason why the conventions do not hold for `name`, or `None` if the notes state none.
    pub fn reason(&self, name: &str) -> Option<&str> {
        let found = self
            .except
            .iter()
            .find(|(pattern, _)| matches(pattern, name));
        found.map(|(_, reason)| reason.as_str())
    }
}

/// What is said of one item.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemNote {
    releases: Option<Span>,
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

/// One presence, said of many fields at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresenceNote {
    releases: Option<Span>,
    value: Presence,
    fields: Vec<String>,
    evidence: String,
    overrides: Option<PresenceOverrides>,
}

/// What is said of one field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FieldNote {
    releases: Option<Span>,
    doc: Option<String>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    filled_by: Option<Side>,
    direction: Option<Direction>,
    neutral: Option<String>,
    params: BTreeMap<String, ParamNote>,
    ret: Option<ReturnNote>,
}

/// What is said of one parameter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ParamNote {
    releases: Option<Span>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    direction: Option<Direction>,
    transfer: Option<Transfer>,
    scope: Option<Scope>,
}

/// What is said of what a function returns.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReturnNote {
    releases: Option<Span>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    transfer: Transfer,
}

/// What a note knowingly contradicts.
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
    /// A validation message of core, which core gives under some condition only.
    Library,
}

impl Notes {
    /// The notes of all APIs, as the binary carries them.
    ///
    /// # Errors
    /// Where one is malformed.
    pub fn all() -> Result<Vec<Self>, NotesError> {
        API_NOTES
            .iter()
            .filter(|(file, _)| *file != LeftOut::FILE)
            .map(|(file, text)| Self::parse(file.trim_end_matches(".toml"), text))
            .collect()
    }

    /// Reads the notes of `api`.
    ///
    /// # Errors
    /// Where the text is not TOML of the documented form.
    pub fn parse(api: &str, text: &str) -> Result<Self, NotesError> {
        let notes: Self = toml::from_str(text).map_err(|error| malformed(api, text, &error))?;
        Ok(Self {
            api: api.into(),
            ..notes
        })
    }

    /// Whether a header is the API's, or partly so.
    pub fn has_header(&self, header: &str) -> bool {
        self.headers.iter().any(|pattern| matches(pattern, header))
    }

    /// The items that alone are wanted of a header, if it is such a one.
    pub fn only_of(&self, header: &str) -> Option<&[String]> {
        let mut only = self.only.iter();
        only.find(|(pattern, _)| matches(pattern, header))
            .map(|(_, names)| names.as_slice())
    }

    /// The items that are named as exceptions from the conventions.
    fn excepted(&self) -> impl Iterator<Item = &String> {
        let except = self.conventions.iter().flat_map(|it| it.except.keys());
        except.filter(|name| !name.contains('*'))
    }

    /// Returns the struct and the field of each note that overrides a validation message of `release`.
    pub fn library_overrides(&self, release: &str) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for (name, note) in &self.item {
            let holds = |one: &&PresenceNote| one.releases.is_none_or(|span| span.has(release));
            let is_override =
                |one: &&PresenceNote| one.overrides == Some(PresenceOverrides::Library);
            let notes = note.presence.iter().filter(holds).filter(is_override);
            let fields = notes.flat_map(|one| &one.fields);
            found.extend(fields.map(|field| (name.as_str(), field.as_str())));
        }
        found
    }

    /// Says what the notes say.
    pub(super) fn annotate(
        &self,
        items: &mut Items,
        known: &Known,
        release: &str,
    ) -> Result<(), NotesError> {
        let mut writer = Writer {
            file: file_of(&self.api),
            known,
            release,
            mistakes: Vec::new(),
        };
        for name in self
            .entry_points
            .keys()
            .filter(|name| !is_function(items, name))
        {
            writer.unused(name, &format!("entry_points.{name}"));
        }
        for name in self.excepted().filter(|name| !items.contains_key(*name)) {
            writer.unused(name, &format!("conventions.except.{name}"));
        }
        for (name, doc) in &self.docs {
            match items.get_mut(name) {
                Some(item) => *doc_of(item) = Some(doc.clone()),
                None => writer.unused(name, &format!("docs.{name}")),
            }
        }
        for (name, note) in &self.item {
            let key = format!("item.{name}");
            match items.get_mut(name) {
                Some(item) => writer.item(name, item, note, &key),
                None => writer.unused(name, &key),
            }
        }
        match writer.mistakes {
            mistakes if mistakes.is_empty() => Ok(()),
            mistakes => Err(NotesError::Mistaken {
                file: file_of(&self.api),
                mistakes,
            }),
        }
    }
}

/// Whether `pattern`, in which `*` stands for any characters, is all of `text`.
pub fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
            ends.any(|end| matches(rest, &text[end..]))
        }),
    }
}

/// The error for a file that is not TOML of the documented form.
pub fn malformed(api: &str, text: &str, error: &toml::de::Error) -> NotesError {
    NotesError::Malformed(Box::new(Malformed {
        file: file_of(api),
        message: error.message().to_string(),
        source_code: NamedSource::new(file_of(api), text.to_string()),
        span: error.span().map(SourceSpan::from),
    }))
}

fn file_of(api: &str) -> String {
    format!("headers/apis/{api}.toml")
}

fn is_function(items: &Items, name: &str) -> bool {
    matches!(items.get(name), Some(Item::Function(_)))
}
