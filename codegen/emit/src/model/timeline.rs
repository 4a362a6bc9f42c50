//! The APIs of all releases together: the newest declaration of each name, the releases that have it, and the
//! facts of older releases that still apply. A plugin is built once and runs on all of these releases.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Api, Enum, History, Item, Presence, Release, Struct};

use super::item_releases::{ItemReleases, Layouts};
use super::offsets;
use super::releases::{Span, parse_minor};

/// The releases that have each item and each member of it.
#[derive(Default)]
pub struct Timeline {
    known: BTreeSet<Release>,
    release_texts: BTreeMap<(String, String), String>,
    layouts: BTreeMap<String, Layouts>,
    /// The history of the items over the releases that load plugins.
    pub history: History,
}

impl ItemReleases for Timeline {
    fn release_text(&self, item: &str, member: &str) -> &str {
        let key = (item.to_owned(), member.to_owned());
        self.release_texts.get(&key).map_or("", String::as_str)
    }

    fn layouts(&self, item: &str) -> Option<&Layouts> {
        self.layouts.get(item)
    }
}

impl Timeline {
    /// Computes the timeline of the snapshots of all releases.
    pub fn new(apis: &[Api]) -> Self {
        let known = apis.iter().map(|api| parse_minor(&api.release)).collect();
        let mut declared: BTreeMap<&str, BTreeMap<&str, BTreeSet<Release>>> = BTreeMap::new();
        for api in apis {
            let release = parse_minor(&api.release);
            for (name, item) in &api.items {
                let members = declared.entry(name).or_default();
                for member in [""].into_iter().chain(members_of(item)) {
                    members.entry(member).or_default().insert(release);
                }
            }
        }
        let supported = apis
            .iter()
            .filter(|api| parse_minor(&api.release) >= Release::FIRST_SUPPORTED);
        let history = History::from_apis(&supported.cloned().collect::<Vec<_>>());
        let mut timeline = Self {
            known,
            release_texts: BTreeMap::new(),
            layouts: offsets::differing_layouts(&history),
            history,
        };
        for (name, members) in &declared {
            timeline.add_item(name, members);
        }
        timeline
    }

    /// Returns the newest final release, or the newest preview if there is no final one.
    pub fn newest(&self) -> Option<Release> {
        let previews: BTreeSet<Release> = self.previews().into_iter().map(|(_, it)| it).collect();
        let mut finals = self.known.iter().filter(|it| !previews.contains(it));
        finals.next_back().or(self.known.last()).copied()
    }

    /// Returns the known previews: the version that `TF_Version()` returns, and the minor release.
    pub fn previews(&self) -> Vec<(String, Release)> {
        let previews = self.history.previews.iter();
        let parse = |(release, exact): (&String, &String)| {
            let version = exact.parse::<Release>().ok()?.host_version();
            Some((version, parse_minor(release)))
        };
        previews.filter_map(parse).collect()
    }

    /// Returns the label of a release in docs: `2.21`, or `2.22 (preview)`.
    fn label(&self, release: Release) -> String {
        let mut previews = self.previews().into_iter();
        match previews.any(|(_, preview)| preview == release) {
            true => format!("{release} (preview)"),
            false => release.to_string(),
        }
    }

    /// Adds the releases of an item, and those of its members that differ from them.
    fn add_item(&mut self, name: &str, members: &BTreeMap<&str, BTreeSet<Release>>) {
        // A single release does not show when an item was added or removed.
        if self.known.len() < 2 {
            return;
        }
        let of_item = &members[""];
        for (member, releases) in members {
            if member.is_empty() || releases != of_item {
                let key = (name.to_owned(), (*member).to_owned());
                self.release_texts.insert(key, self.spans(releases));
            }
        }
    }

    /// Formats releases: `2.5 to 2.18`, `2.7 on`, `2.5, 2.9 on`, `2.22 (preview) on`.
    pub fn spans(&self, releases: &BTreeSet<Release>) -> String {
        let newest = self.known.last();
        let mut runs: Vec<Span> = Vec::new();
        let mut is_in_run = false;
        for release in &self.known {
            let has = releases.contains(release);
            match runs.last_mut() {
                Some(run) if has && is_in_run => run.1 = *release,
                _ if has => runs.push((*release, *release)),
                _ => {}
            }
            is_in_run = has;
        }
        let texts = runs.iter().map(|(first, last)| match () {
            () if Some(last) == newest => format!("{} on", self.label(*first)),
            () if first == last => self.label(*first),
            () => format!("{} to {}", first, self.label(*last)),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the newest declarations of every API. An item that only older releases have is added from the last
/// of them.
pub fn merge_newest(apis: &[Api]) -> Vec<Api> {
    let mut order: Vec<&Api> = apis.iter().collect();
    order.sort_by_key(|api| {
        (
            std::cmp::Reverse(parse_minor(&api.release)),
            api.name.clone(),
        )
    });
    let mut merged: BTreeMap<&str, Api> = BTreeMap::new();
    let mut declared: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for api in order {
        merged.entry(&api.name).or_insert_with(|| Api {
            items: BTreeMap::new(),
            ..api.clone()
        });
        for (name, item) in &api.items {
            match declared.get(name.as_str()) {
                Some((release, declaring_api)) if *release != api.release => {
                    let newer = merged.get_mut(declaring_api);
                    let newer = newer.and_then(|api| api.items.get_mut(name));
                    add_older_facts(newer, item, parse_minor(&api.release));
                }
                // A new name, or one that is declared twice in one release, which the catalog rejects.
                _ => {
                    declared.insert(name, (&api.release, &api.name));
                    let target = merged.get_mut(api.name.as_str());
                    target.map(|it| it.items.insert(name.clone(), item.clone()));
                }
            }
        }
    }
    merged.into_values().collect()
}

/// Adds the facts of an older declaration that apply to a plugin which supports its release.
fn add_older_facts(newer: Option<&mut Item>, older: &Item, release: Release) {
    match (newer, older) {
        (Some(Item::Enum(newer)), Item::Enum(older)) => add_variants(newer, older),
        (Some(Item::Struct(newer)), Item::Struct(older)) if release >= Release::FIRST_SUPPORTED => {
            add_required_slots(newer, older);
        }
        _ => {}
    }
}

/// Adds enumerators that the newest release has removed.
fn add_variants(newer: &mut Enum, older: &Enum) {
    for variant in &older.variants {
        if newer.variants.iter().all(|it| it.name != variant.name) {
            newer.variants.push(variant.clone());
        }
    }
}

/// Marks a slot as required if the older release requires it.
fn add_required_slots(newer: &mut Struct, older: &Struct) {
    for field in &mut newer.fields {
        let older_field = older.fields.iter().find(|it| it.name == field.name);
        let required = older_field
            .and_then(|it| it.presence.as_ref())
            .filter(|it| it.value == Presence::Required);
        if let Some(required) = required {
            field.presence = Some(required.clone());
        }
    }
}

fn members_of(item: &Item) -> Vec<&str> {
    match item {
        Item::Struct(it) => it.fields.iter().map(|it| it.name.as_str()).collect(),
        Item::Union(it) => it.fields.iter().map(|it| it.name.as_str()).collect(),
        Item::Enum(it) => it.variants.iter().map(|it| it.name.as_str()).collect(),
        _ => Vec::new(),
    }
}
