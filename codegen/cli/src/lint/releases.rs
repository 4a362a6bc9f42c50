//! Lints that compare an API with its other releases or with the symbols of its wheels.

use crate::rule::rules;
use sp_ir::{Api, History};

use super::Lint;
use crate::history::layout_lints;
use crate::lint::exports::{ID, find_unexported};
use sp_data::symbols::Symbols;

rules! {
    /// The rules that compare releases.
    RULES: ();

    layout_changed_version_not_bumped: (),
    "A struct's layout changed from one release to the next, and the version macros of its API have \
     the same values in both. A plugin cannot distinguish the layouts by the version.";

    epochs_indistinguishable: (),
    "Two layouts of a struct have the same `struct_size`, or none, and the same version. Only the \
     release of the host distinguishes them.";

    function_unexported: (),
    "A header declares a function, and no library of the release or of one of its packages exports it. \
     A plugin that links to it does not load there.";
}

/// Returns the findings of these rules about an API. `history` has the releases up to that of the API.
pub fn check(api: &Api, history: &History, symbols: &Symbols) -> Vec<Lint> {
    let layouts = api.items.keys();
    let layouts = layouts.flat_map(|name| layout_lints(history, name));
    let layouts = layouts.map(|found| (found.rule, found.item, found.text));
    let missing = find_unexported(api, symbols).into_iter();
    let missing = missing.map(|found| (ID, found.function.clone(), found.message()));
    let lint = |(id, item, message): (&'static str, String, String)| {
        let loc = api.items.get(&item)?.loc().clone();
        Some(Lint {
            id,
            item,
            message,
            loc,
        })
    };
    layouts.chain(missing).filter_map(lint).collect()
}
