//! A struct that does not say its size got members at the end.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "unsized_struct_grown",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A struct that does not say its size got members at the end.",
    explanation: "With no struct_size, and no constant that the registration passes along, \
                  neither side can know how much of the struct the other has. Whoever has the \
                  longer one reads or writes behind the other's.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::UnsizedGrown(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{}{}, and nothing says the size",
        words::placed(told, "appended at"),
        words::size(told)
    );
    let remedy = "ask for the running release before touching it";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
