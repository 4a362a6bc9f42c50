//! Events in the history of an item, by release.

use serde::Serialize;
use sp_ir::{Epoch, History, Origin, Signature, Variant};

use super::span;
use super::table::{LayoutTable, Mark};
use sp_ir::c;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// The release is the first to declare the item, or declares it again.
    Appeared,
    /// The declaration changed compatibly: older programs still work.
    Extended,
    /// The declaration changed incompatibly: older programs break.
    Changed,
    /// The item is declared in another API or as an alias; its layout did not change.
    Renamed,
    /// The release no longer declares the item.
    Removed,
}

/// An event in the history of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryEvent {
    /// The first release after the event.
    pub release: String,
    /// The kind.
    pub kind: EventKind,
    /// Description.
    pub text: String,
}

/// Returns the events of the item `name`, oldest first. The presence of an item in the first release of its API is
/// not an event.
pub fn events(history: &History, name: &str) -> Vec<HistoryEvent> {
    let mut events = presence_events(history, name);
    if let Some(table) = LayoutTable::find(history, name) {
        events.extend((1..table.columns.len()).map(|column| layout_event(&table, column)));
    }
    for epochs in [&history.functions, &history.callbacks, &history.slots] {
        let epochs = epochs.get(name).map_or(&[][..], Vec::as_slice);
        events.extend(epochs.windows(2).map(signature_event));
    }
    let epochs = history.enums.get(name).map_or(&[][..], Vec::as_slice);
    events.extend(epochs.windows(2).map(enum_event));
    events.sort_by_key(|event| (release_index(history, &event.release), event.kind));
    events
}

fn release_index(history: &History, release: &str) -> Option<usize> {
    history.releases.iter().position(|known| known == release)
}

/// Returns the events of an item's presence, and those of its declaration's API and kind.
fn presence_events(history: &History, name: &str) -> Vec<HistoryEvent> {
    let Some(origins) = history.items.get(name) else {
        return Vec::new();
    };
    let mut events: Vec<HistoryEvent> = origins.windows(2).map(origin_event).collect();
    let event = |release: &str, kind, text: &str| HistoryEvent {
        release: release.into(),
        kind,
        text: text.into(),
    };
    let is_declared =
        |release: &String| origins.iter().any(|epoch| epoch.releases.contains(release));
    let api_start = origins.first().and_then(|epoch| {
        let api = history.apis.get(&epoch.shape.api)?;
        release_index(history, api.first()?.first())
    });
    for (index, pair) in history.releases.windows(2).enumerate() {
        match (is_declared(&pair[0]), is_declared(&pair[1])) {
            (false, true)
                if Some(index + 1) > api_start && !was_enumerator(history, name, &pair[0]) =>
            {
                events.push(event(&pair[1], EventKind::Appeared, "appeared"));
            }
            (true, false) => events.push(event(&pair[1], EventKind::Removed, "removed")),
            _ => {}
        }
    }
    events
}

/// Returns true if `name` was an enumerator in `release`: a macro of the same name that replaces it is not an event.
fn was_enumerator(history: &History, name: &str, release: &String) -> bool {
    history.enums.values().flatten().any(|epoch| {
        epoch.releases.contains(release) && epoch.shape.iter().any(|variant| variant.name == name)
    })
}

fn origin_event(pair: &[Epoch<Origin>]) -> HistoryEvent {
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
    HistoryEvent {
        release: pair[1].first().into(),
        kind: EventKind::Renamed,
        text,
    }
}

fn article(word: &str) -> &'static str {
    match word.starts_with(['a', 'e']) {
        true => "an",
        false => "a",
    }
}

