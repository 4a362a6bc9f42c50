//! Where a struct's history leaves a running plugin in the dark. Each finding has a stable id.

use serde::Serialize;
use sp_ir::{Discriminator, Epoch, History, Record};

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
    let mut lint = |rule, text: String| {
        let item = name.to_string();
        found.push(Lint { rule, item, text });
    };
    for (old, new) in history.indistinguishable(name) {
        lint(
            "epochs_indistinguishable",
            indistinguishable(history, old, new),
        );
    }
    for pair in epochs.windows(2) {
        if let Some(text) = not_bumped(history, name, &pair[0], &pair[1]) {
            lint("layout_changed_version_not_bumped", text);
        }
    }
    found
}

/// Nothing that a program sees at run time differs: neither `struct_size` nor the API's version.
fn indistinguishable(history: &History, old: &Epoch<Record>, new: &Epoch<Record>) -> String {
    let why = match &new.shape.struct_size {
        Some(size) => format!("both say {} bytes in struct_size", size.value),
        None => "nothing in it says its size".into(),
    };
    let told = match new.shape.discriminator {
        Some(Discriminator::Release) => "; only the running release tells them apart",
        None => "",
    };
    let run = |epoch: &Epoch<Record>| span(history, &epoch.releases);
    format!("{} and {}: {why}{told}", run(old), run(new))
}

fn not_bumped(
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
