//! A table's callbacks find the plugin's object elsewhere.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "receiver_changed",
    impact: Impact::SourceOnly,
    bump: Bump::Patch,
    summary: "A table's callbacks find the plugin's object elsewhere.",
    explanation: "What the notes know of how a slot reaches the object that the plugin \
                  registered changed. It decides what sp-gen generates; the bytes are judged by \
                  other rules.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ReceiverChanged(_) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "callbacks find the plugin's object elsewhere".into(),
            directions: effect::works("the bytes are as before"),
            bytes: Vec::new(),
            remedy: "generate the code again".into(),
        },
    ))
}
