//! Findings about facts that no type shows: who sets, owns and stores a value.

use sp_ir::{Direction, Presence, Scope, Side, Transfer};

use super::JudgedChange;
use crate::change::OldNew;
use crate::effect;
use crate::finding::Finding;
use crate::phrases;

const GENERATE_AGAIN: &str = "run `sp-gen generate` again";

pub fn filler_changed(change: &JudgedChange, fillers: &OldNew<Side>) -> Finding {
    let sides = fillers.map(effect::side_name);
    let message = format!("{} now sets it, before {}", sides.new, sides.old);
    let remedy = "set it or read it, depending on the running release";
    change.evaluate(message, remedy, |case| {
        effect::changed_filler(case, *fillers)
    })
}

pub fn direction_changed(change: &JudgedChange, directions: &OldNew<Direction>) -> Finding {
    let texts = directions.map(phrases::direction);
    let message = format!("the direction changed from {} to {}", texts.old, texts.new);
    let remedy = "set it before the call, and expect the callee to overwrite it";
    change.evaluate(message, remedy, |case| {
        effect::changed_direction(case, *directions)
    })
}

pub fn presence_tightened(
    change: &JudgedChange,
    presence: &OldNew<Presence>,
    filler: &Side,
) -> Finding {
    let message = format!("{} is now required", change.name());
    change.evaluate(message, "always set it", |case| {
        effect::changed_presence(case, *presence, *filler)
    })
}

pub fn presence_relaxed(
    change: &JudgedChange,
    presence: &OldNew<Presence>,
    filler: &Side,
) -> Finding {
    let message = format!("{} is now optional", change.name());
    let remedy = "set it to support older releases";
    change.evaluate(message, remedy, |case| {
        effect::changed_presence(case, *presence, *filler)
    })
}

pub fn transfer_changed(
    change: &JudgedChange,
    transfers: &OldNew<Transfer>,
    giver: &Side,
) -> Finding {
    let texts = transfers.map(phrases::transfer);
    let message = format!(
        "the ownership transfer changed from {} to {}",
        texts.old, texts.new
    );
    let remedy = "free it or not, depending on the running release";
    change.evaluate(message, remedy, |case| {
        effect::changed_transfer(case, *transfers, *giver)
    })
}

pub fn scope_changed(change: &JudgedChange, scopes: &OldNew<Scope>, giver: &Side) -> Finding {
    let texts = scopes.map(phrases::scope);
    let message = format!("the value is now used {}, before {}", texts.new, texts.old);
    let remedy = "keep the value valid for the longer of the two";
    change.evaluate(message, remedy, |case| {
        effect::changed_scope(case, *scopes, *giver)
    })
}

pub fn receiver_changed(change: &JudgedChange) -> Finding {
    let message = "callbacks get the plugin's object in another way";
    change.harmless(message, "the layout is unchanged", GENERATE_AGAIN)
}

pub fn comment_changed(change: &JudgedChange) -> Finding {
    let message = "the contract in the comment was changed or removed";
    let why = "no other fact contradicts the comment";
    change.harmless(message, why, "compare the comments of both headers")
}

pub fn default_return_changed(change: &JudgedChange) -> Finding {
    let message = "the default return value after a panic changed";
    let why = "only generated code contains the value";
    change.harmless(message, why, GENERATE_AGAIN)
}
