//! An API is gone, with all that it declared.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "api_removed",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "An API is gone, with all that it declared.",
    explanation: "Its headers are there no more. A plugin that was built with them and names one \
                  of its functions as a strong symbol does not load; one that looks them up \
                  finds none.\n\n\
                  Where libraries still export the functions, the plugin still runs: what is \
                  known of exports is taken into account.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ApiRemoved = change.kind else {
        return None;
    };
    let (has, name) = (pair.old.functions(change.api), change.api);
    Some(RULE.finding(
        change,
        Said {
            message: format!("the API {name} is gone"),
            directions: effect::both(pair, |meeting| effect::api(meeting, name, has)),
            bytes: Vec::new(),
            remedy: "look its functions up at run time, and keep another way for releases that lack them".into(),
        },
    ))
}
