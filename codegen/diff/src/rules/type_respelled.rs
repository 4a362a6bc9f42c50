//! A type is written in another way and has the same bytes.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use sp_ir::c::spell;

/// The rule.
pub const RULE: Rule = Rule {
    id: "type_respelled",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "A type is written in another way and has the same bytes.",
    explanation: "void* says what it points to, an enumeration became its integer, one struct \
                  stands for another that is made alike. Binaries see no difference; a compiler \
                  may.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Respelled(both) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is {} now", spell(both.old), spell(both.new)),
            directions: effect::works("the same bytes are passed"),
            bytes: Vec::new(),
            remedy: "cast where one source serves both headers".into(),
        },
    ))
}
