//! Members came where padding was, or grew into it unannounced.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "padding_filled",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members came where padding was, or grew into it unannounced.",
    explanation: "Nothing moved and no size changed, so nothing tells the two sides apart. What \
                  the older side never sets, the newer reads: zero where the host provides the \
                  memory and clears it, and anything where the plugin does.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::PaddingFilled(told) = &change.kind else {
        return None;
    };
    let message = words::placed(told, "put into padding at");
    let remedy = "clear such structs whole before filling them, and ask for the running release";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