fn layout_event(table: &LayoutTable, column: usize) -> HistoryEvent {
    let (old, new) = (&table.columns[column - 1], &table.columns[column]);
    let size =
        |column: &super::table::LayoutColumn| column.struct_size.unwrap_or(column.layout.size);
    let mut parts = vec![match size(old) == size(new) {
        true => format!("{} bytes, unchanged", size(new)),
        false => format!("{} → {} bytes", size(old), size(new)),
    }];
    for mark in [
        Mark::Inserted,
        Mark::Appended,
        Mark::Removed,
        Mark::Retyped,
        Mark::Renamed,
    ] {
        let names = table.marked(column, mark);
        if !names.is_empty() {
            parts.push(format!("{}: {}", mark.word(), sp_diff::join_names(&names)));
        }
    }
    match table.marked(column, Mark::Moved).as_slice() {
        [] => {}
        [name] => parts.push(format!("moved: {name}")),
        names => parts.push(format!("{} fields moved", names.len())),
    }
    HistoryEvent {
        release: new.releases.first().cloned().unwrap_or_default(),
        kind: if new.breaks {
            EventKind::Changed
        } else {
            EventKind::Extended
        },
        text: parts.join("; "),
    }
}

fn signature_event(pair: &[Epoch<Signature>]) -> HistoryEvent {
    let (old, new) = (&pair[0].shape, &pair[1].shape);
    let mut parts = vec![format!(
        "{} → {} parameters",
        old.params.len(),
        new.params.len()
    )];
    for (word, params) in [
        ("added", added_params(new, old)),
        ("removed", added_params(old, new)),
    ] {
        if !params.is_empty() {
            parts.push(format!("{word}: {}", params.join(", ")));
        }
    }
    if old.ret != new.ret {
        let (old, new) = (c::spell(&old.ret), c::spell(&new.ret));
        parts.push(format!("returns {new}, before {old}"));
    }
    HistoryEvent {
        release: pair[1].first().into(),
        kind: EventKind::Changed,
        text: parts.join("; "),
    }
}

/// Returns the parameters of `signature` that `other` does not have.
fn added_params(signature: &Signature, other: &Signature) -> Vec<String> {
    let mut others: Vec<String> = other.params.iter().map(c::parameter).collect();
    let params = signature.params.iter().map(c::parameter);
    params
        .filter(
            |param| match others.iter().position(|other| other == param) {
                Some(found) => {
                    others.remove(found);
                    false
                }
                None => true,
            },
        )
        .collect()
}

fn enum_event(pair: &[Epoch<Vec<Variant>>]) -> HistoryEvent {
    let (old, new) = (&pair[0].shape, &pair[1].shape);
    let value = |list: &[Variant], name: &str| {
        let found = list.iter().find(|variant| variant.name == name);
        found.map(|variant| variant.value)
    };
    let added = new
        .iter()
        .filter(|variant| value(old, &variant.name).is_none());
    let removed = old
        .iter()
        .filter(|variant| value(new, &variant.name).is_none());
    let revalued = old
        .iter()
        .filter(|variant| value(new, &variant.name).is_some_and(|value| value != variant.value));
    let names = |list: Vec<&Variant>| {
        list.iter()
            .map(|variant| variant.name.clone())
            .collect::<Vec<_>>()
    };
    let parts = [
        ("added", names(added.collect())),
        ("removed", names(removed.collect())),
        ("changed value", names(revalued.collect())),
    ];
    let is_breaking = parts[1..].iter().any(|(_, names)| !names.is_empty());
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(word, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{word}: {}", sp_diff::join_names(&names))
        })
        .collect();
    HistoryEvent {
        release: pair[1].first().into(),
        kind: if is_breaking {
            EventKind::Changed
        } else {
            EventKind::Extended
        },
        text: match parts.is_empty() {
            true => "values reordered".into(),
            false => parts.join("; "),
        },
    }
}

/// Formats the releases that declare an item: `2.5–2.21`.
pub fn lifetime(history: &History, name: &str) -> String {
    let origins = history.items.get(name).map_or(&[][..], Vec::as_slice);
    let releases: Vec<String> = history
        .releases
        .iter()
        .filter(|release| origins.iter().any(|epoch| epoch.releases.contains(release)))
        .cloned()
        .collect();
    span(history, &releases)
}
