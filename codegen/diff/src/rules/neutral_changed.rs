//! What a slot returns after a panic changed.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "neutral_changed",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "What a slot returns after a panic changed.",
    explanation: "A fact of the notes, for generated code alone.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::NeutralChanged(_) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "another value is returned after a panic".into(),
            directions: effect::works("no binary has it"),
            bytes: Vec::new(),
            remedy: "generate the code again".into(),
        },
    ))
}
