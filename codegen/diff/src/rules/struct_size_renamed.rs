//! The size macro has another name.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_renamed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "The size macro has another name.",
    explanation: "Code that names it must change; the number is judged by other rules.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeRenamed(said) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is called {} now", said.old.symbol, said.new.symbol),
            directions: effect::works("no binary has the name"),
            bytes: Vec::new(),
            remedy: "use the name that the header at hand has".into(),
        },
    ))
}
