//! The graph optimizer.

use super::session::{Session, ensure, unregistered};
use crate::graph::Graph;
use crate::host::adopt_optimizer;
use crate::objects::Tally;
use crate::optimizer::Optimizer;
use crate::outcome::{Seen, Stop};
use crate::plugin::Plugin;
use crate::requirements;

/// The plugin, where it has an optimizer.
fn plugin(session: &Session<'_>) -> Result<Plugin, Stop> {
    session.with("TF_InitGraph")
}

fn optimizer(session: &Session<'_>) -> Result<Optimizer, Stop> {
    adopt_optimizer(&plugin(session)?).map_err(unregistered)
}

pub(super) fn registered(session: &Session<'_>) -> Seen {
    let optimizer = plugin(session)?
        .register_optimizer()
        .map_err(unregistered)?;
    let records = optimizer.records().into_iter();
    let found: Vec<String> = records.flat_map(requirements::all).collect();
    ensure(found.is_empty(), || found.join("; "))?;
    let device = optimizer.device_type();
    let bad = optimizer
        .switched()
        .into_iter()
        .find(|(_, value)| *value > 2);
    ensure(bad.is_none(), || {
        format!("TP_OptimizerConfigs: {bad:?} is no TF_TriState")
    })?;
    let switched = optimizer.switched();
    let entries = switched.iter().map(|(name, value)| match value {
        1 => format!("{name} off"),
        _ => format!("{name} on"),
    });
    Ok([format!("for {device}")]
        .into_iter()
        .chain(entries)
        .collect::<Vec<_>>()
        .join(", "))
}

/// What comes out is a graph, and what somebody fetches is still in it.
pub(super) fn optimized(session: &Session<'_>) -> Seen {
    let optimizer = optimizer(session)?;
    let graph = Graph::sample();
    let mut last = 0;
    for _ in 0..3 {
        let bytes = optimizer.optimize(&graph, &graph.bytes())?;
        let names = Graph::names(&bytes).unwrap_or_default();
        let lost = graph.fetch.iter().find(|name| !names.contains(name));
        ensure(lost.is_none(), || {
            format!("the node {lost:?} is fetched, and is gone")
        })?;
        last = names.len();
    }
    let tally = Tally::now().of_the_plugin();
    ensure(tally.is_clean(), || tally.to_string())?;
    Ok(format!(
        "three times, {} nodes to {last}",
        graph.nodes.len()
    ))
}
