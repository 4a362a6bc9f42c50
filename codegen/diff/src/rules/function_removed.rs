//! A function is declared no more.

use sp_ir::{Item, Side};

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact, Outcome};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "function_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "A function is declared no more.",
    explanation: "A plugin that names it as a strong symbol does not load where no library \
                  exports it; one that looks it up finds nothing. Where the libraries' exports \
                  are known and one still has it, binaries go on, and only a compiler sees the \
                  change.\n\n\
                  The body of an inline function is in the plugin already; then too only a \
                  compiler sees it.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FunctionRemoved = change.kind else {
        return None;
    };
    let Some(Declared::Item(name, Item::Function(item))) = change.old else {
        return None;
    };
    let by = item.exported_by.as_ref().map_or(Side::Core, |it| it.value);
    let directions = effect::both(pair, |meeting| {
        effect::function(meeting, name, &item.symbol, by, item.inline)
    });
    let remedy = match &item.instead {
        Some(other) => format!(
            "look it up at run time; where it is missing: {}",
            other.value
        ),
        None => "look it up at run time, and keep another way for releases that lack it".into(),
    };
    let harmless = directions.old_on_new.outcome == Outcome::Works;
    let finding = RULE.finding(
        change,
        Said {
            message: format!("{name} is gone"),
            directions,
            bytes: Vec::new(),
            remedy,
        },
    );
    Some(finding.lighter(harmless, Impact::SourceOnly))
}
