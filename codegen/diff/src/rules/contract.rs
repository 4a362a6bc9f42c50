//! Findings about facts that no type shows: who sets, owns and stores a value.

use sp_ir::{Direction, Presence, Scope, Side, Transfer};

use super::{Rule, catalog};
use crate::change::{Change, OldNew};
use crate::effect::{self, PluginOnHost};
use crate::finding::{Effect, Finding};
use crate::pair::SurfacePair;
use crate::phrases;

const GENERATE_AGAIN: &str = "run `sp-gen generate` again";

pub fn filler_changed(pair: &SurfacePair, change: &Change, fillers: OldNew<Side>) -> Finding {
    let sides = fillers.map(effect::side_name);
    let message = format!("{} now sets it, before {}", sides.new, sides.old);
    let remedy = "set it or read it, depending on the running release";
    catalog::FILLER_CHANGED.judged(pair, change, message, remedy, |case| {
        effect::changed_filler(case, fillers)
    })
}

pub fn direction_changed(
    pair: &SurfacePair,
    change: &Change,
    directions: OldNew<Direction>,
) -> Finding {
    let texts = directions.map(phrases::direction);
    let message = format!("the direction changed from {} to {}", texts.old, texts.new);
    let remedy = "set it before the call, and expect the callee to overwrite it";
    catalog::DIRECTION_CHANGED.judged(pair, change, message, remedy, |case| {
        effect::changed_direction(case, directions)
    })
}

pub fn presence_tightened(
    pair: &SurfacePair,
    change: &Change,
    presence: OldNew<Presence>,
    filler: Side,
) -> Finding {
    let message = format!("{} is now required", phrases::last_component(&change.item));
    catalog::PRESENCE_TIGHTENED.judged(pair, change, message, "always set it", |case| {
        effect::changed_presence(case, presence, filler)
    })
}

pub fn presence_relaxed(
    pair: &SurfacePair,
    change: &Change,
    presence: OldNew<Presence>,
    filler: Side,
) -> Finding {
    let message = format!("{} is now optional", phrases::last_component(&change.item));
    let remedy = "set it to support older releases";
    catalog::PRESENCE_RELAXED.judged(pair, change, message, remedy, |case| {
        effect::changed_presence(case, presence, filler)
    })
}

pub fn transfer_changed(
    pair: &SurfacePair,
    change: &Change,
    transfers: OldNew<Transfer>,
    giver: Side,
) -> Finding {
    let texts = transfers.map(phrases::transfer);
    let message = format!(
        "the ownership transfer changed from {} to {}",
        texts.old, texts.new
    );
    let remedy = "free it or not, depending on the running release";
    catalog::TRANSFER_CHANGED.judged(pair, change, message, remedy, |case| {
        effect::changed_transfer(case, transfers, giver)
    })
}

pub fn scope_changed(
    pair: &SurfacePair,
    change: &Change,
    scopes: OldNew<Scope>,
    giver: Side,
) -> Finding {
    let texts = scopes.map(phrases::scope);
    let message = format!("the value is now used {}, before {}", texts.new, texts.old);
    let remedy = "keep the value valid for the longer of the two";
    catalog::SCOPE_CHANGED.judged(pair, change, message, remedy, |case| {
        effect::changed_scope(case, scopes, giver)
    })
}

impl Rule {
    fn judged<'p>(
        &self,
        pair: &'p SurfacePair<'p>,
        change: &Change,
        message: String,
        remedy: &str,
        effect: impl Fn(PluginOnHost<'p>) -> Effect,
    ) -> Finding {
        self.finding(
            change,
            message,
            effect::in_both_directions(pair, effect),
            remedy,
        )
    }
}

pub fn receiver_changed(change: &Change) -> Finding {
    let message = "callbacks get the plugin's object in another way".into();
    catalog::RECEIVER_CHANGED.harmless(change, message, "the layout is unchanged", GENERATE_AGAIN)
}

pub fn comment_changed(change: &Change) -> Finding {
    let message = "the contract in the comment was changed or removed".into();
    let why = "no other fact contradicts the comment";
    catalog::COMMENT_CHANGED.harmless(change, message, why, "compare the comments of both headers")
}

pub fn default_return_changed(change: &Change) -> Finding {
    let message = "the default return value after a panic changed".into();
    let why = "only generated code contains the value";
    catalog::DEFAULT_RETURN_CHANGED.harmless(change, message, why, GENERATE_AGAIN)
}
