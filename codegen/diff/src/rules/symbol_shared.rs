//! Other libraries export a function too, or no more, and one that had it has it still.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "symbol_shared",
    impact: Impact::Compatible,
    bump: Bump::Patch,
    summary: "Other libraries export a function too, or no more, and one that had it has it still.",
    explanation: "libtensorflow_framework.so.2 has most functions in every release, and \
                  libtensorflow_cc.so.2 or _pywrap_tensorflow_internal.so had copies in some. Those \
                  two need the first, so that a plugin linked to any of them finds the function \
                  still.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SymbolShared(said) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("exported by {}, before by {}", said.new, said.old),
            directions: effect::both(pair, |meeting| effect::libraries(meeting, &change.item)),
            bytes: Vec::new(),
            remedy: "look it up in every TensorFlow library that the process has loaded".into(),
        },
    ))
}
