//! A struct, union, enumeration, handle or typedef is gone.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "type_removed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A struct, union, enumeration, handle or typedef is gone.",
    explanation: "A type by itself is nothing in a binary; the functions and members that used \
                  it are judged by themselves. Code that names it does not compile with the \
                  newer headers.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::TypeRemoved = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is gone", change.item),
            directions: effect::works("a type by itself is nothing in a binary"),
            bytes: Vec::new(),
            remedy: "keep the older declaration where older releases are served".into(),
        },
    ))
}
