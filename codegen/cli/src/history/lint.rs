//! Where a struct's history leaves a running plugin in the dark. Each finding has a stable id.

use serde::Serialize;
use sp_ir::{Epoch, History, Record};

use super::span;

/// Something wrong with an item's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// The rule's id: `epochs_indistinguishable` or `layout_changed_version_not_bumped`.
    pub rule: &'static str,
    /// The struct.
    pub item: String,
    /// What is wrong.
    pub text: String,
}

/// The findings about the struct called `name`.
pub fn lints(history: &History, name: &str) -> Vec<Lint> {
    let epochs = history.structs.get(name).map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    let mut lint = |rule, text: Option<String>| {
        let item = name.to_string();
        found.extend(text.map(|text| Lint { rule, item, text }));
    };
    for (index, old) in epochs.iter().enumerate() {
        for new in &epochs[index + 1..] {
            let text = indistinguishable(history, name, old, new);
            lint("epochs_indistinguishable", text);
        }
    }
    for pair in epochs.windows(2) {
        let text = not_bumped(history, name, &pair[0], &pair[1]);
        lint("layout_changed_version_not_bumped", text);
    }
    found
}

/// Nothing that a program sees at run time differs: neither `struct_size` nor the API's version.
fn indistinguishable(
    history: &History,
    name: &str,
    old: &Epoch<Record>,
    new: &Epoch<Record>,
) -> Option<String> {
    let size = |epoch: &Epoch<Record>| epoch.shape.struct_size.as_ref().map(|size| size.value);
    let versions = versions(history, name, old, new);
    if size(old) != size(new) || versions.is_some_and(|(old, new)| old != new) {
        return None;
    }
    let why = match size(new) {
        Some(size) => format!("both say {size} bytes in struct_size"),
        None => "nothing in it says its size".into(),
    };
    let run = |epoch: &Epoch<Record>| span(&history.releases, &epoch.releases);
    Some(format!("{} and {}: {why}", run(old), run(new)))
}

fn not_bumped(
    history: &History,
    name: &str,
    old: &Epoch<Record>,
    new: &Epoch<Record>,
) -> Option<String> {
    let (before, after) = versions(history, name, old, new)?;
    (before == after).then(|| {
        let (old, new) = (old.last(), new.first());
        format!("{old} to {new}: the layout changed, the version stayed {after}")
    })
}

/// The API's version at the end of one epoch and at the beginning of a later one.
fn versions<'h>(
    history: &'h History,
    name: &str,
    old: &Epoch<Record>,
    new: &Epoch<Record>,
) -> Option<(&'h str, &'h str)> {
    let version = |release: &str| {
        let has = |releases: &[String]| releases.iter().any(|one| one == release);
        let origins = history.items.get(name)?.iter();
        let api = &origins
            .into_iter()
            .find(|one| has(&one.releases))?
            .shape
            .api;
        let mut epochs = history.apis.get(api)?.iter();
        epochs.find(|one| has(&one.releases))?.shape.as_deref()
    };
    Some((version(old.last())?, version(new.first())?))
}
