//! A function takes its parameters in another order.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "parameter_moved",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function takes its parameters in another order.",
    explanation: "Each argument lands where another is looked for. Where the types allow it, \
                  even a compiler is silent.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ParameterMoved(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(change, Said::of_call(pair, called)))
}
