//! An API is new.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;

/// The rule.
pub const RULE: Rule = Rule {
    id: "api_added",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "An API is new.",
    explanation: "No plugin that exists uses it, so none is affected. A plugin that does use it \
                  needs a host of that release: on an older one its functions are exported by no \
                  library, and a plugin that names one as a strong symbol does not load.\n\n\
                  Look its functions up when the plugin runs; sp-abi does, and gives an error \
                  that names the first release that has them.",
    reference: "ld.so(8): a symbol that no library in scope defines ends the load, with RTLD_NOW",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ApiAdded = change.kind else {
        return None;
    };
    let (has, name) = (pair.new.functions(change.api), change.api);
    Some(RULE.finding(
        change,
        Said {
            message: format!("the API {name} is new"),
            directions: effect::both(pair, |meeting| effect::api(meeting, name, has)),
            bytes: Vec::new(),
            remedy:
                "look its functions up at run time, and do without them on older releases".into(),
        },
    ))
}
