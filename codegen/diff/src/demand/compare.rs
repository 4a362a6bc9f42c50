//! Lists the changes between two demands.

use super::DemandChange::{self, *};
use crate::change::OldNew;
use sp_data::demand::{Demand, Extension, RunOutcome, Slot, SlotDemand};

/// An item, and a change of it.
pub(super) type ItemChange = (String, DemandChange);

/// The version that programs have if the plugin states none.
const STATED_NONE: &str = "none";

/// Returns the changes, each with its item.
pub fn compare(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let mut changes = slots(old, new);
    changes.extend(headers(old, new));
    changes.extend(extensions(old, new));
    changes.extend(programs(old, new));
    changes.extend(function_tables(old, new));
    changes.extend(stablehlo(old, new));
    changes
}

fn slots(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let both = new
        .slots
        .iter()
        .filter_map(|(name, new)| Some((name, old.slots.get(name)?, new)));
    let changes = both.flat_map(|(name, old, new)| {
        let changes = [
            slot_use(old, new),
            slot_size(old, new),
            slot_error(old, new),
        ];
        let changes = changes.into_iter().flatten();
        changes.map(|change| (name.clone(), change))
    });
    changes.collect()
}

fn slot_use(old: &Slot, new: &Slot) -> Option<DemandChange> {
    match (old.demand, new.demand) {
        (old, new) if old == new => None,
        (_, SlotDemand::Required) => Some(SlotRequired(new.null.clone(), new.error.clone())),
        (_, SlotDemand::Optional) => Some(SlotCalled),
        (_, SlotDemand::Unused) => Some(SlotUnused),
    }
}

fn slot_size(old: &Slot, new: &Slot) -> Option<DemandChange> {
    let (old, new) = (old.struct_size?, new.struct_size?);
    (old != new).then_some(ArgumentsResized(OldNew { old, new }))
}

fn slot_error(old: &Slot, new: &Slot) -> Option<DemandChange> {
    let (old, new) = (old.error.clone()?, new.error.clone()?);
    let is_worse = severity(&old) < severity(&new);
    is_worse.then_some(SlotErrorWorse(OldNew { old, new }))
}

/// Orders what a host does with an error of a slot.
fn severity(outcome: &RunOutcome) -> u8 {
    match outcome.outcome.as_str() {
        "ok" | "ignored" => 0,
        "error" => 1,
        _ => 2,
    }
}

fn headers(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let headers = new.table.headers.iter();
    let both = headers.filter_map(|(minor, new)| Some((minor, old.table.headers.get(minor)?, new)));
    let changed = both.filter(|(_, old, new)| old.is_ok() != new.is_ok());
    let changes = changed.filter_map(|(minor, old, new)| {
        let number = minor.parse().ok()?;
        let change = match new.is_ok() {
            true => HeaderAccepted(number, old.clone()),
            false => HeaderDeclined(number, new.clone()),
        };
        Some((format!("PJRT_API_MINOR.{minor}"), change))
    });
    changes.collect()
}

fn extensions(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let absent = Extension {
        functions: Vec::new(),
        required: false,
        repairs: Vec::new(),
    };
    let mut changes = Vec::new();
    let names = old.extensions.keys().chain(
        new.extensions
            .keys()
            .filter(|name| !old.extensions.contains_key(*name)),
    );
    for name in names {
        let (old, new) = (
            old.extensions.get(name).unwrap_or(&absent),
            new.extensions.get(name).unwrap_or(&absent),
        );
        let item = format!("PJRT_{name}_Extension");
        match (old.required, new.required) {
            (false, true) => changes.push((item.clone(), ExtensionRequired)),
            (true, false) => changes.push((item.clone(), ExtensionUnneeded)),
            _ => {}
        }
        let called = new
            .functions
            .iter()
            .filter(|function| !old.functions.contains(function));
        let called: Vec<String> = called.cloned().collect();
        if !called.is_empty() {
            changes.push((item, ExtensionCalled(called)));
        }
    }
    changes
}

fn programs(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let programs = new.programs.iter();
    let both = programs.filter_map(|(name, new)| Some((name, old.programs.get(name)?, new)));
    let changed = both.filter(|(_, old, new)| old.is_ok() != new.is_ok());
    let changes = changed.map(|(name, old, new)| match new.is_ok() {
        true => (name.clone(), ProgramRuns(old.clone())),
        false => (name.clone(), ProgramFails(new.clone())),
    });
    changes.collect()
}

fn function_tables(old: &Demand, new: &Demand) -> Vec<ItemChange> {
    let added = new
        .function_tables
        .iter()
        .filter(|name| !old.function_tables.contains(name));
    added
        .map(|name| (name.clone(), FunctionTableCalled))
        .collect()
}

fn stablehlo(old: &Demand, new: &Demand) -> Option<ItemChange> {
    let (old, new) = (
        old.stablehlo.get(STATED_NONE)?,
        new.stablehlo.get(STATED_NONE)?,
    );
    let versions = OldNew {
        old: old.clone(),
        new: new.clone(),
    };
    (old != new).then(|| {
        (
            "stablehlo_current_version".into(),
            StablehloDefaultChanged(versions),
        )
    })
}
