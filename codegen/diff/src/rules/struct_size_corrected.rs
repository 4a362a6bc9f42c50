//! The size macro covers members that it left out before.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_corrected",
    impact: Impact::Compatible,
    bump: Bump::Patch,
    summary: "The size macro covers members that it left out before.",
    explanation: "The members were there before, outside of the size that both sides wrote. From \
                  here on struct_size tells the truth; on older hosts it still leaves the \
                  members out, and who looks at it does without them.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeCorrected(said, told) = &change.kind else {
        return None;
    };
    let remedy = "on older releases, do not trust struct_size for these members";
    Some(RULE.finding(change, Said::of_size(pair, *said, told, remedy)))
}
