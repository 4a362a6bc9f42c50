//! A member that had to be set may be left empty.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "presence_relaxed",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "A member that had to be set may be left empty.",
    explanation: "Older plugins set it still. A newer one that leaves it empty is refused by an \
                  older host. From 2.14 on the timer functions of stream_executor.h may be left \
                  out; 2.13 refuses a plugin without them.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::PresenceRelaxed(said, filler) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "it may be left empty now".into(),
            directions: effect::both(pair, |meeting| effect::presence(meeting, *said, *filler)),
            bytes: Vec::new(),
            remedy: "set it still where older releases are served".into(),
        },
    ))
}
