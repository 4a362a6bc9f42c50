//! Effects of facts that no type shows: who sets, frees and stores a value.

use sp_ir::{Direction, Presence, Scope, Side, Transfer};

use super::{PluginOnHost, uniform};
use crate::change::OldNew;
use crate::finding::{Effect, Outcome};

/// Returns the name of a side.
pub fn side_name(side: Side) -> &'static str {
    match side {
        Side::Core => "core",
        Side::Plugin => "the plugin",
    }
}

/// Returns the effect of a struct or member that each side expects the other to set, or that both set.
pub fn changed_filler(case: PluginOnHost, fillers: OldNew<Side>) -> Effect {
    let why = match case.plugin_and_host(fillers) {
        (Side::Core, Side::Plugin) => "the plugin and the host each expect the other to set it",
        _ => "the plugin and the host both set it",
    };
    uniform(Outcome::MisreadsValue, why)
}

/// Returns the effect of a parameter with different directions.
pub fn changed_direction(case: PluginOnHost, directions: OldNew<Direction>) -> Effect {
    let why = match case.plugin_and_host(directions) {
        (Direction::InOut, _) | (_, Direction::InOut) => {
            "one side sets a value that the other ignores"
        }
        _ => "each side expects the other to set it",
    };
    uniform(Outcome::MisreadsValue, why)
}

/// Returns the effect of a function that the other side defines.
pub fn changed_exporter(case: PluginOnHost, exporters: OldNew<Side>, name: &str) -> Effect {
    match case.plugin_and_host(exporters) {
        (Side::Core, Side::Plugin) => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!(
                "the plugin expects {name} in the host, and the host expects it in the plugin"
            ),
        },
        _ => uniform(
            Outcome::WorksWithout,
            format!("{name} of the plugin is not called"),
        ),
    }
}

/// Returns the effect of a member that only one side requires. `filler` sets it.
pub fn changed_presence(case: PluginOnHost, presence: OldNew<Presence>, filler: Side) -> Effect {
    let is_required = presence_is_required(case, presence);
    match (filler, is_required) {
        (Side::Plugin, (false, true)) => uniform(
            Outcome::Rejected,
            "the host rejects a plugin that leaves it null",
        ),
        (Side::Core, (true, false)) => uniform(
            Outcome::MisreadsValue,
            "the plugin requires a value that the host may leave null",
        ),
        _ => uniform(
            Outcome::Works,
            "the side that sets it does so, or the other accepts null",
        ),
    }
}

/// Returns a flag for the plugin's side and one for the host's: true if it requires the member.
fn presence_is_required(case: PluginOnHost, presence: OldNew<Presence>) -> (bool, bool) {
    case.plugin_and_host(presence.map(|presence| presence == Presence::Required))
}

/// Returns the effect of a changed ownership transfer. `giver` owns the value before the call.
pub fn changed_transfer(case: PluginOnHost, transfers: OldNew<Transfer>, giver: Side) -> Effect {
    match giver_and_receiver(case, transfers, giver) {
        (Transfer::None, Transfer::Full) => uniform(Outcome::CorruptsMemory, "both sides free it"),
        (Transfer::Full, Transfer::None) => {
            uniform(Outcome::Works, "no side frees it, so it leaks")
        }
        _ => uniform(Outcome::Works, "exactly one side frees it"),
    }
}

/// Returns the effect of a value that the callee stores for a longer or shorter time.
pub fn changed_scope(case: PluginOnHost, scopes: OldNew<Scope>, giver: Side) -> Effect {
    match giver_and_receiver(case, scopes, giver) {
        (Scope::Call, Scope::Stored) => uniform(
            Outcome::CorruptsMemory,
            "it is used after its owner has freed it",
        ),
        _ => uniform(Outcome::Works, "it is valid as long as it is used"),
    }
}

/// Returns the value of the side that passes an argument and of the side that receives it, in this order.
fn giver_and_receiver<T>(case: PluginOnHost, values: OldNew<T>, giver: Side) -> (T, T) {
    let (plugin, host) = case.plugin_and_host(values);
    match giver {
        Side::Plugin => (plugin, host),
        Side::Core => (host, plugin),
    }
}

/// Returns the effect of an enumerator that one side does not have, or has with another number.
pub fn unknown_enumerator(plugin_has_it: bool) -> Effect {
    match plugin_has_it {
        true => uniform(
            Outcome::MisreadsValue,
            "the plugin may send a number that the host does not know",
        ),
        false => uniform(
            Outcome::WorksWithout,
            "the plugin does not send the number, and does not know it if the host sends it",
        ),
    }
}
