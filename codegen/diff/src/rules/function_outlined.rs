//! A function that was inline is taken from a library.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "function_outlined",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "A function that was inline is taken from a library.",
    explanation: "A plugin built before has the body and goes on. One built with the newer \
                  header needs the symbol, which no older host exports: it does not load there.",
    reference: "C11 6.7.4: inline functions",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FunctionOutlined = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("{} is taken from a library now", change.item),
            directions: effect::both(pair, |meeting| effect::inlined(meeting, change)),
            bytes: Vec::new(),
            remedy: "look it up at run time, and keep the older body for releases that lack the symbol".into(),
        },
    ))
}
