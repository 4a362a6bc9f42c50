//! Lints about layout changes that a plugin cannot detect at run time. Each rule has a stable id.

use serde::Serialize;
use sp_ir::{Discriminator, Epoch, History, Record};

use super::span;

/// A lint finding about the layouts of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutLint {
    /// The rule's id: `epochs_indistinguishable` or `layout_changed_version_not_bumped`.
    pub rule: &'static str,
    /// The struct.
    pub item: String,
    /// Description.
    pub text: String,
}

/// Returns the findings about the struct `name`.
pub fn layout_lints(history: &History, name: &str) -> Vec<LayoutLint> {
    let epochs = history.structs.get(name).map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    let mut lint = |rule, text: String| {
        let item = name.to_string();
        found.push(LayoutLint { rule, item, text });
    };
    for (old, new) in history.indistinguishable(name) {
        lint(
            "epochs_indistinguishable",
            describe_indistinguishable(history, old, new),
        );
    }
    for pair in epochs.windows(2) {
        if let Some(text) = describe_unchanged_version(history, name, &pair[0], &pair[1]) {
            lint("layout_changed_version_not_bumped", text);
        }
    }
    found
}

/// Describes two layouts with the same `struct_size` and the same API version.
fn describe_indistinguishable(
    history: &History,
    old: &Epoch<Record>,
    new: &Epoch<Record>,
) -> String {
    let reason = match &new.shape.struct_size {
        Some(size) => format!("both have struct_size {}", size.value),
        None => "the struct has no struct_size".into(),
    };
    let hint = match new.shape.discriminator {
        Some(Discriminator::Release) => "; only the release of the host distinguishes them",
        None => "",
    };
    let releases = |epoch: &Epoch<Record>| span(history, &epoch.releases);
    format!("{} and {}: {reason}{hint}", releases(old), releases(new))
}

fn describe_unchanged_version(
    history: &History,
    name: &str,
    old: &Epoch<Record>,
    new: &Epoch<Record>,
) -> Option<String> {
    let (before, after) = history.versions(name, old, new)?;
    (before == after).then(|| {
        let (old, new) = (old.last(), new.first());
        format!("{old} to {new}: the layout changed, the version stayed {after}")
    })
}
