//! An enumeration has a value more.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "variant_added",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "An enumeration has a value more.",
    explanation: "Older code may meet a number that it has no name for, and should let it pass. \
                  A plugin that sends the value to an older host is not understood: a dtype that \
                  2.19 has no name for ends in an error there.",
    reference: "C11 6.7.2.2: enumerations are integers",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::VariantAdded(value) = &change.kind else {
        return None;
    };
    let name = words::last(&change.item);
    Some(RULE.finding(
        change,
        Said {
            message: format!("{name} = {value} is new"),
            directions: effect::both(pair, |meeting| effect::value(!meeting.plugin_is_old)),
            bytes: Vec::new(),
            remedy: "take unknown values for unknown; send it only where the release has it".into(),
        },
    ))
}
