//! A function takes a parameter more.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "parameter_added",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function takes a parameter more.",
    explanation: "The name and the symbol are as before, so nothing notices at load: caller and \
                  callee disagree on what is in which register. In 2.10 TF_AssignVariable took a \
                  bool before its copy function, and a plugin built before passes the function \
                  as the bool and its status as the function.\n\n\
                  Where the new parameter is the last, a caller that passes it to an older \
                  callee does no harm; one that does not leaves the newer callee with whatever \
                  the register held.\n\n\
                  No struct_size tells: the running release must be known. The shims of sp-abi \
                  know it and call the form that it has.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ParameterAdded(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(change, Said::of_call(pair, called)))
}
