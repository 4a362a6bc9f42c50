//! What happened to an item, release by release.

use serde::Serialize;
use sp_ir::{Epoch, History, Origin, Signature, Variant};

use super::span;
use super::table::{Mark, Table};
use sp_ir::c;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// It is declared from here on.
    Appeared,
    /// It changed in a way that older programs live with.
    Extended,
    /// It changed in a way that they do not.
    Changed,
    /// It is declared elsewhere, or is another name for something; nothing in memory changed.
    Renamed,
    /// It is declared no more.
    Went,
}

/// Something that happened to an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// The first release that has it so.
    pub release: String,
    /// What happened.
    pub what: What,
    /// In words.
    pub text: String,
}

/// All that happened to `name`, oldest first. That an item was there when its API began is no event.
pub fn events(history: &History, name: &str) -> Vec<Event> {
    let mut events = presence(history, name);
    if let Some(table) = Table::of(history, name) {
        events.extend((1..table.columns.len()).map(|column| relaid(&table, column)));
    }
    for epochs in [&history.functions, &history.callbacks, &history.slots] {
        let epochs = epochs.get(name).map_or(&[][..], Vec::as_slice);
        events.extend(epochs.windows(2).map(redeclared));
    }
    let epochs = history.enums.get(name).map_or(&[][..], Vec::as_slice);
    events.extend(epochs.windows(2).map(revalued));
    events.sort_by_key(|event| (place(history, &event.release), event.what));
    events
}

fn place(history: &History, release: &str) -> Option<usize> {
    history.releases.iter().position(|one| one == release)
}

/// Appearing, going and coming again; and where its declaration went.
fn presence(history: &History, name: &str) -> Vec<Event> {
    let Some(origins) = history.items.get(name) else {
        return Vec::new();
    };
    let mut events: Vec<Event> = origins.windows(2).map(moved).collect();
    let event = |release: &str, what, text: &str| Event {
        release: release.into(),
        what,
        text: text.into(),
    };
    let has = |release: &String| origins.iter().any(|epoch| epoch.releases.contains(release));
    let begun = origins.first().and_then(|epoch| {
        let api = history.apis.get(&epoch.shape.api)?;
        place(history, api.first()?.first())
    });
    for (index, pair) in history.releases.windows(2).enumerate() {
        match (has(&pair[0]), has(&pair[1])) {
            (false, true) if Some(index + 1) > begun && !was_value(history, name, &pair[0]) => {
                events.push(event(&pair[1], What::Appeared, "appeared"));
            }
            (true, false) => events.push(event(&pair[1], What::Went, "went")),
            _ => {}
        }
    }
    events
}

/// Whether an enumeration had the name: a macro that stands for its value now is no news.
fn was_value(history: &History, name: &str, release: &String) -> bool {
    history.enums.values().flatten().any(|epoch| {
        epoch.releases.contains(release) && epoch.shape.iter().any(|one| one.name == name)
    })
}

fn moved(pair: &[Epoch<Origin>]) -> Event {
    let (old, new) = (&pair[0].shape, &pair[1].shape);
    let text = match &new.alias_of {
        _ if old.api != new.api => format!("declared in {}, before in {}", new.api, old.api),
        Some(other) => format!("another name for {other}"),
        None => format!(
            "{} {}, before {} {}",
            article(&new.kind),
            new.kind,
            article(&old.kind),
            old.kind
        ),
    };
    Event {
        release: pair[1].first().into(),
        what: What::Renamed,
        text,
    }
}

fn article(word: &str) -> &'static str {
    match word.starts_with(['a', 'e']) {
        true => "an",
        false => "a",
    }
}

fn relaid(table: &Table, column: usize) -> Event {
    let (old, new) = (&table.columns[column - 1], &table.columns[column]);
    let size = |column: &super::table::Column| column.struct_size.unwrap_or(column.layout.size);
    let mut parts = vec![match size(old) == size(new) {
        true => format!("{} bytes as before", size(new)),
        false => format!("{} → {} bytes", size(old), size(new)),
    }];
    for mark in [
        Mark::Inserted,
        Mark::Appended,
        Mark::Gone,
        Mark::Retyped,
        Mark::Renamed,
    ] {
        let names = table.marked(column, mark);
        if !names.is_empty() {
            parts.push(format!("{}: {}", mark.word(), few(&names)));
        }
    }
    match table.marked(column, Mark::Moved).as_slice() {
        [] => {}
        [one] => parts.push(format!("moved: {one}")),
        many => parts.push(format!("{} fields moved", many.len())),
    }
    Event {
        release: new.releases.first().cloned().unwrap_or_default(),
        what: if new.breaks {
            What::Changed
        } else {
            What::Extended
        },
        text: parts.join("; "),
    }
}

/// Some names, and how many more.
fn few(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>();
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

fn redeclared(pair: &[Epoch<Signature>]) -> Event {
    let (old, new) = (&pair[0].shape, &pair[1].shape);
    let mut parts = vec![format!(
        "{} → {} parameters",
        old.params.len(),
        new.params.len()
    )];
    for (word, params) in [("new", only(new, old)), ("gone", only(old, new))] {
        if !params.is_empty() {
            parts.push(format!("{word}: {}", params.join(", ")));
        }
    }
    if old.ret != new.ret {
        let (old, new) = (c::spell(&old.ret), c::spell(&new.ret));
        parts.push(format!("returns {new}, before {old}"));
    }
    Event {
        release: pair[1].first().into(),
        what: What::Changed,
        text: parts.join("; "),
    }
}

/// The parameters of one signature that the other has not.
fn only(one: &Signature, other: &Signature) -> Vec<String> {
    let mut others: Vec<String> = other.params.iter().map(c::parameter).collect();
    let params = one.params.iter().map(c::parameter);
    params
        .filter(|param| match others.iter().position(|one| one == param) {
            Some(found) => {
                others.remove(found);
                false
            }
            None => true,
        })
        .collect()
}

fn revalued(pair: &[Epoch<Vec<Variant>>]) -> Event {
    let (old, new) = (&pair[0].shape, &pair[1].shape);
    let of = |list: &[Variant], name: &str| {
        let found = list.iter().find(|one| one.name == name);
        found.map(|one| one.value)
    };
    let came = new.iter().filter(|one| of(old, &one.name).is_none());
    let went = old.iter().filter(|one| of(new, &one.name).is_none());
    let other = old
        .iter()
        .filter(|one| of(new, &one.name).is_some_and(|now| now != one.value));
    let names = |list: Vec<&Variant>| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let parts = [
        ("added", names(came.collect())),
        ("gone", names(went.collect())),
        ("of another value", names(other.collect())),
    ];
    let breaks = parts[1..].iter().any(|(_, names)| !names.is_empty());
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(word, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{word}: {}", few(&names))
        })
        .collect();
    Event {
        release: pair[1].first().into(),
        what: if breaks {
            What::Changed
        } else {
            What::Extended
        },
        text: match parts.is_empty() {
            true => "values in another order".into(),
            false => parts.join("; "),
        },
    }
}

/// The releases of an item, over all of its epochs: `2.5–2.21`.
pub fn lifetime(history: &History, name: &str) -> String {
    let origins = history.items.get(name).map_or(&[][..], Vec::as_slice);
    let releases: Vec<String> = history
        .releases
        .iter()
        .filter(|one| origins.iter().any(|epoch| epoch.releases.contains(one)))
        .cloned()
        .collect();
    span(history, &releases)
}
