//! A parameter has another type.

use super::{Rule, Said};
use crate::abi::change::{Change, Kind};
use crate::abi::effect;
use crate::abi::finding::{Bump, Finding, Impact};
use crate::abi::pair::Pair;

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
    Some(
        RULE.finding(
            change,
            Said {
                message: called.what.clone(),
                directions: effect::both(pair, |meeting| effect::called(pair, meeting, called)),
                bytes: Vec::new(),
                remedy:
                    "call it as the running release declares it; sp-abi has a form for each epoch"
                        .into(),
            },
        ),
    )
}
