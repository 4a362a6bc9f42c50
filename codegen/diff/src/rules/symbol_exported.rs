//! A function that was only declared is exported.

use sp_ir::Item;

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "symbol_exported",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "A function that was only declared is exported.",
    explanation: "It was in the header before, and in no library. Plugins that name it load from \
                  this release on.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SymbolExported(libraries) = &change.kind else {
        return None;
    };
    let Some(Declared::Item(_, Item::Function(item))) = change.new else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!("exported by {libraries}, before by none"),
            directions: effect::both(pair, |meeting| {
                effect::exported(meeting, &item.symbol, true)
            }),
            bytes: Vec::new(),
            remedy: "look it up at run time".into(),
        },
    ))
}
