//! A name is another kind of thing than before.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "kind_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A name is another kind of thing than before.",
    explanation: "A struct became an enumeration, a function a macro, a typedef something of \
                  another size. Whoever was built with the one does not fit the other.\n\n\
                  Where the bytes are the same, or only ever stood behind a pointer, as when an \
                  opaque handle shows its members, no binary sees it and the finding is \
                  source-only.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::KindChanged(like) = change.kind else {
        return None;
    };
    let effect = effect::reread(like, &change.item);
    let finding = RULE.finding(
        change,
        Said {
            message: format!("{} is another kind of declaration", change.item),
            directions: effect,
            bytes: Vec::new(),
            remedy: "build once for each form, and choose by the running release".into(),
        },
    );
    Some(finding.lighter(like.is_binary(), Impact::SourceOnly))
}
