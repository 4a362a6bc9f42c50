//! Functions that both sides declare.

use sp_ir::{Function, Side};

use super::{Ledger, parameters};
use crate::change::{Both, Kind};

/// A function that both sides have.
pub fn compare<'p>(ledger: &mut Ledger<'_, 'p>, old: &'p Function, new: &'p Function) {
    let exporter = |one: &Function| one.exported_by.as_ref().map_or(Side::Core, |it| it.value);
    let by = Both {
        old: exporter(old),
        new: exporter(new),
    };
    if by.old != by.new {
        ledger.item(Kind::ExporterChanged(by));
    }
    match (old.inline, new.inline) {
        (false, true) => ledger.item(Kind::FunctionInlined),
        (true, false) => ledger.item(Kind::FunctionOutlined),
        (false, false) if old.symbol != new.symbol => {
            let symbol = Both {
                old: old.symbol.as_str(),
                new: new.symbol.as_str(),
            };
            ledger.item(Kind::SymbolRenamed(symbol));
        }
        _ => {}
    }
    parameters::function(ledger, &old.signature, &new.signature, by.new.other());
}
