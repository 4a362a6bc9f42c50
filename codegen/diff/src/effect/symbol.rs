//! Functions that a plugin takes from the host, or the host from the plugin.

use sp_ir::{Function, Item, Side};

use super::{Meeting, plain};
use crate::change::{Both, Change, Declared};
use crate::finding::{Effect, Outcome};
use crate::view::View;

/// A function that one of the two may lack. `symbol` is how a library would export it.
pub fn function(meeting: Meeting, name: &str, symbol: &str, by: Side, inline: bool) -> Effect {
    let declared = |view: &View| matches!(view.item(name), Some(sp_ir::Item::Function(_)));
    if inline {
        return plain(
            Outcome::Works,
            "its body is in the header, and so in the plugin",
        );
    }
    if by == Side::Plugin {
        let why = match declared(meeting.host) {
            true => format!("the host looks for {name} in the plugin, and goes on without it"),
            false => format!("the host never looks for {name}"),
        };
        return plain(Outcome::WorksWithout, why);
    }
    if !declared(meeting.plugin) {
        return plain(
            Outcome::WorksWithout,
            format!("the plugin knows nothing of {name}"),
        );
    }
    exported(meeting, symbol, declared(meeting.host))
}

/// A symbol that a plugin needs; without knowledge of exports, a host has what it declares.
pub fn exported(meeting: Meeting, symbol: &str, declared: bool) -> Effect {
    let there = meeting
        .host
        .exports
        .map(|exports| exports.get(symbol).is_some_and(|all| !all.is_empty()));
    match there.unwrap_or(declared) {
        true => plain(Outcome::Works, format!("the host exports {symbol}")),
        false => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!("no library of the host exports {symbol}"),
        },
    }
}

/// A symbol whose libraries differ.
pub fn libraries(meeting: Meeting, symbol: &str) -> Effect {
    let of = |view: &View| {
        view.exports
            .and_then(|all| all.get(symbol))
            .cloned()
            .unwrap_or_default()
    };
    let (mine, theirs) = (of(meeting.plugin), of(meeting.host));
    if !mine.is_disjoint(&theirs) {
        return plain(
            Outcome::Works,
            format!("a library that had {symbol} has it still"),
        );
    }
    Effect {
        outcome: Outcome::FailsToLoad,
        guarded: Outcome::Works,
        why: format!(
            "a plugin linked to the library that had {symbol} finds it only if that library brings the other along"
        ),
    }
}

/// A whole API; `functions` says whether core defines any for it.
pub fn api(meeting: Meeting, name: &str, functions: bool) -> Effect {
    let (mine, theirs) = (
        meeting.plugin.apis.contains_key(name),
        meeting.host.apis.contains_key(name),
    );
    match (mine, theirs, functions) {
        (true, false, true) => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!("the host has no functions of {name}"),
        },
        (true, false, false) => plain(
            Outcome::WorksWithout,
            format!("the host never asks for {name}"),
        ),
        _ => plain(
            Outcome::WorksWithout,
            format!("the plugin knows nothing of {name}"),
        ),
    }
}

/// A function whose body one side's header holds.
pub fn inlined(meeting: Meeting, change: &Change) -> Effect {
    let (Some(old), Some(new)) = (function_of(change.old), function_of(change.new)) else {
        return plain(Outcome::Works, "it is no function");
    };
    let (mine, theirs) = meeting.sort(Both { old, new });
    match (mine.inline, theirs.inline) {
        (false, true) => exported(meeting, &mine.symbol, false),
        (true, _) => plain(Outcome::Works, "the plugin brings its body along"),
        (false, false) => plain(Outcome::Works, "it is exported as before"),
    }
}

fn function_of<'p>(declared: Option<Declared<'p>>) -> Option<&'p Function> {
    match declared {
        Some(Declared::Item(_, Item::Function(function))) => Some(function),
        _ => None,
    }
}

/// A function under two symbols.
pub fn renamed(meeting: Meeting, said: Both<&str>) -> Effect {
    let (mine, _) = meeting.sort(said);
    exported(meeting, mine, false)
}
