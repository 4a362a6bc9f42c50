//! A struct has no size macro any more.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_dropped",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A struct has no size macro any more.",
    explanation: "Code that writes it does not compile; the bytes are as before. Whatever \
                  changes in the struct from here on is announced by nothing.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeDropped(size) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is gone", size.symbol),
            directions: effect::works("the bytes are as before"),
            bytes: Vec::new(),
            remedy: "declare the size where it is needed".into(),
        },
    ))
}
