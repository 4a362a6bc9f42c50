//! `headers/apis/<api>.toml`: what no header says, each with what it rests on.
//!
//! A note that nothing uses is a mistake, and so is one that contradicts a comment without
//! saying so. All mistakes of a file are reported together.

use std::collections::{BTreeMap, BTreeSet};

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::Deserialize;
use sp_ir::{
    Api, Direction, Evidence, Field, Function, Item, Param, Presence, Receiver, Scope, Side,
    Stated, Struct, Transfer, Type,
};
use thiserror::Error;

use super::Items;
use crate::embedded::API_NOTES;

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

/// The names that the other known releases declare: `ITEM`, `ITEM.member`.
#[derive(Debug, Default)]
pub struct Known(BTreeSet<String>);

impl Known {
    /// The names in a set of snapshots.
    pub fn from_apis<'a>(apis: impl IntoIterator<Item = &'a Api>) -> Self {
        let mut names = BTreeSet::new();
        for (name, item) in apis.into_iter().flat_map(|api| &api.items) {
            names.insert(name.clone());
            names.extend(members(item).map(|member| format!("{name}.{member}")));
        }
        Self(names)
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

fn members(item: &Item) -> Box<dyn Iterator<Item = &str> + '_> {
    match item {
        Item::Struct(item) => Box::new(item.fields.iter().map(|field| field.name.as_str())),
        Item::Function(item) => Box::new(
            item.signature
                .params
                .iter()
                .map(|param| param.name.as_str()),
        ),
        _ => Box::new(std::iter::empty()),
    }
}

/// Notes cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum NotesError {
    /// They are not of the documented form.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Malformed(Box<Malformed>),
    /// They say things that do not hold.
    #[error("{file}: {} of its notes cannot stand", mistakes.len())]
    #[diagnostic(code(sp_gen::notes::mistaken))]
    Mistaken {
        /// The notes file.
        file: String,
        /// All of them.
        #[related]
        mistakes: Vec<Mistake>,
    },
}

/// Notes that are not TOML of the documented form.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}: {message}")]
#[diagnostic(
    code(sp_gen::notes::malformed),
    help("headers/apis/README.md has the form")
)]
pub struct Malformed {
    file: String,
    message: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: Option<SourceSpan>,
}

/// One note that cannot stand.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum Mistake {
    /// Its subject is nowhere.
    #[error("{file}: nothing uses `{key}`")]
    #[diagnostic(
        code(sp_gen::notes::unused),
        help(
            "no known release declares it, or it is of a kind this key says nothing about; correct the name or remove the note"
        )
    )]
    Unused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// The header's comment says otherwise.
    #[error("{file}: `{key}` says {note}, the comment at {comment} says {said}")]
    #[diagnostic(
        code(sp_gen::notes::contradiction),
        help("if the header is wrong, say so: overrides = \"comment\"")
    )]
    Contradiction {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
        /// What the note says.
        note: String,
        /// Where the comment is.
        comment: String,
        /// What the comment says.
        said: String,
    },
    /// It overrides a comment that says nothing else.
    #[error("{file}: `{key}` overrides a comment, and no comment says otherwise")]
    #[diagnostic(code(sp_gen::notes::override_unused), help("remove `overrides`"))]
    OverrideUnused {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
    /// Nothing says how it is known.
    #[error("{file}: `{key}` has no evidence")]
    #[diagnostic(
        code(sp_gen::notes::no_evidence),
        help("add `evidence = \"...\"` to it or to what it is in: what shows that it is so")
    )]
    NoEvidence {
        /// The notes file.
        file: String,
        /// The key in it.
        key: String,
    },
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

/// How a note's facts are known, and whether they knowingly contradict a comment.
#[derive(Clone, Copy)]
struct Basis<'n> {
    evidence: Option<&'n str>,
    overrides: bool,
}

impl<'n> Basis<'n> {
    fn new(evidence: &'n Option<String>, overrides: Option<Overrides>) -> Self {
        Self {
            evidence: evidence.as_deref(),
            overrides: overrides.is_some(),
        }
    }

    /// A note inside another has its evidence, unless it brings its own.
    fn within(self, outer: Self) -> Self {
        Self {
            evidence: self.evidence.or(outer.evidence),
            ..self
        }
    }
}

/// Writes notes into items and gathers what is wrong with them.
struct Writer<'a> {
    file: String,
    known: &'a Known,
    mistakes: Vec<Mistake>,
}

