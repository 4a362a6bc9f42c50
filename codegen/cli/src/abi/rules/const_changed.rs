//! A macro or constant has another value.

use super::{Rule, Said};
use crate::abi::change::{Change, Kind};
use crate::abi::effect;
use crate::abi::finding::{Bump, Finding, Impact};
use crate::abi::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "const_changed",
    impact: Impact::SourceOnly,
    bump: Bump::Patch,
    summary: "A macro or constant has another value.",
    explanation: "Each side goes on with the value that it was compiled with. Where both compare \
                  such values, as the numbers of a file system's ABI, they may disagree: read \
                  what the constant is for.",
    reference: "C11 6.10.3: macros are replaced when code is compiled",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ConstChanged = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} has another value", change.item),
            directions: effect::works("each side has the value that it was compiled with"),
            bytes: Vec::new(),
            remedy: "compile again where the newer value matters".into(),
        },
    ))
}
