//! Findings about functions and the symbols that libraries export.

use sp_ir::{Function, Side};

use super::JudgedChange;
use crate::change::{Declaration, OldNew};
use crate::effect;
use crate::finding::{Finding, Impact};

const SEARCH_ALL_LIBRARIES: &str =
    "look it up in every TensorFlow library that the process has loaded";

pub fn function_added(change: &JudgedChange, function: &Function) -> Finding {
    let message = format!("{} was added", change.item);
    let remedy = "look it up at run time, and work without it on older releases";
    change.evaluate(message, remedy, |case| {
        effect::missing_function(case, change.item, function)
    })
}

pub fn function_removed(change: &JudgedChange, function: &Function) -> Finding {
    let message = format!("{} was removed", change.item);
    let finding = change.evaluate(message, &alternative(Some(function)), |case| {
        effect::missing_function(case, change.item, function)
    });
    finding.reduce_if_old_works(Impact::SourceOnly)
}

/// Returns the remedy for a function that a release lacks: the notes may name a replacement.
fn alternative(function: Option<&Function>) -> String {
    match function.and_then(|function| function.instead.as_ref()) {
        Some(replacement) => format!(
            "look it up at run time; if it is absent: {}",
            replacement.value
        ),
        None => "look it up at run time, and have an alternative for releases without it".into(),
    }
}

pub fn function_inlined(change: &JudgedChange, functions: &OldNew<&Function>) -> Finding {
    let message = format!("{} is now inline", change.item);
    let remedy = "look it up at run time if you compile with older headers";
    let finding = change.evaluate(message, remedy, |case| {
        effect::inlined_function(case, *functions)
    });
    finding.reduce_if_old_works(Impact::Compatible)
}

pub fn function_outlined(change: &JudgedChange, functions: &OldNew<&Function>) -> Finding {
    let message = format!("{} is no longer inline: a library exports it", change.item);
    let remedy =
        "look it up at run time, and include the older body for releases without the symbol";
    change.evaluate(message, remedy, |case| {
        effect::inlined_function(case, *functions)
    })
}

pub fn exporter_changed(change: &JudgedChange, exporters: &OldNew<Side>) -> Finding {
    let sides = exporters.map(effect::side_name);
    let message = format!(
        "{} is now defined by {}, before by {}",
        change.item, sides.new, sides.old
    );
    let remedy = "define the function or look it up, depending on the running release";
    change.evaluate(message, remedy, |case| {
        effect::changed_exporter(case, *exporters, change.item)
    })
}

pub fn export_mark_removed(change: &JudgedChange, mark: &str) -> Finding {
    let message = format!("{} {mark}", change.item);
    let finding = change.evaluate(message, &alternative(new_function(change)), |case| {
        effect::exported_symbol(case, symbol(change), !case.plugin_is_old)
    });
    finding.reduce_if_old_works(Impact::SourceOnly)
}

pub fn symbol_renamed(change: &JudgedChange, symbols: &OldNew<&str>) -> Finding {
    let message = format!("the symbol changed from {} to {}", symbols.old, symbols.new);
    let remedy = "look up both symbols at run time";
    change.evaluate(message, remedy, |case| {
        effect::renamed_symbol(case, *symbols)
    })
}

pub fn symbol_moved(change: &JudgedChange, libraries: &OldNew<String>) -> Finding {
    let message = format!(
        "{} is now exported by {}, before by {}",
        change.item, libraries.new, libraries.old
    );
    change.evaluate(message, SEARCH_ALL_LIBRARIES, |case| {
        effect::changed_libraries(case, change.item)
    })
}

// The message is the same if a library still exports the function.
pub use self::symbol_moved as symbol_shared;

pub fn symbol_dropped(change: &JudgedChange, libraries: &str) -> Finding {
    let message = format!(
        "{} is no longer exported; before by {libraries}",
        change.item
    );
    change.evaluate(message, &alternative(new_function(change)), |case| {
        effect::exported_symbol(case, symbol(change), true)
    })
}

pub fn symbol_exported(change: &JudgedChange, libraries: &str) -> Finding {
    let message = format!(
        "{} is now exported by {libraries}, before by no library",
        change.item
    );
    change.evaluate(message, "look it up at run time", |case| {
        effect::exported_symbol(case, symbol(change), true)
    })
}

/// Returns the symbol of NEW's function.
fn symbol<'c>(change: &JudgedChange<'c>) -> &'c str {
    new_function(change).map_or(change.item, |function| &function.symbol)
}

fn new_function<'c>(change: &JudgedChange<'c>) -> Option<&'c Function> {
    match change.new {
        Some(Declaration::Item(_, item)) => item.as_function(),
        _ => None,
    }
}
