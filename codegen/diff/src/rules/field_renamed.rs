//! A member has another name, where it stood.

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_renamed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A member has another name, where it stood.",
    explanation: "Type and place are as before, so binaries see nothing. Code that names the \
                  member must change.\n\n\
                  That the two names mean the same is taken from that. Slots are not followed: \
                  another function in the same place is another function.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldRenamed = change.kind else {
        return None;
    };
    let Some(Declared::Field(field)) = change.new else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("called {} now", field.name),
            directions: effect::works("type and place are as before"),
            bytes: Vec::new(),
            remedy: "use the name that the header at hand has".into(),
        },
    ))
}
