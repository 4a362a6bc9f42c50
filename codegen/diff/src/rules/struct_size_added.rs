//! A struct has a size macro that had none.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_added",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "A struct has a size macro that had none.",
    explanation: "From here on a header says what to write into struct_size. Before, each side \
                  computed its own, with padding or without.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeAdded(size) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is {}", size.symbol, size.value),
            directions: effect::works("the bytes are as before"),
            bytes: Vec::new(),
            remedy: "write the size of the epoch that the host has".into(),
        },
    ))
}
