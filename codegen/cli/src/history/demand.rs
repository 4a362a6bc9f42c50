//! The history of what the releases of a host demand of a PJRT plugin.

use std::fmt::Write;

use miette::Diagnostic;
use serde::Serialize;
use sp_data::demand::{self, Demand, DemandError, Slot, SlotDemand};
use sp_diff::demand::diff;
use sp_diff::{Finding, Verdict};
use sp_parse::clang::DEFAULT_TARGET;
use thiserror::Error;

/// The name that stands for all slots.
const API: &str = "pjrt";

/// The name is no slot.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is no slot of PJRT_Api")]
#[diagnostic(code(sp_gen::history::slot), help("{help}"))]
pub struct UnknownSlot {
    name: String,
    help: String,
}

/// The demands of all measured releases of a host.
pub struct DemandHistory {
    host: String,
    /// The slot to print, or `None` for all.
    slot: Option<String>,
    demands: Vec<Demand>,
}

#[derive(Serialize)]
struct HistoryJson<'a> {
    schema: u32,
    host: &'a str,
    releases: Vec<ReleaseJson<'a>>,
}

#[derive(Serialize)]
struct ReleaseJson<'a> {
    release: &'a str,
    framework_minor: Option<u32>,
    least_minor: u32,
    accepts_newer_minor: bool,
    stablehlo: Option<&'a String>,
    required: usize,
    called: usize,
    verdict: Verdict,
    changes: Vec<Finding>,
}

impl DemandHistory {
    /// Reads the demands of a host.
    ///
    /// # Errors
    /// Returns an error if the host was not measured, or if `name` is neither `pjrt` nor a slot.
    pub fn read(host: &str, name: Option<&str>) -> miette::Result<Self> {
        let releases = demand::releases(host);
        if releases.is_empty() {
            return Err(demand::unknown_host(host).into());
        }
        let demands = releases.iter().map(|release| demand::find(host, release));
        let demands = demands.collect::<Result<Vec<_>, DemandError>>()?;
        let slot = name.filter(|name| *name != API).map(str::to_owned);
        if let Some(slot) = &slot {
            check_slot(slot, &demands)?;
        }
        Ok(Self {
            host: host.into(),
            slot,
            demands,
        })
    }

    /// Returns the changes that lead to the release at `index`.
    fn changes(&self, index: usize) -> Vec<Finding> {
        let Some(old) = index.checked_sub(1).map(|before| &self.demands[before]) else {
            return Vec::new();
        };
        let mut found = diff(old, &self.demands[index], DEFAULT_TARGET).findings;
        found.retain(|finding| self.slot.as_ref().is_none_or(|slot| finding.item == *slot));
        found
    }

    /// Returns the history as text: a line for each release, and its changes.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (index, demand) in self.demands.iter().enumerate() {
            let _ = writeln!(out, "{}", self.release_line(demand));
            for finding in self.changes(index) {
                let mark = if finding.is_breaking() { '!' } else { ' ' };
                let _ = writeln!(out, "  {mark} {}: {}", finding.item, finding.message);
            }
        }
        out
    }

    fn release_line(&self, demand: &Demand) -> String {
        let name = format!("{} {}", demand.host, demand.release);
        if let Some(slot) = self.slot.as_ref().and_then(|slot| demand.slots.get(slot)) {
            return format!("{name}: {}", describe_slot(slot));
        }
        let header = demand
            .framework_minor
            .map_or(String::new(), |minor| format!(" (header 0.{minor})"));
        let accepted = match demand.table.accepts_newer_minor {
            true => format!("accepts minor {} and newer", demand.table.least_minor),
            false => format!("accepts minor {} only", demand.table.least_minor),
        };
        let (required, called) = counts(demand);
        format!(
            "{name}{header}: {accepted}, calls {called} slots, {required} of them without a check for null"
        )
    }

    /// Returns the history as JSON, as `codegen/docs/pjrt-history.schema.json` describes it.
    ///
    /// # Panics
    /// Never: the values can be serialized.
    pub fn json(&self) -> String {
        let releases = self.demands.iter().enumerate().map(|(index, demand)| {
            let (required, called) = counts(demand);
            let changes = self.changes(index);
            ReleaseJson {
                release: &demand.release,
                framework_minor: demand.framework_minor,
                least_minor: demand.table.least_minor,
                accepts_newer_minor: demand.table.accepts_newer_minor,
                stablehlo: demand.stablehlo.get("none"),
                required,
                called,
                verdict: Verdict::new(&changes),
                changes,
            }
        });
        let history = HistoryJson {
            schema: 1,
            host: &self.host,
            releases: releases.collect(),
        };
        let json = serde_json::to_string_pretty(&history).expect("the keys are texts");
        format!("{json}\n")
    }
}

/// Returns the number of slots that are called without a check for null, and of those that are called.
fn counts(demand: &Demand) -> (usize, usize) {
    let count = |kind| {
        demand
            .slots
            .values()
            .filter(|slot| slot.demand == kind)
            .count()
    };
    let required = count(SlotDemand::Required);
    (required, required + count(SlotDemand::Optional))
}

fn describe_slot(slot: &Slot) -> String {
    let size = slot.struct_size.map_or(String::new(), |size| {
        format!(", with a struct of {size} bytes")
    });
    match &slot.null {
        Some(null) => format!("{}{size}; null: {}", slot.demand.name(), null.describe()),
        None => format!("{}{size}", slot.demand.name()),
    }
}

fn check_slot(name: &str, demands: &[Demand]) -> Result<(), UnknownSlot> {
    let known = |demand: &Demand| demand.slots.contains_key(name);
    if demands.iter().any(known) {
        return Ok(());
    }
    let names = demands
        .iter()
        .flat_map(|demand| demand.slots.keys())
        .map(String::as_str);
    let help = "name `pjrt`, or a slot such as PJRT_Plugin_Attributes".to_owned();
    Err(UnknownSlot {
        name: sp_host::escape_control(name),
        help: sp_data::suggest::with_suggestion(name, names, help),
    })
}
