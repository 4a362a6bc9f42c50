//! Another integer carries an enumeration.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use sp_ir::c::spell;

/// The rule.
pub const RULE: Rule = Rule {
    id: "enum_retyped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Another integer carries an enumeration.",
    explanation: "Where the width differs, members move and arguments are read too wide or too \
                  narrow; where only the sign does, negative values change.",
    reference: "C11 6.7.2.2: the type compatible with an enumeration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::EnumRetyped(both, like) = &change.kind else {
        return None;
    };
    let finding = RULE.finding(
        change,
        Said {
            message: format!(
                "carried by {}, before by {}",
                spell(both.new),
                spell(both.old)
            ),
            directions: effect::reread(*like, &change.item),
            bytes: Vec::new(),
            remedy: "pass and read it as the running release has it".into(),
        },
    );
    Some(finding.lighter(like.is_binary(), Impact::SourceOnly))
}
