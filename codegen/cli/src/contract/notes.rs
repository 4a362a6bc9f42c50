//! `headers/apis/<api>.toml`: what no header says, each with what it rests on.
//!
//! A note that nothing uses is a mistake, and so is one that contradicts a comment without
//! saying so. All mistakes of a file are reported together.

mod mistake;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use miette::{NamedSource, SourceSpan};
use serde::Deserialize;
use sp_ir::{
    Api, Direction, Field, Item, Presence, Receiver, Scope, Side, Signature, Transfer, Type,
};

use super::Items;
use crate::embedded::API_NOTES;
pub use mistake::{Malformed, Mistake, NotesError};
use write::{Writer, doc_of};

/// The notes of one API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// The API's name: the file's.
    #[serde(skip)]
    pub api: String,
    /// The headers whose declarations are the API's, those of any release.
    pub headers: Vec<String>,
    /// If not empty, the only items of those headers that count, with what they use there.
    #[serde(default)]
    pub only: Vec<String>,
    /// The macros that hold the API's own version, in order.
    #[serde(default)]
    pub version: Vec<String>,
    /// Which side fills the structs whose names begin so.
    #[serde(default)]
    pub prefixes: BTreeMap<String, Side>,
    /// The functions that the plugin defines, with the evidence.
    #[serde(default)]
    pub entry_points: BTreeMap<String, String>,
    /// Our own line about each item that nothing else need be said of.
    #[serde(default)]
    docs: BTreeMap<String, String>,
    /// What is said of each item.
    #[serde(default)]
    pub item: BTreeMap<String, ItemNote>,
}

/// What is said of one item.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemNote {
    doc: Option<String>,
    evidence: Option<String>,
    rust: Option<String>,
    filled_by: Option<Side>,
    overrides: Option<Overrides>,
    receiver: Option<Receiver>,
    author_trait: Option<String>,
    presence: Vec<PresenceNote>,
    fields: BTreeMap<String, FieldNote>,
    params: BTreeMap<String, ParamNote>,
}

/// One presence, said of many fields at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresenceNote {
    value: Presence,
    fields: Vec<String>,
    evidence: String,
    overrides: Option<Overrides>,
}

/// What is said of one field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FieldNote {
    doc: Option<String>,
    evidence: Option<String>,
    overrides: Option<Overrides>,
    filled_by: Option<Side>,
    direction: Option<Direction>,
    neutral: Option<String>,
    params: BTreeMap<String, ParamNote>,
}

/// What is said of one parameter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ParamNote {
    evidence: Option<String>,
    overrides: Option<Overrides>,
    direction: Option<Direction>,
    transfer: Option<Transfer>,
    scope: Option<Scope>,
}

/// What a note knowingly contradicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Overrides {
    Comment,
}

/// The names that the other known releases declare: `ITEM`, `ITEM.member`, `ITEM.slot.param`.
#[derive(Debug, Default)]
pub struct Known(BTreeSet<String>);

impl Known {
    /// The names in a set of snapshots.
    pub fn from_apis<'a>(apis: impl IntoIterator<Item = &'a Api>) -> Self {
        let mut names = BTreeSet::new();
        for (name, item) in apis.into_iter().flat_map(|api| &api.items) {
            names.insert(name.clone());
            names.extend(members(item).into_iter().map(|one| format!("{name}.{one}")));
        }
        Self(names)
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

fn members(item: &Item) -> Vec<String> {
    match item {
        Item::Struct(item) => item.fields.iter().flat_map(slot).collect(),
        Item::Function(item) => params(&item.signature).collect(),
        Item::Callback(item) => params(&item.signature).collect(),
        _ => Vec::new(),
    }
}

/// A field, and its parameters if it is a function.
fn slot(field: &Field) -> Vec<String> {
    let mut names = vec![field.name.clone()];
    if let Type::Function(signature) = &field.ty {
        names.extend(params(signature).map(|param| format!("{}.{param}", field.name)));
    }
    names
}

fn params(signature: &Signature) -> impl Iterator<Item = String> {
    signature.params.iter().map(|param| param.name.clone())
}

impl Notes {
    /// The notes of all APIs, as the binary carries them.
    ///
    /// # Errors
    /// Where one is malformed.
    pub fn all() -> Result<Vec<Self>, NotesError> {
        API_NOTES
            .iter()
            .map(|(file, text)| Self::parse(file.trim_end_matches(".toml"), text))
            .collect()
    }

    /// Reads the notes of `api`.
    ///
    /// # Errors
    /// Where the text is not TOML of the documented form.
    pub fn parse(api: &str, text: &str) -> Result<Self, NotesError> {
        let notes: Self = toml::from_str(text).map_err(|error| {
            NotesError::Malformed(Box::new(Malformed {
                file: file_of(api),
                message: error.message().to_string(),
                source_code: NamedSource::new(file_of(api), text.to_string()),
                span: error.span().map(SourceSpan::from),
            }))
        })?;
        Ok(Self {
            api: api.into(),
            ..notes
        })
    }

    /// Says what the notes say.
    pub(super) fn annotate(&self, items: &mut Items, known: &Known) -> Result<(), NotesError> {
        let mut writer = Writer {
            file: file_of(&self.api),
            known,
            mistakes: Vec::new(),
        };
        for name in self
            .entry_points
            .keys()
            .filter(|name| !is_function(items, name))
        {
            writer.unused(name, &format!("entry_points.{name}"));
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

fn file_of(api: &str) -> String {
    format!("headers/apis/{api}.toml")
}

fn is_function(items: &Items, name: &str) -> bool {
    matches!(items.get(name), Some(Item::Function(_)))
}
