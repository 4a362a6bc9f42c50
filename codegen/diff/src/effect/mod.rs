//! What becomes of a plugin on a host. Each function takes what the plugin was built with and what the
//! host has, and is asked once a direction; so a diff and its reverse cannot disagree.

mod call;
mod contract;
mod layout;
mod symbol;

pub use call::called;
pub use contract::{direction, exporter, filler_changed, presence, scope, side, transfer, value};
pub use layout::{aligned, relaid, resized, retyped, sized, union};
pub use symbol::{api, exported, function, inlined, libraries, renamed};

use super::change::Both;
use super::finding::{Directions, Effect, Outcome};
use super::likeness::Likeness;
use super::pair::Pair;
use super::view::View;

/// A plugin's side and a host's.
#[derive(Clone, Copy)]
pub struct Meeting<'m> {
    /// What the plugin was built with.
    pub plugin: &'m View<'m>,
    /// What it runs on.
    pub host: &'m View<'m>,
    /// Whether the plugin was built with OLD.
    pub plugin_is_old: bool,
}

impl Meeting<'_> {
    /// The plugin's and the host's of two things.
    pub fn sort<T>(&self, both: Both<T>) -> (T, T) {
        match self.plugin_is_old {
            true => (both.old, both.new),
            false => (both.new, both.old),
        }
    }
}

/// Asks for both directions.
pub fn both<'p>(pair: &'p Pair<'p>, effect: impl Fn(Meeting<'p>) -> Effect) -> Directions {
    let (old, new) = (&pair.old, &pair.new);
    Directions {
        old_on_new: effect(Meeting {
            plugin: old,
            host: new,
            plugin_is_old: true,
        }),
        new_on_old: effect(Meeting {
            plugin: new,
            host: old,
            plugin_is_old: false,
        }),
    }
}

/// The same outcome for all plugins.
pub fn plain(outcome: Outcome, why: impl Into<String>) -> Effect {
    Effect {
        outcome,
        guarded: outcome,
        why: why.into(),
    }
}

/// Nothing happens, in either direction.
pub fn works(why: &str) -> Directions {
    Directions {
        old_on_new: plain(Outcome::Works, why),
        new_on_old: plain(Outcome::Works, why),
    }
}

/// A name that stands for another type, on either side alike.
pub fn reread(like: Likeness, item: &str) -> Directions {
    let outcome = match like {
        like if like.is_binary() => return works("the same bytes are passed"),
        Likeness::Signature => Outcome::WrongArguments,
        Likeness::Reread => Outcome::MisreadsValue,
        _ => Outcome::ReadsWrongMember,
    };
    let effect = || {
        plain(
            outcome,
            format!("{item} is one thing to the plugin and another to the host"),
        )
    };
    Directions {
        old_on_new: effect(),
        new_on_old: effect(),
    }
}
