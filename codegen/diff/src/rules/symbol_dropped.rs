//! A function is declared, and no library exports it any more.

use sp_ir::Item;

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "symbol_dropped",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function is declared, and no library exports it any more.",
    explanation: "The header promises a function that the wheel does not have, so that plugins \
                  compile and link and then do not load. The 14 functions of \
                  kernels_experimental.h are so from 2.19 on in tensorflow-cpu for Linux.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SymbolDropped(libraries) = &change.kind else {
        return None;
    };
    let Some(Declared::Item(_, Item::Function(item))) = change.new else {
        return None;
    };
    let remedy = match &item.instead {
        Some(other) => format!(
            "look it up at run time; where it is missing: {}",
            other.value
        ),
        None => {
            "look it up at run time, and keep another way for releases that lack it".to_string()
        }
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("exported no more; before by {libraries}"),
            directions: effect::both(pair, |meeting| {
                effect::exported(meeting, &item.symbol, true)
            }),
            bytes: Vec::new(),
            remedy,
        },
    ))
}
