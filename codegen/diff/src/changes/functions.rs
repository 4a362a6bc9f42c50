//! Functions that both sides declare.

use sp_ir::{Function, Side};

use super::{Changes, parameters};
use crate::change::OldNew;
use crate::rules::ChangeKind;

/// Compares a function of both sides.
pub fn compare<'p>(changes: &mut Changes<'_, 'p>, old: &'p Function, new: &'p Function) {
    let functions = OldNew { old, new };
    let exporters = functions.map(exporter);
    if exporters.old != exporters.new {
        changes.push_item(ChangeKind::ExporterChanged(exporters));
    }
    match (old.inline, new.inline) {
        (false, true) => changes.push_item(ChangeKind::FunctionInlined(functions)),
        (true, false) => changes.push_item(ChangeKind::FunctionOutlined(functions)),
        (false, false) if old.symbol != new.symbol => {
            let symbols = OldNew::new(old.symbol.as_str(), new.symbol.as_str());
            changes.push_item(ChangeKind::SymbolRenamed(symbols));
        }
        _ => {}
    }
    let caller = exporters.new.other();
    parameters::compare_function(changes, &old.signature, &new.signature, caller);
}

fn exporter(function: &Function) -> Side {
    let exporter = function.exported_by.as_ref();
    exporter.map_or(Side::Core, |stated| stated.value)
}
