//! A parameter has another name.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "parameter_renamed",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "A parameter has another name.",
    explanation: "C passes by position, so neither binaries nor callers see it. Bindings that \
                  carry the names do.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ParameterRenamed = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "the parameter has another name".into(),
            directions: effect::works("arguments are passed by position"),
            bytes: Vec::new(),
            remedy: "nothing".into(),
        },
    ))
}
