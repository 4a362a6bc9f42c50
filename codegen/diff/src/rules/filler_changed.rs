//! The other side fills a struct or member.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "filler_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "The other side fills a struct or member.",
    explanation: "Each side waits for the other to set it, or both set it. Nothing in the bytes \
                  tells.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FillerChanged(by) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} fills it now, before {}",
                effect::side(by.new),
                effect::side(by.old)
            ),
            directions: effect::both(pair, |meeting| effect::filler_changed(meeting, *by)),
            bytes: Vec::new(),
            remedy: "set it, and take it as given, as the running release has it".into(),
        },
    ))
}
