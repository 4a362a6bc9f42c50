//! A value has another name.

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "variant_renamed",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "A value has another name.",
    explanation: "The number is as before, so binaries see nothing. Where a macro keeps the old \
                  name, as TF_OK for TSL_OK, nothing is reported.",
    reference: "C11 6.7.2.2: enumerations are integers",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::VariantRenamed(value) = &change.kind else {
        return None;
    };
    let Some(Declared::Variant(name, ..)) = change.new else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{value} is called {name} now"),
            directions: effect::works("the number is as before"),
            bytes: Vec::new(),
            remedy: "use the name that the header at hand has".into(),
        },
    ))
}
