//! A union has a member more.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "union_member_added",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A union has a member more.",
    explanation: "Where the union is as large as before, who does not know the member never \
                  reads it, as long as whatever says which member holds is looked at. A union \
                  that grew breaks what holds it; only then is the finding breaking.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::UnionMemberAdded(told) = &change.kind else {
        return None;
    };
    let grew = told.size.old != told.size.new;
    let finding = RULE.finding(
        change,
        Said {
            message: format!(
                "{} was added{}",
                words::list(&told.names()),
                words::size(told)
            ),
            directions: effect::both(pair, |meeting| {
                effect::union(meeting, told, !meeting.plugin_is_old)
            }),
            bytes: told.slots(),
            remedy: "look at what says which member holds before reading one".into(),
        },
    );
    Some(finding.lighter(!grew, Impact::Compatible))
}
