//! What a release changed, told after an import: which items came, went and changed beside the release
//! before it, which new structs want a note, and where it newly contradicts its own rules.

use crate::lint;
use sp_data::embedded::SNAPSHOTS;
use sp_data::release::Release;
use sp_data::symbols::Symbols;
use sp_ir::{Api, History, Item};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// How one API differs from the release before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The API.
    pub api: String,
    /// Items that were not there.
    pub new: Vec<String>,
    /// Items that are no more.
    pub gone: Vec<String>,
    /// Items that say something else, but for where they stand and what is written of them.
    pub changed: Vec<String>,
    /// New structs and callbacks of which no note says anything.
    pub unsaid: Vec<String>,
    /// Contradictions that the release before had not: `rule ITEM`.
    pub lints: Vec<String>,
}

/// The changes of `apis` beside the newest release before theirs that is known: that release, and a
/// line's worth for each API that differs. Nothing where none is known.
pub fn since_last(
    apis: &[Api],
    release: Release,
    folder: &Path,
    symbols: &Symbols,
) -> Option<(Release, Vec<Change>)> {
    let last = known(folder)
        .into_iter()
        .filter(|one| *one < release.key())
        .max()?;
    let names: BTreeSet<String> = apis
        .iter()
        .map(|api| api.name.clone())
        .chain(names(folder))
        .collect();
    let before = names.iter().filter_map(|name| snapshot(folder, name, last));
    let before: Vec<Api> = before.collect();
    let lints = new_lints(&before, apis, symbols);
    let change = |name: &String| {
        let of = |apis: &'_ [Api]| apis.iter().position(|api| api.name == *name);
        let (old, new) = (
            of(&before).map(|at| &before[at]),
            of(apis).map(|at| &apis[at]),
        );
        let mut change = between(name, old, new);
        change.lints = lints.get(name).cloned().unwrap_or_default();
        change.differs().then_some(change)
    };
    Some((last, names.iter().filter_map(change).collect()))
}

/// By API, what the rules have against the new release and had not against the one before.
fn new_lints(before: &[Api], now: &[Api], symbols: &Symbols) -> BTreeMap<String, Vec<String>> {
    let told = |apis: &[Api], history: &History| -> BTreeSet<(String, String)> {
        let lints = apis.iter().flat_map(|api| {
            let found = lint::all(api, history, symbols).into_iter();
            found.map(|lint| (api.name.clone(), format!("{} {}", lint.id, lint.item)))
        });
        lints.collect()
    };
    let both: Vec<Api> = before.iter().chain(now).cloned().collect();
    let known = told(before, &History::from_apis(before));
    let mut new: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (api, lint) in told(now, &History::from_apis(&both)) {
        if !known.contains(&(api.clone(), lint.clone())) {
            new.entry(api).or_default().push(lint);
        }
    }
    new
}

fn between(name: &str, old: Option<&Api>, new: Option<&Api>) -> Change {
    let (old_items, new_items) = (facts(old), facts(new));
    let mut change = Change {
        api: name.to_owned(),
        ..Change::default()
    };
    for (item, fact) in &new_items {
        match old_items.get(item) {
            None => change.new.push(item.clone()),
            Some(before) if before != fact => change.changed.push(item.clone()),
            Some(_) => {}
        }
    }
    let is_gone = |item: &&String| !new_items.contains_key(*item);
    change.gone = old_items.keys().filter(is_gone).cloned().collect();
    let items = new.into_iter().flat_map(|api| api.items.iter());
    let unsaid = items
        .filter(|(_, item)| wants_note(item))
        .map(|(name, _)| name.to_string());
    change.unsaid = unsaid.filter(|item| change.new.contains(item)).collect();
    change
}

impl Change {
    fn differs(&self) -> bool {
        let lists = [&self.new, &self.gone, &self.changed, &self.lints];
        lists.iter().any(|list| !list.is_empty())
    }
}

fn wants_note(item: &Item) -> bool {
    match item {
        Item::Struct(found) => found.doc.is_none(),
        Item::Callback(found) => found.doc.is_none(),
        _ => false,
    }
}

