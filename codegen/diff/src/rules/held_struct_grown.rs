//! A struct that others hold by value, or that comes in arrays, grew.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "held_struct_grown",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A struct that others hold by value, or that comes in arrays, grew.",
    explanation: "Its own struct_size covers the new members, but what follows it does not wait: \
                  the next element of an array and the next member of its holder are looked for \
                  at other places. A struct that is passed by value is passed in other \
                  registers, or on the stack.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::HeldGrown(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{}{}; others hold it by value",
        words::placed(told, "appended at"),
        words::size(told)
    );
    let remedy = "choose the stride and the offsets by the running release";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
