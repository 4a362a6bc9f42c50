//! A function is exported under another symbol.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "symbol_renamed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function is exported under another symbol.",
    explanation: "The name in C is the same, the linker's is not: a plugin finds the one only on \
                  hosts that have it.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SymbolRenamed(said) = &change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("its symbol is {}, before {}", said.new, said.old),
            directions: effect::both(pair, |meeting| effect::renamed(meeting, *said)),
            bytes: Vec::new(),
            remedy: "look both symbols up at run time".into(),
        },
    ))
}
