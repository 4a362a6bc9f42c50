//! The version macros moved, at least as far as the changes ask.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::version;

/// The rule.
pub const RULE: Rule = Rule {
    id: "version_changed",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "The version macros moved, at least as far as the changes ask.",
    explanation: "Nothing in memory depends on them; a plugin or host that compares them sees \
                  what it should.",
    reference: "semver.org 2.0.0, points 6 to 8; pjrt_c_api.h at PJRT_API_MAJOR",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Version { said, asked } = &change.kind else {
        return None;
    };
    if version::moved(*said) < *asked {
        return None;
    }
    let (old, new) = (said.old.unwrap_or("none"), said.new.unwrap_or("none"));
    Some(RULE.finding(
        change,
        Said {
            message: format!("version {old} is now {new}"),
            directions: effect::works("the version says what changed"),
            bytes: Vec::new(),
            remedy: "nothing".into(),
        },
    ))
}
