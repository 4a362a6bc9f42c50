//! A name stands for another number.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact, Outcome};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "variant_revalued",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A name stands for another number.",
    explanation: "Each side takes what the other sends for something else, and no type tells.",
    reference: "C11 6.7.2.2: enumerations are integers",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::VariantRevalued(value) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} now, before {}", value.new, value.old),
            directions: effect::both(pair, |_| {
                effect::plain(
                    Outcome::MisreadsValue,
                    "a number is one name to the plugin and another to the host",
                )
            }),
            bytes: Vec::new(),
            remedy: "translate the number by the running release".into(),
        },
    ))
}
