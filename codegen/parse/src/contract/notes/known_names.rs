//! The names that known releases declare: a note about one of these is not a mistake.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use sp_ir::{Api, Field, Item, Signature, Type};

use crate::contract::Items;
use sp_data::embedded::SNAPSHOTS;

/// Names in the form `ITEM`, `ITEM.member` or `ITEM.slot.param`.
#[derive(Debug)]
pub enum KnownNames {
    /// A set of names.
    Names(BTreeSet<String>),
    /// The names in the embedded snapshots. These are searched by line, not parsed: a snapshot has one item on each
    /// line.
    Committed,
    /// Any name, for headers at hand: `import` has reported the mistakes in the notes. The snapshots are those of the
    /// newest known release; a comment that differs from that release's takes precedence over a note.
    AtHand(Vec<Api>),
}

impl Default for KnownNames {
    fn default() -> Self {
        Self::Names(BTreeSet::new())
    }
}

impl KnownNames {
    /// Returns the names in a set of snapshots.
    pub fn from_apis<'a>(apis: impl IntoIterator<Item = &'a Api>) -> Self {
        let mut names = BTreeSet::new();
        for (name, item) in apis.into_iter().flat_map(|api| &api.items) {
            names.insert(name.clone());
            names.extend(
                members(item)
                    .into_iter()
                    .map(|member| format!("{name}.{member}")),
            );
        }
        Self::Names(names)
    }

    /// Returns the items of `api` in the newest known release, or `None` if the headers are not at hand.
    pub(in crate::contract) fn baseline(&self, api: &str) -> Option<&Items> {
        let Self::AtHand(baseline) = self else {
            return None;
        };
        static EMPTY: Items = Items::new();
        let known = baseline.iter().find(|known| known.name == api);
        Some(known.map_or(&EMPTY, |known| &known.items))
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Self::Names(names) => names.contains(name),
            Self::Committed => is_committed(name),
            Self::AtHand(_) => true,
        }
    }
}

fn is_committed(name: &str) -> bool {
    let (item, member) = name.split_once('.').unwrap_or((name, ""));
    let lines = snapshot_lines().get(item).map_or(&[][..], Vec::as_slice);
    match member {
        "" => !lines.is_empty(),
        member => lines.iter().any(|line| declares(line, member)),
    }
}

fn declares(line: &str, member: &str) -> bool {
    let item = serde_json::from_str::<Item>(line);
    item.is_ok_and(|item| members(&item).iter().any(|known| known == member))
}

/// Returns the lines of all snapshots, by the name of their item.
fn snapshot_lines() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static LINES: OnceLock<HashMap<&str, Vec<&str>>> = OnceLock::new();
    LINES.get_or_init(|| {
        let mut lines: HashMap<&str, Vec<&str>> = HashMap::new();
        for line in SNAPSHOTS
            .iter()
            .flat_map(|(_, snapshot)| snapshot.text().lines())
        {
            let Some((name, item)) = line
                .strip_prefix('"')
                .and_then(|rest| rest.split_once("\":{"))
            else {
                continue;
            };
            if item.starts_with("\"kind\"") {
                let item = &line[name.len() + 3..];
                lines
                    .entry(name)
                    .or_default()
                    .push(item.trim_end_matches(','));
            }
        }
        lines
    })
}

fn members(item: &Item) -> Vec<String> {
    match item {
        Item::Struct(item) => item.fields.iter().flat_map(field_names).collect(),
        Item::Function(item) => param_names(&item.signature).collect(),
        Item::Callback(item) => param_names(&item.signature).collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of a field and, if it is a function, those of its parameters.
fn field_names(field: &Field) -> Vec<String> {
    let mut names = vec![field.name.clone()];
    if let Type::Function(signature) = &field.ty {
        names.extend(param_names(signature).map(|param| format!("{}.{param}", field.name)));
    }
    names
}

fn param_names(signature: &Signature) -> impl Iterator<Item = String> {
    signature.params.iter().map(|param| param.name.clone())
}
