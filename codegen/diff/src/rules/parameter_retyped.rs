//! A parameter has another type.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "parameter_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A parameter has another type.",
    explanation: "Integers of another width or sign, a pointer to something else, a struct of \
                  another size: what the caller passes is not what the callee reads. What \
                  differs only in constness or spelling has rules of its own and breaks no \
                  binary.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ParameterRetyped(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(change, Said::of_call(pair, called)))
}
