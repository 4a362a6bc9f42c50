//! Another member stands where one stood.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_replaced",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Another member stands where one stood.",
    explanation: "The struct is as large as before and nothing else moved, so struct_size is \
                  silent. A slot holds another function, called with other arguments; a value is \
                  another value.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldReplaced(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{} stands at {}, where {} stood",
        told.names().last().copied().unwrap_or_default(),
        words::offset(told),
        told.names().first().copied().unwrap_or_default()
    );
    let remedy = "ask for the running release before touching it";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
