//! Members are gone.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members are gone.",
    explanation: "What followed moved up, so that older plugins find other members at the old \
                  offsets. Where the last ones went, an older plugin reaches behind the newer, \
                  shorter struct; one that looks at struct_size does not.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldRemoved(told) = &change.kind else {
        return None;
    };
    let message = words::placed(told, "removed from") + &words::moves(told);
    let remedy = "choose the layout by the struct_size that the host wrote";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
