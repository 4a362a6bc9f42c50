//! A function takes a parameter less.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "parameter_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function takes a parameter less.",
    explanation: "The mirror of parameter_added: an older caller passes more than the callee \
                  looks at, and unless what went was the last, all that follows is in the wrong \
                  place.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ParameterRemoved(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(change, Said::of_call(pair, called)))
}
