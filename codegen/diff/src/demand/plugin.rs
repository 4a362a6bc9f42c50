//! The changes that a PJRT plugin needs for a host, by the table of the library.

use super::DemandChange::{self, *};
use super::compare::{ItemChange, compare};
use super::judge;
use crate::finding::Diff;
use sp_data::demand::{Demand, PluginTable, RunOutcome};

/// Facts of a plugin's library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFacts {
    /// Its table.
    pub table: PluginTable,
    /// The failure if NEW passes structs of other sizes than those of its header, or `None` if it accepts them.
    pub rejected_size: Option<String>,
    /// True if its memories begin with tables that NEW can read. False if there is no memory here.
    pub has_memory_tables: bool,
}

/// Compares the demands of two releases for one plugin: what prevents it from running on NEW.
///
/// The effect of an error that a slot returns is not in the table, so that a `pjrt_slot_error_worse` is not reported.
pub fn diff_for_plugin(old: &Demand, new: &Demand, facts: &PluginFacts, target: &str) -> Diff {
    let mut changes = lacking(new, &facts.table);
    changes.extend(declined(new, &facts.table));
    let rejected = facts.rejected_size.clone();
    changes.extend(rejected.map(|detail| ("struct_size".to_owned(), SizeRejected(detail))));
    let reads_tables = !new.called_tables(facts.table.minor).is_empty();
    let lacks_tables = reads_tables && !facts.has_memory_tables;
    let concerns = |(_, change): &ItemChange| concerns(change, lacks_tables);
    changes.extend(compare(old, new).into_iter().filter(concerns));
    let findings = changes
        .iter()
        .filter_map(|(item, change)| judge(item, change));
    Diff::new(&old.label(), &new.label(), target, findings.collect())
}

/// Returns the null slots that NEW calls without a check.
fn lacking(new: &Demand, table: &PluginTable) -> Vec<ItemChange> {
    let lacking = new.lacking(table).into_iter();
    let changes = lacking.map(|(name, null)| {
        let error = new.slots.get(&name).and_then(|slot| slot.error.clone());
        (name, SlotRequired(Some(null.clone()), error))
    });
    changes.collect()
}

/// Returns the change if NEW declines the version of the table.
fn declined(new: &Demand, table: &PluginTable) -> Option<ItemChange> {
    let reason = new.reason_to_decline(table.major, table.minor)?;
    let mut measured = new.table.headers.values().filter(|run| !run.is_ok());
    let outcome = measured.next().map_or("error", |run| &run.outcome);
    let outcome = RunOutcome {
        outcome: outcome.into(),
        message: reason,
        program: String::new(),
    };
    let minor = u32::try_from(table.minor).unwrap_or_default();
    Some((
        format!("PJRT_API_MINOR.{minor}"),
        HeaderDeclined(minor, outcome),
    ))
}

/// Returns true for a change that affects a plugin whatever its slots are.
fn concerns(change: &DemandChange, lacks_tables: bool) -> bool {
    match change {
        ExtensionRequired | ProgramFails(_) | StablehloDefaultChanged(_) => true,
        FunctionTableCalled => lacks_tables,
        _ => false,
    }
}
