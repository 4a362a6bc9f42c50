//! A member has another type.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A member has another type.",
    explanation: "The bytes at its place mean something else, and where the size differs what \
                  follows moved. What differs only in constness or spelling has rules of its own \
                  and breaks no binary.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldRetyped(told, like) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} has another type{}",
                words::first(told),
                words::moves(told)
            ),
            directions: effect::both(pair, |meeting| effect::retyped(meeting, told, *like)),
            bytes: told.slots(),
            remedy: "read and write it as the running release has it".into(),
        },
    ))
}
