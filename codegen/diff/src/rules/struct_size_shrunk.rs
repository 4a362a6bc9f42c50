//! The size macro covers less of the struct than before.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_shrunk",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "The size macro covers less of the struct than before.",
    explanation: "Members that are still there lie outside of the size that both sides write. \
                  Who looks at struct_size, as the protocol asks, stops using them; the struct \
                  itself did not change.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeShrunk(said, told) = &change.kind else {
        return None;
    };
    let remedy = "ask for the running release before trusting struct_size";
    Some(RULE.finding(change, Said::of_size(pair, *said, told, remedy)))
}
