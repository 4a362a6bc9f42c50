//! A struct, union, enumeration, handle or typedef is new.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "type_added",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A struct, union, enumeration, handle or typedef is new.",
    explanation: "A type by itself is nothing in a binary; what uses it is judged by itself. \
                  Code that names it does not compile with the older headers.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::TypeAdded = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is new", change.item),
            directions: effect::works("a type by itself is nothing in a binary"),
            bytes: Vec::new(),
            remedy: "compile with the newer headers where it is used".into(),
        },
    ))
}
