//! A macro or constant is new.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "const_added",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A macro or constant is new.",
    explanation: "Its value is copied into whoever is compiled with it, so no binary depends on \
                  it.",
    reference: "C11 6.10.3: macros are replaced when code is compiled",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ConstAdded = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is new", change.item),
            directions: effect::works("its value is copied when code is compiled"),
            bytes: Vec::new(),
            remedy: "compile with the newer headers where it is used".into(),
        },
    ))
}
