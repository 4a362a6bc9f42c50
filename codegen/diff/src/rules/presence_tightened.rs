//! A member that might be left empty must be set.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "presence_tightened",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A member that might be left empty must be set.",
    explanation: "The newer host refuses the registration of a plugin that leaves it empty, \
                  which ends the process at import; or it calls the empty slot.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::PresenceTightened(said, filler) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "it must be set now".into(),
            directions: effect::both(pair, |meeting| effect::presence(meeting, *said, *filler)),
            bytes: Vec::new(),
            remedy: "set it always".into(),
        },
    ))
}
