//! A comment in the header states something else, or nothing any more.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "comment_changed",
    impact: Impact::Compatible,
    bump: Bump::Patch,
    summary: "A comment in the header states something else, or nothing any more.",
    explanation: "A comment on a member, a parameter or a result says who fills it, whether it may \
                  be left empty, or who owns it. In one of the two headers it says so and in the \
                  other one it does not, and nothing else contradicts it. The header may only be \
                  clearer now, or the contract may have changed: read both comments.",
    reference: "the comments of both headers",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::CommentChanged = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: "its comment states something else, or nothing any more".into(),
            directions: effect::works("no other fact contradicts the comment"),
            bytes: Vec::new(),
            remedy: "compare the comments of both headers".into(),
        },
    ))
}
