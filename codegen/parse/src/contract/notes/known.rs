//! The names that other known releases declare: a note about one of those is no mistake here.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use sp_ir::{Api, Field, Item, Signature, Type};

use crate::contract::Items;
use sp_data::embedded::SNAPSHOTS;

/// `ITEM`, `ITEM.member`, `ITEM.slot.param`.
#[derive(Debug)]
pub enum Known {
    /// These.
    Names(BTreeSet<String>),
    /// Those in the snapshots that the binary carries. They are looked up, not read: a snapshot has
    /// an item a line.
    Committed,
    /// Any name: the headers are at hand, and `import` has reported mistakes in the notes. The
    /// snapshots are those of the newest known release; a comment that differs from that release's
    /// takes precedence over a note.
    AtHand(Vec<Api>),
}

impl Default for Known {
    fn default() -> Self {
        Self::Names(BTreeSet::new())
    }
}

impl Known {
    /// The names in a set of snapshots.
    pub fn from_apis<'a>(apis: impl IntoIterator<Item = &'a Api>) -> Self {
        let mut names = BTreeSet::new();
        for (name, item) in apis.into_iter().flat_map(|api| &api.items) {
            names.insert(name.clone());
            names.extend(members(item).into_iter().map(|one| format!("{name}.{one}")));
        }
        Self::Names(names)
    }

    /// Returns the items of `api` in the newest known release if the headers are at hand.
    pub(in crate::contract) fn baseline(&self, api: &str) -> Option<&Items> {
        let Self::AtHand(baseline) = self else {
            return None;
        };
        static NONE: Items = Items::new();
        let known = baseline.iter().find(|known| known.name == api);
        Some(known.map_or(&NONE, |known| &known.items))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        match self {
            Self::Names(names) => names.contains(key),
            Self::Committed => is_committed(key),
            Self::AtHand(_) => true,
        }
    }
}

fn is_committed(key: &str) -> bool {
    let (name, member) = key.split_once('.').unwrap_or((key, ""));
    let lines = lines().get(name).map_or(&[][..], Vec::as_slice);
    match member {
        "" => !lines.is_empty(),
        member => lines.iter().any(|line| declares(line, member)),
    }
}

fn declares(line: &str, member: &str) -> bool {
    let item = serde_json::from_str::<Item>(line);
    item.is_ok_and(|item| members(&item).iter().any(|one| one == member))
}

/// The lines of all snapshots by the item they are of.
fn lines() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static LINES: OnceLock<HashMap<&str, Vec<&str>>> = OnceLock::new();
    LINES.get_or_init(|| {
        let mut found: HashMap<&str, Vec<&str>> = HashMap::new();
        for line in SNAPSHOTS.iter().flat_map(|(_, text)| text.lines()) {
            let Some((name, item)) = line.strip_prefix('"').and_then(|it| it.split_once("\":{"))
            else {
                continue;
            };
            if item.starts_with("\"kind\"") {
                let item = &line[name.len() + 3..];
                found
                    .entry(name)
                    .or_default()
                    .push(item.trim_end_matches(','));
            }
        }
        found
    })
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
