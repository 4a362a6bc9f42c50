//! The other side defines a function.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "exporter_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "The other side defines a function.",
    explanation: "What the plugin defined and core looked up is core's to define, or the \
                  reverse. One of the two looks for what is not there; where both define it, one \
                  definition is never called.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ExporterChanged(by) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} defines {} now, before {}",
                effect::side(by.new),
                change.item,
                effect::side(by.old)
            ),
            directions: effect::both(pair, |meeting| effect::exporter(meeting, *by, &change.item)),
            bytes: Vec::new(),
            remedy: "define or look up the function as the running release wants it".into(),
        },
    ))
}
