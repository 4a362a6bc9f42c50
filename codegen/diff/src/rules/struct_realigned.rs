//! alignof differs, and no member says why.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_realigned",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "alignof differs, and no member says why.",
    explanation: "Memory that one side gives may not be aligned as the other's instructions need \
                  it, and what holds the struct by value may lie otherwise.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Realigned(align) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("aligned to {}, before to {}", align.new, align.old),
            directions: effect::both(pair, |meeting| effect::aligned(meeting, *align)),
            bytes: Vec::new(),
            remedy: "align to the larger of the two".into(),
        },
    ))
}
