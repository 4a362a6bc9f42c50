//! Findings about what calls pass and return.

use super::JudgedChange;
use crate::change::{CallChange, OldNew};
use crate::effect;
use crate::finding::Finding;

/// Returns the finding about a function whose signature changed.
pub fn signature_changed(change: &JudgedChange, call: &CallChange) -> Finding {
    let remedy =
        "call it with the signature of the running release; sp-abi has one for each layout version";
    call_changed(change, call, remedy)
}

// Each of these rules is about another part of the signature.
pub use self::{
    signature_changed as calling_convention_changed, signature_changed as parameter_added,
    signature_changed as parameter_moved, signature_changed as parameter_removed,
    signature_changed as parameter_retyped, signature_changed as return_retyped,
};

pub fn callback_signature_changed(change: &JudgedChange, call: &CallChange) -> Finding {
    let remedy = "store a function with the signature of the running release; sp-abi has one for each layout version";
    call_changed(change, call, remedy)
}

fn call_changed(change: &JudgedChange, call: &CallChange, remedy: &str) -> Finding {
    change.evaluate(&call.description, remedy, |case| {
        effect::changed_call(change.pair, case, call)
    })
}

pub fn parameter_renamed(change: &JudgedChange, names: &OldNew<&str>) -> Finding {
    let message = format!("the parameter {} was renamed to {}", names.old, names.new);
    let why = "arguments are passed by position";
    change.harmless(message, why, "nothing to do")
}
