//! Rules that need more than the one API of the one release: its other releases, or its wheels.

use sp_ir::{Api, History};

use super::Lint;
use crate::history::lints;
use crate::lint::exports::{ID, unexported};
use sp_data::symbols::Symbols;

/// The ids of these rules, and what each is about.
pub const RULES: [(&str, &str); 3] = [
    (
        "layout_changed_version_not_bumped",
        "A struct's layout changed from one release to the next, and the version macros of its API say \
         the same in both. A plugin cannot tell the two apart by the version that it is handed.",
    ),
    (
        "epochs_indistinguishable",
        "Two layouts of a struct have the same `struct_size`, or none at all, and the same version. Only \
         the running release tells which one a host has.",
    ),
    (
        ID,
        "A header declares a function for export, and no library of the release exports it, or none of \
         one package's. A plugin that names it at link time does not load there.",
    ),
];

/// What these rules have against an API, with the `history` of the releases to its own.
pub fn check(api: &Api, history: &History, symbols: &Symbols) -> Vec<Lint> {
    let layouts = api.items.keys().flat_map(|name| lints(history, name));
    let layouts = layouts.map(|found| (found.rule, found.item, found.text));
    let missing = unexported(api, symbols).into_iter();
    let missing = missing.map(|found| (ID, found.function.clone(), found.message()));
    let located = |(id, item, message): (&'static str, String, String)| {
        let loc = api.items.get(&item)?.loc().clone();
        Some(Lint {
            id,
            item,
            message,
            loc,
        })
    };
    layouts.chain(missing).filter_map(located).collect()
}
