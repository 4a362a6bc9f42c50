//! Functions that both sides declare.

use std::collections::HashMap;

use sp_ir::{Function, Item, Side};

use super::{Ledger, parameters};
use crate::abi::change::{Both, Kind};
use crate::abi::memory::other;
use crate::abi::pair::Pair;
use crate::abi::view::View;

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
    parameters::function(ledger, &old.signature, &new.signature, other(by.new));
}

/// The side that calls a callback, as the tables that hold it say; core where none does.
pub fn caller_of(pair: &Pair, name: &str) -> Side {
    callers(&pair.new).get(name).copied().unwrap_or(Side::Core)
}

fn callers<'v>(view: &'v View) -> HashMap<&'v str, Side> {
    let mut callers = HashMap::new();
    for entry in view.items.values() {
        let Item::Struct(item) = &*entry.item else {
            continue;
        };
        for field in &item.fields {
            if let (sp_ir::Type::Named(name), Some(filler)) = (&field.ty, item.filler(field)) {
                callers.insert(name.as_str(), other(filler));
            }
        }
    }
    callers
}
