//! The graph optimizer.

use super::session::{CheckSession, ensure, skip_unregistered};
use crate::graph::GraphDef;
use crate::host::register_checked_optimizer;
use crate::objects::ObjectReport;
use crate::optimizer::RegisteredOptimizer;
use crate::outcome::{CheckResult, Stop};
use crate::plugin::LoadedPlugin;
use crate::requirements;

/// Loads the plugin, and skips the check if it has no optimizer.
fn plugin(session: &CheckSession<'_>) -> Result<LoadedPlugin, Stop> {
    session.with("TF_InitGraph")
}

fn optimizer(session: &CheckSession<'_>) -> Result<RegisteredOptimizer, Stop> {
    register_checked_optimizer(&plugin(session)?).map_err(skip_unregistered)
}

pub(super) fn registered(session: &CheckSession<'_>) -> CheckResult {
    let optimizer = plugin(session)?
        .register_optimizer()
        .map_err(skip_unregistered)?;
    let records = optimizer.records().into_iter();
    let found: Vec<String> = records.flat_map(requirements::defects).collect();
    ensure(found.is_empty(), || found.join("; "))?;
    let device = optimizer.device_type();
    let mut bad = optimizer.non_default_entries().into_iter();
    let bad = bad.find(|(_, value)| *value > 2);
    ensure(bad.is_none(), || {
        format!("TP_OptimizerConfigs: {bad:?} is not a TF_TriState")
    })?;
    let non_default_entries = optimizer.non_default_entries();
    let entries = non_default_entries.iter().map(|(name, value)| match value {
        1 => format!("{name} off"),
        _ => format!("{name} on"),
    });
    Ok([format!("registered for {device}")]
        .into_iter()
        .chain(entries)
        .collect::<Vec<_>>()
        .join(", "))
}

/// The output is a graph with the nodes that are fetched.
pub(super) fn optimized(session: &CheckSession<'_>) -> CheckResult {
    let optimizer = optimizer(session)?;
    let graph = GraphDef::sample();
    let mut last = 0;
    for _ in 0..3 {
        let bytes = optimizer.optimize(&graph, &graph.to_bytes())?;
        let names = GraphDef::node_names(&bytes).unwrap_or_default();
        let lost = graph.fetch.iter().find(|name| !names.contains(name));
        ensure(lost.is_none(), || {
            format!("the optimized graph lacks the fetched node {lost:?}")
        })?;
        last = names.len();
    }
    let tally = ObjectReport::now().without_unimplemented();
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok(format!(
        "optimized a graph of {} nodes 3 times, to {last} nodes",
        graph.nodes.len()
    ))
}
