//! Effects of functions that one of plugin and host calls in the other.

use sp_ir::{Function, Item, Side};

use super::{PluginOnHost, uniform};
use crate::change::OldNew;
use crate::finding::{Effect, Outcome};
use crate::view::SurfaceView;

/// Returns the effect of a function that only one side declares.
pub fn missing_function(case: PluginOnHost, name: &str, function: &Function) -> Effect {
    let is_declared = |view: &SurfaceView| matches!(view.item(name), Some(Item::Function(_)));
    if function.inline {
        return uniform(
            Outcome::Works,
            "the header contains the body, so the plugin does too",
        );
    }
    if exporter(function) == Side::Plugin {
        let why = match is_declared(case.host) {
            true => format!("the host looks for {name} in the plugin, and continues without it"),
            false => format!("the host does not call {name}"),
        };
        return uniform(Outcome::WorksWithout, why);
    }
    match is_declared(case.plugin) {
        true => exported_symbol(case, &function.symbol, is_declared(case.host)),
        false => uniform(
            Outcome::WorksWithout,
            format!("the plugin does not use {name}"),
        ),
    }
}

fn exporter(function: &Function) -> Side {
    let exporter = function.exported_by.as_ref();
    exporter.map_or(Side::Core, |stated| stated.value)
}

/// Returns the effect of a symbol that the plugin needs. If the host's exports are unknown, `declared` decides.
pub fn exported_symbol(case: PluginOnHost, symbol: &str, declared: bool) -> Effect {
    let exported = case.host.exports.map(|exports| {
        let libraries = exports.get(symbol);
        libraries.is_some_and(|libraries| !libraries.is_empty())
    });
    match exported.unwrap_or(declared) {
        true => uniform(Outcome::Works, format!("the host exports {symbol}")),
        false => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!("no library of the host exports {symbol}"),
        },
    }
}

/// Returns the effect of a symbol that other libraries export.
pub fn changed_libraries(case: PluginOnHost, symbol: &str) -> Effect {
    let libraries = |view: &SurfaceView| {
        let exports = view.exports.and_then(|exports| exports.get(symbol));
        exports.cloned().unwrap_or_default()
    };
    let (plugin, host) = (libraries(case.plugin), libraries(case.host));
    if !plugin.is_disjoint(&host) {
        return uniform(
            Outcome::Works,
            format!("a library that exported {symbol} still exports it"),
        );
    }
    Effect {
        outcome: Outcome::FailsToLoad,
        guarded: Outcome::Works,
        why: format!(
            "a plugin linked to the library that exported {symbol} finds it only if that library depends on the other one"
        ),
    }
}

/// Returns the effect of an API that only one side has. `has_functions` is true if core defines functions of it.
pub fn missing_api(case: PluginOnHost, name: &str, has_functions: bool) -> Effect {
    let plugin_has_it = case.plugin.apis.contains_key(name);
    let host_has_it = case.host.apis.contains_key(name);
    match (plugin_has_it, host_has_it, has_functions) {
        (true, false, true) => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!("the host does not have the functions of {name}"),
        },
        (true, false, false) => uniform(
            Outcome::WorksWithout,
            format!("the host does not use {name}"),
        ),
        _ => uniform(
            Outcome::WorksWithout,
            format!("the plugin does not use {name}"),
        ),
    }
}

/// Returns the effect of a function that is inline on one side.
pub fn inlined_function(case: PluginOnHost, functions: OldNew<&Function>) -> Effect {
    let (plugin, host) = case.plugin_and_host(functions);
    match (plugin.inline, host.inline) {
        (false, true) => exported_symbol(case, &plugin.symbol, false),
        (true, _) => uniform(Outcome::Works, "the plugin contains the body"),
        (false, false) => uniform(Outcome::Works, "it is exported as before"),
    }
}

/// Returns the effect of a function with different symbols.
pub fn renamed_symbol(case: PluginOnHost, symbols: OldNew<&str>) -> Effect {
    let (plugin, _) = case.plugin_and_host(symbols);
    exported_symbol(case, plugin, false)
}
