//! Effects of a change on a plugin. Each function compares the side that the plugin was built with and the side of the
//! host. It is called once for each direction, so a diff and its reverse give the same effects.

mod call;
mod contract;
mod layout;
mod symbol;

pub use call::changed_call;
pub use contract::{
    changed_direction, changed_exporter, changed_filler, changed_presence, changed_scope,
    changed_transfer, side_name, unknown_enumerator,
};
pub use layout::{
    changed_alignment, changed_layout, changed_sizeof, changed_struct_size, changed_union,
    retyped_field,
};
pub use symbol::{
    changed_libraries, exported_symbol, inlined_function, missing_api, missing_function,
    renamed_symbol,
};

use super::change::OldNew;
use super::finding::{Directions, Effect, Outcome};
use super::pair::SurfacePair;
use super::similarity::Similarity;
use super::view::SurfaceView;

/// A plugin that was built with one side and is loaded by a host of the other.
#[derive(Clone, Copy)]
pub struct PluginOnHost<'m> {
    /// The side that the plugin was built with.
    pub plugin: &'m SurfaceView<'m>,
    /// The side of the host.
    pub host: &'m SurfaceView<'m>,
    /// True if the plugin was built with OLD.
    pub plugin_is_old: bool,
}

impl PluginOnHost<'_> {
    /// Returns the plugin's value and the host's value, in this order.
    pub fn plugin_and_host<T>(&self, values: OldNew<T>) -> (T, T) {
        match self.plugin_is_old {
            true => (values.old, values.new),
            false => (values.new, values.old),
        }
    }
}

/// Evaluates `effect` for a plugin of OLD on a host of NEW, and for the reverse.
pub fn in_both_directions<'p>(
    pair: &'p SurfacePair<'p>,
    effect: impl Fn(PluginOnHost<'p>) -> Effect,
) -> Directions {
    let (old, new) = (&pair.old, &pair.new);
    Directions {
        old_on_new: effect(PluginOnHost {
            plugin: old,
            host: new,
            plugin_is_old: true,
        }),
        new_on_old: effect(PluginOnHost {
            plugin: new,
            host: old,
            plugin_is_old: false,
        }),
    }
}

/// Returns an effect with the same outcome for guarded and other plugins.
pub fn uniform(outcome: Outcome, why: impl Into<String>) -> Effect {
    Effect {
        outcome,
        guarded: outcome,
        why: why.into(),
    }
}

/// Returns the effect in both directions.
pub fn same_in_both(effect: Effect) -> Directions {
    Directions {
        old_on_new: effect.clone(),
        new_on_old: effect,
    }
}

/// Returns the effect "works" in both directions, because of `why`.
pub fn harmless(why: &str) -> Directions {
    same_in_both(uniform(Outcome::Works, why))
}

/// Returns the effect of a name that stands for another type.
pub fn reinterpreted(similarity: Similarity, item: &str) -> Directions {
    let outcome = match similarity {
        similarity if similarity.is_binary_compatible() => {
            return harmless("the same bytes are passed");
        }
        Similarity::Signature => Outcome::WrongArguments,
        Similarity::Reinterpreted => Outcome::MisreadsValue,
        _ => Outcome::ReadsWrongMember,
    };
    let why = format!("{item} is one type in the plugin and another in the host");
    same_in_both(uniform(outcome, why))
}
