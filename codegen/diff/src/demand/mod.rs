//! Differences between the measured demands of two releases of a PJRT host, and their effect on a plugin.

mod catalog;
mod compare;
mod handlers;
mod plugin;
#[cfg(test)]
mod tests;

pub use catalog::{DemandChange, RULES};
pub use compare::compare;
pub use plugin::{PluginFacts, diff_for_plugin};

use crate::finding::{Diff, Finding};
use handlers::JudgedDemand;
use sp_data::demand::Demand;

/// The API of findings about demands.
pub const API: &str = "pjrt_demand";

/// Compares the demands of two releases, which may be of two hosts.
pub fn diff(old: &Demand, new: &Demand, target: &str) -> Diff {
    let changes = compare(old, new);
    let findings = changes
        .iter()
        .filter_map(|(item, change)| judge(item, change));
    Diff::new(&old.label(), &new.label(), target, findings.collect())
}

fn judge(item: &str, change: &DemandChange) -> Option<Finding> {
    let (rule, item) = (change.rule()?, item.into());
    change.finding(&JudgedDemand { rule, item })
}