impl Writer<'_> {
    fn unused(&mut self, subject: &str, key: &str) {
        if !self.known.has(subject) {
            self.useless(key);
        }
    }

    fn useless(&mut self, key: &str) {
        self.mistakes.push(Mistake::Unused {
            file: self.file.clone(),
            key: key.into(),
        });
    }

    fn item(&mut self, name: &str, item: &mut Item, note: &ItemNote, key: &str) {
        if let Some(doc) = &note.doc {
            *doc_of(item) = Some(doc.clone());
        }
        match item {
            Item::Handle(item) => item.rust = note.rust.clone(),
            _ if note.rust.is_some() => self.useless(&format!("{key}.rust")),
            _ => {}
        }
        match item {
            Item::Struct(item) => self.structure(name, item, note, key),
            _ => self.no_struct(note, key),
        }
        let basis = Basis::new(&note.evidence, None);
        match item {
            Item::Function(Function { signature, .. }) => {
                self.params(name, &mut signature.params, &note.params, basis, key);
            }
            Item::Callback(callback) => {
                self.params(
                    name,
                    &mut callback.signature.params,
                    &note.params,
                    basis,
                    key,
                );
            }
            _ => self.all_useless(note.params.keys(), &format!("{key}.params")),
        }
    }

    fn no_struct(&mut self, note: &ItemNote, key: &str) {
        let said = [
            ("filled_by", note.filled_by.is_some()),
            ("overrides", note.overrides.is_some()),
            ("receiver", note.receiver.is_some()),
            ("author_trait", note.author_trait.is_some()),
            ("presence", !note.presence.is_empty()),
        ];
        for (name, _) in said.into_iter().filter(|(_, said)| *said) {
            self.useless(&format!("{key}.{name}"));
        }
        self.all_useless(note.fields.keys(), &format!("{key}.fields"));
    }

    fn all_useless<'k>(&mut self, names: impl Iterator<Item = &'k String>, key: &str) {
        for name in names {
            self.useless(&format!("{key}.{name}"));
        }
    }

    fn structure(&mut self, name: &str, item: &mut Struct, note: &ItemNote, key: &str) {
        let basis = Basis::new(&note.evidence, note.overrides);
        self.fact(
            &mut item.filled_by,
            &note.filled_by,
            basis,
            &format!("{key}.filled_by"),
        );
        let plain = Basis {
            overrides: false,
            ..basis
        };
        self.fact(
            &mut item.receiver,
            &note.receiver,
            plain,
            &format!("{key}.receiver"),
        );
        self.fact(
            &mut item.author_trait,
            &note.author_trait,
            plain,
            &format!("{key}.author_trait"),
        );
        for presence in &note.presence {
            self.presence(name, item, presence, key);
        }
        for (field, said) in &note.fields {
            let key = format!("{key}.fields.{field}");
            match item.fields.iter_mut().find(|one| one.name == *field) {
                Some(found) => self.field(&format!("{name}.{field}"), found, said, plain, &key),
                None => self.unused(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn presence(&mut self, name: &str, item: &mut Struct, note: &PresenceNote, key: &str) {
        let basis = Basis {
            evidence: Some(&note.evidence),
            overrides: note.overrides.is_some(),
        };
        for field in &note.fields {
            let key = format!("{key}.presence: {field}");
            match item.fields.iter_mut().find(|one| one.name == *field) {
                Some(found) => self.fact(&mut found.presence, &Some(note.value), basis, &key),
                None => self.unused(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn field(&mut self, name: &str, item: &mut Field, note: &FieldNote, outer: Basis, key: &str) {
        if let Some(doc) = &note.doc {
            item.doc = Some(doc.clone());
        }
        let basis = Basis::new(&note.evidence, note.overrides).within(outer);
        self.fact(
            &mut item.filled_by,
            &note.filled_by,
            basis,
            &format!("{key}.filled_by"),
        );
        self.fact(
            &mut item.direction,
            &note.direction,
            basis,
            &format!("{key}.direction"),
        );
        let plain = Basis {
            overrides: false,
            ..basis
        };
        self.fact(
            &mut item.neutral,
            &note.neutral,
            plain,
            &format!("{key}.neutral"),
        );
        match &mut item.ty {
            Type::Function(signature) => {
                self.params(name, &mut signature.params, &note.params, plain, key);
            }
            _ => self.all_useless(note.params.keys(), &format!("{key}.params")),
        }
    }

    fn params(
        &mut self,
        name: &str,
        params: &mut [Param],
        notes: &BTreeMap<String, ParamNote>,
        outer: Basis,
        key: &str,
    ) {
        for (param, note) in notes {
            let key = format!("{key}.params.{param}");
            let Some(found) = params.iter_mut().find(|one| one.name == *param) else {
                self.unused(&format!("{name}.{param}"), &key);
                continue;
            };
            let basis = Basis::new(&note.evidence, note.overrides).within(outer);
            self.fact(
                &mut found.direction,
                &note.direction,
                basis,
                &format!("{key}.direction"),
            );
            self.fact(
                &mut found.transfer,
                &note.transfer,
                basis,
                &format!("{key}.transfer"),
            );
            self.fact(
                &mut found.scope,
                &note.scope,
                basis,
                &format!("{key}.scope"),
            );
        }
    }

    /// States one fact; `None` says nothing.
    fn fact<T: Clone + PartialEq + std::fmt::Debug>(
        &mut self,
        slot: &mut Option<Stated<T>>,
        value: &Option<T>,
        basis: Basis,
        key: &str,
    ) {
        let Some(value) = value else { return };
        let (file, key) = (self.file.clone(), key.to_string());
        let Some(evidence) = basis.evidence else {
            return self.mistakes.push(Mistake::NoEvidence { file, key });
        };
        match (contradicted(slot, value), basis.overrides) {
            (Some((comment, said)), false) => {
                let note = format!("{value:?}");
                self.mistakes.push(Mistake::Contradiction {
                    file,
                    key,
                    note,
                    comment,
                    said,
                });
            }
            (None, true) => self.mistakes.push(Mistake::OverrideUnused { file, key }),
            _ => {
                let evidence = Evidence::Notes(evidence.into());
                *slot = Some(Stated {
                    value: value.clone(),
                    evidence,
                });
            }
        }
    }
}

/// The comment that says otherwise, and what it says.
fn contradicted<T: PartialEq + std::fmt::Debug>(
    slot: &Option<Stated<T>>,
    value: &T,
) -> Option<(String, String)> {
    match slot {
        Some(Stated {
            value: said,
            evidence: Evidence::Comment(loc),
        }) if said != value => Some((format!("{}:{}", loc.file, loc.line), format!("{said:?}"))),
        _ => None,
    }
}

fn doc_of(item: &mut Item) -> &mut Option<String> {
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
