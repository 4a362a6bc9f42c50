//! Findings about functions and the symbols that libraries export.

use sp_ir::{Function, Item, Side};

use super::catalog;
use crate::change::{Change, Declaration, OldNew};
use crate::effect;
use crate::finding::{Directions, Finding, Impact, Outcome};
use crate::pair::SurfacePair;

const SEARCH_ALL_LIBRARIES: &str =
    "look it up in every TensorFlow library that the process has loaded";

pub fn added(pair: &SurfacePair, change: &Change) -> Finding {
    let message = format!("{} was added", change.item);
    let remedy = "look it up at run time, and work without it on older releases";
    catalog::FUNCTION_ADDED.finding(change, message, presence(pair, change.new), remedy)
}

pub fn removed(pair: &SurfacePair, change: &Change) -> Finding {
    let message = format!("{} was removed", change.item);
    let directions = presence(pair, change.old);
    let works = directions.old_on_new.outcome == Outcome::Works;
    let finding =
        catalog::FUNCTION_REMOVED.finding(change, message, directions, &alternative(change.old));
    finding.reduce_if(works, Impact::SourceOnly)
}

fn presence(pair: &SurfacePair, declaration: Option<Declaration>) -> Directions {
    let Some(Declaration::Item(name, Item::Function(function))) = declaration else {
        return effect::harmless("it is not a function");
    };
    effect::in_both_directions(pair, |case| effect::missing_function(case, name, function))
}

/// Returns the remedy for a function that a release lacks: the notes may name a replacement.
fn alternative(declaration: Option<Declaration>) -> String {
    match function(declaration).and_then(|function| function.instead.as_ref()) {
        Some(replacement) => format!(
            "look it up at run time; if it is absent: {}",
            replacement.value
        ),
        None => "look it up at run time, and have an alternative for releases without it".into(),
    }
}

fn function<'p>(declaration: Option<Declaration<'p>>) -> Option<&'p Function> {
    match declaration {
        Some(Declaration::Item(_, Item::Function(function))) => Some(function),
        _ => None,
    }
}

pub fn inlined(pair: &SurfacePair, change: &Change) -> Finding {
    let message = format!("{} is now inline", change.item);
    let directions =
        effect::in_both_directions(pair, |case| effect::inlined_function(case, change));
    let works = directions.old_on_new.outcome == Outcome::Works;
    let remedy = "look it up at run time if you compile with older headers";
    let finding = catalog::FUNCTION_INLINED.finding(change, message, directions, remedy);
    finding.reduce_if(works, Impact::Compatible)
}

pub fn outlined(pair: &SurfacePair, change: &Change) -> Finding {
    let message = format!("{} is no longer inline: a library exports it", change.item);
    let directions =
        effect::in_both_directions(pair, |case| effect::inlined_function(case, change));
    let remedy =
        "look it up at run time, and include the older body for releases without the symbol";
    catalog::FUNCTION_OUTLINED.finding(change, message, directions, remedy)
}

pub fn exporter_changed(pair: &SurfacePair, change: &Change, exporters: OldNew<Side>) -> Finding {
    let sides = exporters.map(effect::side_name);
    let message = format!(
        "{} is now defined by {}, before by {}",
        change.item, sides.new, sides.old
    );
    let directions = effect::in_both_directions(pair, |case| {
        effect::changed_exporter(case, exporters, &change.item)
    });
    let remedy = "define the function or look it up, depending on the running release";
    catalog::EXPORTER_CHANGED.finding(change, message, directions, remedy)
}

pub fn export_mark_removed(pair: &SurfacePair, change: &Change, mark: &str) -> Finding {
    let message = format!("{} {mark}", change.item);
    let symbol = function(change.new).map_or(change.item.as_str(), |function| &function.symbol);
    let directions = effect::in_both_directions(pair, |case| {
        effect::exported_symbol(case, symbol, !case.plugin_is_old)
    });
    let works = directions.old_on_new.outcome == Outcome::Works;
    let remedy = alternative(change.new);
    let finding = catalog::EXPORT_MARK_REMOVED.finding(change, message, directions, &remedy);
    finding.reduce_if(works, Impact::SourceOnly)
}

pub fn symbol_renamed(pair: &SurfacePair, change: &Change, symbols: OldNew<&str>) -> Finding {
    let message = format!("the symbol changed from {} to {}", symbols.old, symbols.new);
    let directions = effect::in_both_directions(pair, |case| effect::renamed_symbol(case, symbols));
    catalog::SYMBOL_RENAMED.finding(
        change,
        message,
        directions,
        "look up both symbols at run time",
    )
}

pub fn symbol_moved(pair: &SurfacePair, change: &Change, libraries: &OldNew<String>) -> Finding {
    let directions =
        effect::in_both_directions(pair, |case| effect::changed_libraries(case, &change.item));
    catalog::SYMBOL_MOVED.finding(
        change,
        exporters(change, libraries),
        directions,
        SEARCH_ALL_LIBRARIES,
    )
}

pub fn symbol_shared(pair: &SurfacePair, change: &Change, libraries: &OldNew<String>) -> Finding {
    let directions =
        effect::in_both_directions(pair, |case| effect::changed_libraries(case, &change.item));
    catalog::SYMBOL_SHARED.finding(
        change,
        exporters(change, libraries),
        directions,
        SEARCH_ALL_LIBRARIES,
    )
}

fn exporters(change: &Change, libraries: &OldNew<String>) -> String {
    format!(
        "{} is now exported by {}, before by {}",
        change.item, libraries.new, libraries.old
    )
}

pub fn symbol_dropped(pair: &SurfacePair, change: &Change, libraries: &str) -> Finding {
    let message = format!(
        "{} is no longer exported; before by {libraries}",
        change.item
    );
    let directions = exported(pair, change);
    catalog::SYMBOL_DROPPED.finding(change, message, directions, &alternative(change.new))
}

pub fn symbol_exported(pair: &SurfacePair, change: &Change, libraries: &str) -> Finding {
    let message = format!(
        "{} is now exported by {libraries}, before by no library",
        change.item
    );
    catalog::SYMBOL_EXPORTED.finding(
        change,
        message,
        exported(pair, change),
        "look it up at run time",
    )
}

fn exported(pair: &SurfacePair, change: &Change) -> Directions {
    let symbol = function(change.new).map_or(change.item.as_str(), |function| &function.symbol);
    effect::in_both_directions(pair, |case| effect::exported_symbol(case, symbol, true))
}
