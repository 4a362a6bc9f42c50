//! Summary of a release's changes after its import: added, removed and changed items, new structs without a note, and
//! new lint findings.

use crate::lint;
use sp_data::embedded::SNAPSHOTS;
use sp_data::release::Release;
use sp_data::symbols::Symbols;
use sp_ir::{Api, History, Item};
use sp_system::input;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Differences of one API from the previous release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiChange {
    /// The API.
    pub api: String,
    /// Items that the previous release does not have.
    pub added: Vec<String>,
    /// Items that the release does not have.
    pub removed: Vec<String>,
    /// Items that differ in more than location, documentation and evidence.
    pub changed: Vec<String>,
    /// Added structs and callbacks without a note.
    pub undocumented: Vec<String>,
    /// Lint findings that the previous release does not have, as `rule ITEM`.
    pub lints: Vec<String>,
}

/// Returns the newest known release before `release`, and the changes of each API since it. Returns `None` if no
/// earlier release is known.
pub fn since_previous(
    apis: &[Api],
    release: Release,
    folder: &Path,
    symbols: &Symbols,
) -> Option<(Release, Vec<ApiChange>)> {
    let last = known_releases(folder)
        .into_iter()
        .filter(|known| *known < release.key())
        .max()?;
    let names = apis.iter().map(|api| api.name.clone());
    let names: BTreeSet<String> = names.chain(known_apis(folder)).collect();
    let before = names
        .iter()
        .filter_map(|name| read_snapshot(folder, name, last));
    let before: Vec<Api> = before.collect();
    let lints = new_lints(&before, apis, symbols);
    let change = |name: &String| {
        let position = |apis: &'_ [Api]| apis.iter().position(|api| api.name == *name);
        let old = position(&before).map(|index| &before[index]);
        let new = position(apis).map(|index| &apis[index]);
        let mut change = compare(name, old, new);
        change.lints = lints.get(name).cloned().unwrap_or_default();
        change.differs().then_some(change)
    };
    Some((last, names.iter().filter_map(change).collect()))
}

/// Returns, by API, the lint findings in `now` that `before` does not have.
fn new_lints(before: &[Api], now: &[Api], symbols: &Symbols) -> BTreeMap<String, Vec<String>> {
    let findings = |apis: &[Api], history: &History| -> BTreeSet<(String, String)> {
        let lints = apis.iter().flat_map(|api| {
            let found = lint::find_all(api, history, symbols).into_iter();
            found.map(|lint| (api.name.clone(), format!("{} {}", lint.id, lint.item)))
        });
        lints.collect()
    };
    let both: Vec<Api> = before.iter().chain(now).cloned().collect();
    let known = findings(before, &History::from_apis(before));
    let mut new: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (api, lint) in findings(now, &History::from_apis(&both)) {
        if !known.contains(&(api.clone(), lint.clone())) {
            new.entry(api).or_default().push(lint);
        }
    }
    new
}

fn compare(name: &str, old: Option<&Api>, new: Option<&Api>) -> ApiChange {
    let (old_items, new_items) = (item_facts(old), item_facts(new));
    let mut change = ApiChange {
        api: name.to_owned(),
        ..ApiChange::default()
    };
    for (item, fact) in &new_items {
        match old_items.get(item) {
            None => change.added.push(item.clone()),
            Some(before) if before != fact => change.changed.push(item.clone()),
            Some(_) => {}
        }
    }
    let is_removed = |item: &&String| !new_items.contains_key(*item);
    change.removed = old_items.keys().filter(is_removed).cloned().collect();
    let items = new.into_iter().flat_map(|api| api.items.iter());
    let undocumented = items
        .filter(|(_, item)| needs_note(item))
        .map(|(name, _)| name.to_string());
    change.undocumented = undocumented
        .filter(|item| change.added.contains(item))
        .collect();
    change
}

impl ApiChange {
    fn differs(&self) -> bool {
        let lists = [&self.added, &self.removed, &self.changed, &self.lints];
        lists.iter().any(|list| !list.is_empty())
    }
}

fn needs_note(item: &Item) -> bool {
    match item {
        Item::Struct(found) => found.doc.is_none(),
        Item::Callback(found) => found.doc.is_none(),
        _ => false,
    }
}

