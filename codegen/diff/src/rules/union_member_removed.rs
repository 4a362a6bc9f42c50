//! A union has a member less.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "union_member_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A union has a member less.",
    explanation: "A plugin that stores the member stores what the host takes for another.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::UnionMemberRemoved(told) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} was removed{}",
                words::list(&told.names()),
                words::size(told)
            ),
            directions: effect::both(pair, |meeting| {
                effect::union(meeting, told, meeting.plugin_is_old)
            }),
            bytes: told.slots(),
            remedy: "ask for the running release before storing it".into(),
        },
    ))
}
