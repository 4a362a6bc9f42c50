//! A header holds the body of a function that a library exported.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact, Outcome};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "function_inlined",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A header holds the body of a function that a library exported.",
    explanation: "Code compiled with the newer header brings its own copy and needs no symbol. A \
                  plugin built before needs the symbol still: where the libraries are \
                  known to export it as before, the finding is compatible.",
    reference: "C11 6.7.4: inline functions",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FunctionInlined = change.kind else {
        return None;
    };
    let directions = effect::both(pair, |meeting| effect::inlined(meeting, change));
    let still_there = directions.old_on_new.outcome == Outcome::Works;
    let finding = RULE.finding(
        change,
        Said {
            message: format!("{} is inline now", change.item),
            directions,
            bytes: Vec::new(),
            remedy: "look it up at run time where older headers are used".into(),
        },
    );
    Some(finding.lighter(still_there, Impact::Compatible))
}
