//! All releases of the APIs as one: each name's newest form, the releases that have it, and what
//! older releases had besides. A plugin is built once and runs on all of them.

use std::collections::{BTreeMap, BTreeSet};

use sp_expand::structure::{ItemReleases, Layouts};
use sp_ir::{Api, Enum, History, Item, Presence, Release, Struct};

use crate::minor::{FIRST_LOADER, Minor, dotted, minor};
use crate::places;

/// The releases that have each item and each member of it.
#[derive(Default)]
pub struct Timeline {
    known: BTreeSet<Minor>,
    dates: BTreeMap<(String, String), String>,
    layouts: BTreeMap<String, Layouts>,
    /// What became of items over the releases that load plugins.
    pub history: History,
}

impl ItemReleases for Timeline {
    fn release_text(&self, item: &str, member: &str) -> &str {
        let key = (item.to_owned(), member.to_owned());
        self.dates.get(&key).map_or("", String::as_str)
    }

    fn layouts(&self, item: &str) -> Option<&Layouts> {
        self.layouts.get(item)
    }
}

impl Timeline {
    /// What the snapshots tell.
    pub fn of(apis: &[Api]) -> Self {
        let known = apis.iter().map(|api| minor(&api.release)).collect();
        let mut seen: BTreeMap<&str, BTreeMap<&str, BTreeSet<Minor>>> = BTreeMap::new();
        for api in apis {
            let release = minor(&api.release);
            for (name, item) in &api.items {
                let members = seen.entry(name).or_default();
                for member in [""].into_iter().chain(members_of(item)) {
                    members.entry(member).or_default().insert(release);
                }
            }
        }
        let loaders = apis
            .iter()
            .filter(|api| minor(&api.release) >= FIRST_LOADER);
        let history = History::from_apis(&loaders.cloned().collect::<Vec<_>>());
        let mut timeline = Self {
            known,
            dates: BTreeMap::new(),
            layouts: places::layouts(&history),
            history,
        };
        for (name, members) in &seen {
            timeline.record(name, members);
        }
        timeline
    }

    /// Returns the newest final release, or the newest preview if there is no final one.
    pub fn newest(&self) -> Option<Minor> {
        let previews: BTreeSet<Minor> = self.previews().into_iter().map(|(_, it)| it).collect();
        let mut finals = self.known.iter().filter(|it| !previews.contains(it));
        finals.next_back().or(self.known.last()).copied()
    }

    /// Returns the previews that are known: what `TF_Version()` says there, and the minor release.
    pub fn previews(&self) -> Vec<(String, Minor)> {
        let previews = self.history.previews.iter();
        let read = |(release, exact): (&String, &String)| {
            let version = exact.parse::<Release>().ok()?.host_version();
            Some((version, minor(release)))
        };
        previews.filter_map(read).collect()
    }

    /// Returns a release as docs name it: `2.21`, or `2.22 (preview)`.
    fn label(&self, release: Minor) -> String {
        let mut previews = self.previews().into_iter();
        match previews.any(|(_, preview)| preview == release) {
            true => format!("{} (preview)", dotted(release)),
            false => dotted(release),
        }
    }

    /// A member's releases are told only where they are not the item's own.
    fn record(&mut self, name: &str, members: &BTreeMap<&str, BTreeSet<Minor>>) {
        // One release alone says nothing of when a thing came or went.
        if self.known.len() < 2 {
            return;
        }
        let whole = &members[""];
        for (member, releases) in members {
            if member.is_empty() || releases != whole {
                let key = (name.to_owned(), (*member).to_owned());
                self.dates.insert(key, self.spans(releases));
            }
        }
    }

    /// The releases in words: `2.5 to 2.18`, `2.7 on`, `2.5, 2.9 on`, `2.22 (preview) on`.
    pub fn spans(&self, releases: &BTreeSet<Minor>) -> String {
        let newest = self.known.last();
        let mut runs: Vec<(Minor, Minor)> = Vec::new();
        let mut goes_on = false;
        for release in &self.known {
            let has = releases.contains(release);
            match runs.last_mut() {
                Some(run) if has && goes_on => run.1 = *release,
                _ if has => runs.push((*release, *release)),
                _ => {}
            }
            goes_on = has;
        }
        let words = runs.iter().map(|(first, last)| match () {
            () if Some(last) == newest => format!("{} on", self.label(*first)),
            () if first == last => self.label(*first),
            () => format!("{} to {}", dotted(*first), self.label(*last)),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The newest form of every API; what only older releases have is kept as the last of them has it.
pub fn newest(apis: &[Api]) -> Vec<Api> {
    let mut order: Vec<&Api> = apis.iter().collect();
    order.sort_by_key(|api| (std::cmp::Reverse(minor(&api.release)), api.name.clone()));
    let mut merged: BTreeMap<&str, Api> = BTreeMap::new();
    let mut homes: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for api in order {
        merged.entry(&api.name).or_insert_with(|| Api {
            items: BTreeMap::new(),
            ..api.clone()
        });
        for (name, item) in &api.items {
            match homes.get(name.as_str()) {
                Some((release, home)) if *release != api.release => {
                    let newer = merged.get_mut(home);
                    let newer = newer.and_then(|api| api.items.get_mut(name));
                    carry_over(newer, item, minor(&api.release));
                }
                // New, or declared twice in one release, which the catalog refuses.
                _ => {
                    homes.insert(name, (&api.release, &api.name));
                    let into = merged.get_mut(api.name.as_str());
                    into.map(|it| it.items.insert(name.clone(), item.clone()));
                }
            }
        }
    }
    merged.into_values().collect()
}

/// What of an older release's form still counts for a plugin that serves it too.
fn carry_over(newer: Option<&mut Item>, older: &Item, release: Minor) {
    match (newer, older) {
        (Some(Item::Enum(newer)), Item::Enum(older)) => add_variants(newer, older),
        (Some(Item::Struct(newer)), Item::Struct(older)) if release >= FIRST_LOADER => {
            require_what_was_required(newer, older);
        }
        _ => {}
    }
}

/// Values that the enumeration no longer lists.
fn add_variants(newer: &mut Enum, older: &Enum) {
    for variant in &older.variants {
        if newer.variants.iter().all(|it| it.name != variant.name) {
            newer.variants.push(variant.clone());
        }
    }
}

/// A slot that any release refuses to see empty is required of a plugin that runs on all of them.
fn require_what_was_required(newer: &mut Struct, older: &Struct) {
    for field in &mut newer.fields {
        let before = older.fields.iter().find(|it| it.name == field.name);
        let required = before
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
