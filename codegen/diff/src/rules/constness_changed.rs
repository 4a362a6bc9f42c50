//! A pointer gained or lost const.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use sp_ir::c::spell;

/// The rule.
pub const RULE: Rule = Rule {
    id: "constness_changed",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "A pointer gained or lost const.",
    explanation: "Constness is a promise between header and compiler; the same bytes are passed. \
                  In C++ a caller or a callback may need a cast to compile with both headers. \
                  Whoever relied on writing through the pointer should look at what the promise \
                  now is.",
    reference: "C11 6.7.3: qualifiers",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Constness(both) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is {} now", spell(both.old), spell(both.new)),
            directions: effect::works("the same bytes are passed"),
            bytes: Vec::new(),
            remedy: "cast where one source serves both headers".into(),
        },
    ))
}
