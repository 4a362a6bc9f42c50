//! A typedef names another type.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "alias_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A typedef names another type.",
    explanation: "Everything declared with the typedef is of the other type now: members may lie \
                  elsewhere, arguments may be passed in other registers, values may mean \
                  something else. Where the new type has the same bytes, only a compiler sees \
                  it.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::AliasRetyped(like) = change.kind else {
        return None;
    };
    let effect = effect::reread(like, &change.item);
    let finding = RULE.finding(
        change,
        Said {
            message: format!("{} names another type", change.item),
            directions: effect,
            bytes: Vec::new(),
            remedy: "build once for each form, and choose by the running release".into(),
        },
    );
    Some(finding.lighter(like.is_binary(), Impact::SourceOnly))
}
