//! The callee keeps a value longer, or shorter, than before.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "scope_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "The callee keeps a value longer, or shorter, than before.",
    explanation: "What is kept beyond the call must live on. A giver that ends it when the call \
                  returns leaves the keeper with memory that is not there.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ScopeChanged(said, giver) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "it is kept {} now, before {}",
                words::kept(said.new),
                words::kept(said.old)
            ),
            directions: effect::both(pair, |meeting| effect::scope(meeting, *said, *giver)),
            bytes: Vec::new(),
            remedy: "keep what is given alive as long as the longer of the two".into(),
        },
    ))
}