/// Returns each item as JSON without location, documentation and evidence.
fn item_facts(api: Option<&Api>) -> BTreeMap<String, serde_json::Value> {
    let items = api.into_iter().flat_map(|api| api.items.iter());
    let fact = |(name, item)| -> (String, serde_json::Value) {
        let mut value = serde_json::to_value(item).unwrap_or_default();
        remove_incidental(&mut value);
        (ToString::to_string(name), value)
    };
    items.map(fact).collect()
}

fn remove_incidental(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|key, _| !matches!(key.as_str(), "loc" | "doc" | "evidence"));
            map.values_mut().for_each(remove_incidental);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(remove_incidental),
        _ => {}
    }
}

/// Returns the minor releases with snapshots in the folder or in the binary.
fn known_releases(folder: &Path) -> BTreeSet<Release> {
    let release = |file: &str| file.rsplit('/').next()?.strip_suffix(".json")?.parse().ok();
    let embedded = SNAPSHOTS.iter().filter_map(|(file, _)| release(file));
    let apis = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = apis.flat_map(|api| fs::read_dir(api.path()).into_iter().flatten().flatten());
    let stored = files.filter_map(|file| release(file.file_name().to_str()?));
    embedded.chain(stored).collect()
}

/// Returns the names of the APIs with snapshots in the folder or in the binary.
fn known_apis(folder: &Path) -> Vec<String> {
    let embedded = SNAPSHOTS
        .iter()
        .filter_map(|(file, _)| Some(file.split_once('/')?.0.to_owned()));
    let apis = fs::read_dir(folder).into_iter().flatten().flatten();
    let stored = apis.filter_map(|api| api.file_name().to_str().map(str::to_owned));
    embedded.chain(stored).collect()
}

fn read_snapshot(folder: &Path, api: &str, release: Release) -> Option<Api> {
    let name = format!("{api}/{release}.json");
    let stored = input::read_text(&folder.join(&name)).ok();
    let embedded = || {
        let found = SNAPSHOTS.iter().find(|(file, _)| *file == name);
        found.map(|(_, snapshot)| snapshot.text().to_owned())
    };
    Api::from_json(&stored.or_else(embedded)?).ok()
}

impl std::fmt::Display for ApiChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lists = [
            ("added", &self.added),
            ("removed", &self.removed),
            ("changed", &self.changed),
            ("added without a note", &self.undocumented),
            ("new lint findings", &self.lints),
        ];
        let present = lists.iter().filter(|(_, items)| !items.is_empty());
        let present: Vec<String> = present
            .map(|(word, items)| format!("{} {word} ({})", items.len(), shorten(items)))
            .collect();
        write!(f, "{}: {}", self.api, present.join(", "))
    }
}

/// Returns the first items as a list, with dots if there are more.
fn shorten(items: &[String]) -> String {
    const MAX_LISTED: usize = 4;
    let list = items[..items.len().min(MAX_LISTED)].join(", ");
    match items.len() > MAX_LISTED {
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
        Api::from_json(found.unwrap().1.text()).unwrap()
    }

    #[test]
    fn reports_struct_changed_in_2_7() {
        let (new, old) = (api("stream_executor", "2.7"), api("stream_executor", "2.6"));
        let change = compare("stream_executor", Some(&old), Some(&new));
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
    fn ignores_change_of_location() {
        let (new, old) = (api("tf_buffer", "2.21"), api("tf_buffer", "2.20"));
        assert!(!compare("tf_buffer", Some(&old), Some(&new)).differs());
    }

    #[test]
    fn compares_with_newest_earlier_release() {
        let empty = tempfile::tempdir().unwrap();
        let release: Release = "2.10.1".parse().unwrap();
        let apis = [api("grappler", "2.10")];
        let symbols = Symbols::embedded().unwrap();
        let since = |release| since_previous(&apis, release, empty.path(), &symbols);
        let (last, changes) = since(release).unwrap();
        assert_eq!(last.to_string(), "2.9");
        let grappler = changes.iter().find(|change| change.api == "grappler");
        let lints = &grappler.unwrap().lints;
        let expected = "layout_changed_version_not_bumped TP_OptimizerConfigs";
        assert!(lints.contains(&expected.to_owned()), "{lints:?}");
        assert!(since("2.4".parse().unwrap()).is_none());
    }

    #[test]
    fn reports_all_items_of_removed_api() {
        let old = api("grappler", "2.10");
        let change = compare("grappler", Some(&old), None);
        assert_eq!(change.removed.len(), old.items.len());
    }
}
