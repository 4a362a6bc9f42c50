//! An opaque name became a pointer to one, or the reverse.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::likeness::Likeness;
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "handle_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "An opaque name became a pointer to one, or the reverse.",
    explanation: "`typedef struct X_st* X` is a pointer, `typedef struct X X` the hidden struct \
                  itself. The same spelling then has one star more or less.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::HandleRetyped = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is a pointer on one side only", change.item),
            directions: effect::reread(Likeness::Other, &change.item),
            bytes: Vec::new(),
            remedy: "build once for each form, and choose by the running release".into(),
        },
    ))
}