/// Each item's facts as JSON, without its place and our own words.
fn facts(api: Option<&Api>) -> BTreeMap<String, serde_json::Value> {
    let items = api.into_iter().flat_map(|api| api.items.iter());
    let fact = |(name, item)| -> (String, serde_json::Value) {
        let mut value = serde_json::to_value(item).unwrap_or_default();
        strip(&mut value);
        (ToString::to_string(name), value)
    };
    items.map(fact).collect()
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|key, _| !matches!(key.as_str(), "loc" | "doc" | "evidence"));
            map.values_mut().for_each(strip);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The minors that the folder or the binary has snapshots of.
fn known(folder: &Path) -> BTreeSet<Release> {
    let of = |file: &str| file.rsplit('/').next()?.strip_suffix(".json")?.parse().ok();
    let carried = SNAPSHOTS.iter().filter_map(|(file, _)| of(file));
    let apis = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = apis.flat_map(|api| fs::read_dir(api.path()).into_iter().flatten().flatten());
    let stored = files.filter_map(|file| of(file.file_name().to_str()?));
    carried.chain(stored).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let carried = SNAPSHOTS
        .iter()
        .filter_map(|(file, _)| Some(file.split_once('/')?.0.to_owned()));
    let apis = fs::read_dir(folder).into_iter().flatten().flatten();
    let stored = apis.filter_map(|api| api.file_name().to_str().map(str::to_owned));
    carried.chain(stored).collect()
}

fn snapshot(folder: &Path, api: &str, release: Release) -> Option<Api> {
    let name = format!("{api}/{release}.json");
    let stored = fs::read_to_string(folder.join(&name)).ok();
    let carried = || {
        let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
        found.map(|(_, text)| (*text).to_owned())
    };
    Api::from_json(&stored.or_else(carried)?).ok()
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lists = [
            ("new", &self.new),
            ("gone", &self.gone),
            ("changed", &self.changed),
            ("new and in no note", &self.unsaid),
            ("against the headers' own rules", &self.lints),
        ];
        let some = lists.iter().filter(|(_, items)| !items.is_empty());
        let some: Vec<String> = some
            .map(|(word, items)| format!("{} {word} ({})", items.len(), shown(items)))
            .collect();
        write!(f, "{}: {}", self.api, some.join(", "))
    }
}

/// The first few.
fn shown(items: &[String]) -> String {
    const SHOWN: usize = 4;
    let list = items[..items.len().min(SHOWN)].join(", ");
    match items.len() > SHOWN {
        true => list + ", ...",
        false => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::release::Release;

    fn api(name: &str, release: &str) -> Api {
        let file = format!("{name}/{release}.json");
        let found = SNAPSHOTS.iter().find(|(known, _)| *known == file);
        Api::from_json(found.unwrap().1).unwrap()
    }

    #[test]
    fn what_came_with_2_7_is_told() {
        let (new, old) = (api("stream_executor", "2.7"), api("stream_executor", "2.6"));
        let change = between("stream_executor", Some(&old), Some(&new));
        assert!(
            change.changed.contains(&"SP_StreamExecutor".to_owned()),
            "{change}"
        );
        assert!(
            change.to_string().starts_with("stream_executor: "),
            "{change}"
        );
    }

    #[test]
    fn an_item_that_only_moved_did_not_change() {
        let (new, old) = (api("tf_buffer", "2.21"), api("tf_buffer", "2.20"));
        assert!(!between("tf_buffer", Some(&old), Some(&new)).differs());
    }

    #[test]
    fn the_release_before_is_the_newest_known_before() {
        let empty = tempfile::tempdir().unwrap();
        let release: Release = "2.10.1".parse().unwrap();
        let apis = [api("grappler", "2.10")];
        let symbols = Symbols::embedded().unwrap();
        let since = |release| since_last(&apis, release, empty.path(), &symbols);
        let (last, changes) = since(release).unwrap();
        assert_eq!(last.to_string(), "2.9");
        let grappler = changes.iter().find(|change| change.api == "grappler");
        let lints = &grappler.unwrap().lints;
        let grew = "layout_changed_version_not_bumped TP_OptimizerConfigs";
        assert!(lints.contains(&grew.to_owned()), "{lints:?}");
        assert!(since("2.4".parse().unwrap()).is_none());
    }

    #[test]
    fn an_api_that_is_gone_is_all_gone() {
        let old = api("grappler", "2.10");
        let change = between("grappler", Some(&old), None);
        assert_eq!(change.gone.len(), old.items.len());
    }
}
