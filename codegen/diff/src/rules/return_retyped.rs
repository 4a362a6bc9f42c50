//! A function returns another type.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "return_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function returns another type.",
    explanation: "The caller reads the result from another register, or as another type, than \
                  the callee writes it. A caller that expects nothing does not notice.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ReturnRetyped(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(change, Said::of_call(pair, called)))
}
