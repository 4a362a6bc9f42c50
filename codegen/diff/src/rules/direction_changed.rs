//! A value travels the other way.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "direction_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A value travels the other way.",
    explanation: "What the callee read it now fills, or the reverse: a value that nobody sets is \
                  read, or one that somebody needs is overwritten.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::DirectionChanged(way) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "it goes {} now, before {}",
                words::way(way.new),
                words::way(way.old)
            ),
            directions: effect::both(pair, |meeting| effect::direction(meeting, *way)),
            bytes: Vec::new(),
            remedy: "set it before the call, and expect it to be overwritten".into(),
        },
    ))
}
