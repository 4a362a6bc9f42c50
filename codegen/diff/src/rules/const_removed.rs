//! A macro or constant is gone.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "const_removed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A macro or constant is gone.",
    explanation: "Who was compiled with it has its value. Code that names it does not compile \
                  with the newer headers.",
    reference: "C11 6.10.3: macros are replaced when code is compiled",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ConstRemoved = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is gone", change.item),
            directions: effect::works("who was compiled with it has its value"),
            bytes: Vec::new(),
            remedy: "declare it where older releases are served".into(),
        },
    ))
}
