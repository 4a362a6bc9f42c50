//! An enumeration has a value less.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "variant_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "An enumeration has a value less.",
    explanation: "A plugin that sends it is not understood any more, or the number may come to \
                  mean something else.",
    reference: "C11 6.7.2.2: enumerations are integers",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::VariantRemoved(value) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{value} is gone"),
            directions: effect::both(pair, |meeting| effect::value(meeting.plugin_is_old)),
            bytes: Vec::new(),
            remedy: "send it only where the release has it".into(),
        },
    ))
}
