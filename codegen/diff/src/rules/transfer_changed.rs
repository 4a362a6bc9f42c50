//! Ownership of a value moves otherwise.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "transfer_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Ownership of a value moves otherwise.",
    explanation: "Either both sides free it, which corrupts the heap, or neither does and it \
                  leaks. No type and no size tells.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::TransferChanged(said, giver) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "it is {} now, before {}",
                words::given(said.new),
                words::given(said.old)
            ),
            directions: effect::both(pair, |meeting| effect::transfer(meeting, *said, *giver)),
            bytes: Vec::new(),
            remedy: "free it, or not, as the running release has it".into(),
        },
    ))
}
