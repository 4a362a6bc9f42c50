//! A type has another name, and is made as before.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "type_renamed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A type has another name, and is made as before.",
    explanation: "All places that used the one name use the other, and the two are made alike. \
                  No binary has the name; code that uses it must change, or declare the old name \
                  itself.\n\n\
                  Where the header keeps the old name as another name for the new, as with \
                  TF_Status and TSL_Status, nothing is reported at all.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::TypeRenamed = change.kind else {
        return None;
    };
    let old = change.old?;
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is called {} now", old.name(), change.item),
            directions: effect::works("no binary has the name"),
            bytes: Vec::new(),
            remedy: "use the new name, or declare the old one".into(),
        },
    ))
}
