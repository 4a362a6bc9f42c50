//! Members came at the end that the host demands.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "required_field_appended",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members came at the end that the host demands.",
    explanation: "The bytes are compatible, the contract is not: the newer host finds the slot \
                  empty in an older plugin and refuses the registration, which ends the process \
                  at import.\n\n\
                  A plugin that serves both sides fills the slot where the host's struct_size \
                  reaches behind it.",
    reference: "the API's notes in headers/apis, with their evidence",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::RequiredAppended(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{}, and the host demands it",
        words::placed(told, "appended at")
    );
    let remedy = "fill it where the host's struct_size reaches behind it";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
