//! Members stand elsewhere, or in another order.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_moved",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members stand elsewhere, or in another order.",
    explanation: "Nothing came and nothing went. Members changed places, or the header packs or \
                  aligns them otherwise. Each side finds the other's members at offsets where it \
                  looks for something else.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldMoved(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{} stands elsewhere{}",
        words::first(told),
        words::moves(told)
    );
    let remedy = "choose the layout by the running release";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
