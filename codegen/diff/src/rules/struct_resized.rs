//! sizeof differs, and no member says why.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_resized",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "sizeof differs, and no member says why.",
    explanation: "The header pads or packs the struct otherwise. Elements of an array and \
                  members behind it are looked for at other places, and who allocates by its own \
                  sizeof gives the other too little.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Resized(told) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} bytes, before {}", told.size.new, told.size.old),
            directions: effect::both(pair, |meeting| effect::resized(meeting, told)),
            bytes: told.slots(),
            remedy: "give as many bytes as the larger of the two".into(),
        },
    ))
}
