//! Another library exports a function.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "symbol_moved",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Another library exports a function.",
    explanation: "The dynamic linker looks through the libraries that a plugin names and those that \
                  they need. A plugin linked to the library that had the function finds it only \
                  where that library is there still and needs the one that has it now. In 2.12 the \
                  helpers for graphs and strings went from _pywrap_tensorflow_internal.so to \
                  libtensorflow_cc.so.2; the first needs the second, so a plugin that names the \
                  first loads, and one that names the second does not load on 2.11, which lacks \
                  it.\n\n\
                  A plugin that looks functions up in all of the process's TensorFlow libraries, as \
                  sp-runtime does, sees no difference.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SymbolMoved(said) = &change.kind else {
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
