//! A value came in between, and the numbers of others moved.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact, Outcome};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "variant_inserted",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A value came in between, and the numbers of others moved.",
    explanation: "The names mean other numbers. Each side takes what the other sends for another \
                  name, and no type tells.",
    reference: "C11 6.7.2.2: enumerations are integers",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::VariantInserted(others) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("inserted: {}", words::revalued(others)),
            directions: effect::both(pair, |_| {
                effect::plain(
                    Outcome::MisreadsValue,
                    "a number is one name to the plugin and another to the host",
                )
            }),
            bytes: Vec::new(),
            remedy: "translate the numbers by the running release".into(),
        },
    ))
}
