//! A slot or callback at the same place is called with something else.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "callback_signature_changed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A slot or callback at the same place is called with something else.",
    explanation: "The struct is as large as before and no member moved, so struct_size says \
                  nothing. In 2.6 TP_Optimizer.optimize_func took the grappler item as an \
                  argument more: a plugin built for 2.5 takes the item for its output buffer.\n\n\
                  The running release must be known to choose the function to put into the slot. \
                  sp-abi keeps a struct for each epoch.",
    reference: "the target's calling convention; for x86_64 Linux the System V ABI, 3.2.3",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::CallbackSignature(called) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: called.what.clone(),
            directions: effect::both(pair, |meeting| effect::called(pair, meeting, called)),
            bytes: Vec::new(),
            remedy: "put in the function that the running release calls; sp-abi has a form for each epoch".into(),
        },
    ))
}
