//! Findings about what calls pass and return.

use super::{Rule, catalog};
use crate::change::{CallChange, Change};
use crate::effect;
use crate::finding::Finding;
use crate::pair::SurfacePair;

/// Returns the finding of `rule` about a function whose signature changed.
pub fn function_changed(
    rule: &Rule,
    pair: &SurfacePair,
    change: &Change,
    call: &CallChange,
) -> Finding {
    let remedy =
        "call it with the signature of the running release; sp-abi has one for each layout version";
    rule.changed(pair, change, call, remedy)
}

pub fn callback_changed(pair: &SurfacePair, change: &Change, call: &CallChange) -> Finding {
    let remedy = "store a function with the signature of the running release; sp-abi has one for each layout version";
    catalog::CALLBACK_SIGNATURE_CHANGED.changed(pair, change, call, remedy)
}

impl Rule {
    fn changed(
        &self,
        pair: &SurfacePair,
        change: &Change,
        call: &CallChange,
        remedy: &str,
    ) -> Finding {
        let directions =
            effect::in_both_directions(pair, |case| effect::changed_call(pair, case, call));
        self.finding(change, call.description.clone(), directions, remedy)
    }
}

pub fn parameter_renamed(change: &Change, names: crate::change::OldNew<&str>) -> Finding {
    let message = format!("the parameter {} was renamed to {}", names.old, names.new);
    catalog::PARAMETER_RENAMED.harmless(
        change,
        message,
        "arguments are passed by position",
        "nothing to do",
    )
}
