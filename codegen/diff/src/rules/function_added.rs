//! A function is declared that was not before.

use sp_ir::{Item, Side};

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "function_added",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "A function is declared that was not before.",
    explanation: "No older plugin uses it. A newer plugin that names it as a strong symbol does \
                  not load on an older host; one that looks it up finds nothing and must do \
                  without.\n\n\
                  A new entry point of the plugin is one that a newer host looks for; an older \
                  plugin lacks it, an older host never calls it.\n\n\
                  The functions of sp-abi look themselves up, and say which release has them \
                  first.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FunctionAdded = change.kind else {
        return None;
    };
    let Some(Declared::Item(name, Item::Function(item))) = change.new else {
        return None;
    };
    let by = item.exported_by.as_ref().map_or(Side::Core, |it| it.value);
    let directions = effect::both(pair, |meeting| {
        effect::function(meeting, name, &item.symbol, by, item.inline)
    });
    Some(RULE.finding(
        change,
        Said {
            message: format!("{name} is new"),
            directions,
            bytes: Vec::new(),
            remedy: "look it up at run time, and do without it on older releases".into(),
        },
    ))
}
