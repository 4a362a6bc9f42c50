//! The version macros did not move as far as the changes ask.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::version;

/// The rule.
pub const RULE: Rule = Rule {
    id: "version_unbumped",
    impact: Impact::SourceOnly,
    bump: Bump::None,
    summary: "The version macros did not move as far as the changes ask.",
    explanation: "The headers give the API a version so that either side can tell an \
                  incompatible other. Here the API changed more than its version says: a \
                  breaking change asks for another major number, an addition for another minor \
                  one. A program that trusts the version takes the two for compatible.\n\n\
                  TensorFlow has left SE_MAJOR, SE_MINOR and SE_PATCH at 0.0.1 through every \
                  break of stream_executor.h. Tell hosts apart by struct_size and by the running \
                  release, not by these macros.",
    reference: "semver.org 2.0.0, points 6 to 8; pjrt_c_api.h at PJRT_API_MAJOR",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::Version { said, asked } = &change.kind else {
        return None;
    };
    if version::moved(*said) >= *asked {
        return None;
    }
    let (old, new) = (said.old.unwrap_or("none"), said.new.unwrap_or("none"));
    let course = match old == new {
        true => format!("the version stays {old}"),
        false => format!("the version goes from {old} to {new}"),
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{course}; the changes ask for a {} bump",
                version::word(*asked)
            ),
            directions: effect::works("a check of the version passes where it should not"),
            bytes: Vec::new(),
            remedy: "tell hosts apart by struct_size and the running release".into(),
        },
    ))
}
