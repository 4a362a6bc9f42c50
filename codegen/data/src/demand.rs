//! The measured demand of PJRT hosts: what each release of JAX and TensorFlow calls in a plugin's table, and what happens if a
//! slot is null. `tests/pjrt-demand` writes `generated/pjrt/<host>/<release>.json`.

use miette::Diagnostic;
use serde::Deserialize;
use sp_ir::Api;
use sp_system::errors;
use std::collections::BTreeMap;
use thiserror::Error;

use crate::embedded::{PJRT_DEMAND, SNAPSHOTS};
use crate::suggest;

/// Version of the format, incremented if keys change their meaning.
const SCHEMA: u32 = 1;

errors! {
    /// No measured release is named.
    #[derive(Debug, Error, Diagnostic)]
    pub enum DemandError in demand {
        /// The host is not known.
        UnknownHost { host: String, help: String } = unknown_host: ("no host of PJRT plugins is named `{host}`"),
            help("{help}");

        /// The release was not measured.
        UnknownRelease { host: String, release: String, help: String }
            = unknown_release: ("{host} {release} was not measured"),
            help("{help}");
    }
}

/// The first minor version whose errors and memories begin with a pointer to a table of functions.
const MINOR_OF_FUNCTION_TABLES: i64 = 107;

/// Use of a slot by a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotDemand {
    /// A program that uses the slot fails if it is null.
    Required,
    /// The host calls the slot only if it is not null.
    Optional,
    /// No program calls the slot.
    Unused,
}

impl SlotDemand {
    /// Returns the name of the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Optional => "optional",
            Self::Unused => "unused",
        }
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RunOutcome {
    /// `ok`, `error`, `crash`, `hang` or `ignored`.
    pub outcome: String,
    /// The message of the error, or the signal.
    #[serde(default)]
    pub message: String,
    /// The program of the measurement, if it is not the key.
    #[serde(default)]
    pub program: String,
}

impl RunOutcome {
    /// Returns true if the run succeeded.
    pub fn is_ok(&self) -> bool {
        self.outcome == "ok"
    }

    /// Describes the outcome: `crash in devices: SIGSEGV`.
    pub fn describe(&self) -> String {
        let program = match self.program.as_str() {
            "" => String::new(),
            program => format!(" in the program `{program}`"),
        };
        match self.message.as_str() {
            "" => format!("{}{program}", self.outcome),
            message => format!("{}{program}: {message}", self.outcome),
        }
    }
}

/// A slot of the plugin's table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Slot {
    /// The use.
    pub demand: SlotDemand,
    /// The size of the argument struct that the host passes.
    pub struct_size: Option<u64>,
    /// The programs that call it.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Outcome of a null slot.
    pub null: Option<RunOutcome>,
    /// Outcome of an error of the slot.
    pub error: Option<RunOutcome>,
}

/// An extension that a host reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Extension {
    /// The functions that it calls.
    pub functions: Vec<String>,
    /// True if programs fail without it.
    #[serde(default)]
    pub required: bool,
    /// The programs that fail without it and run with it.
    #[serde(default)]
    pub repairs: Vec<String>,
}

/// Tables that a host accepts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Table {
    /// The least `struct_size`.
    pub least_struct_size: u64,
    /// The least minor version.
    pub least_minor: u32,
    /// True if a minor version that the host does not know is accepted.
    pub accepts_newer_minor: bool,
    /// The outcome of a plugin that was built with the header of each minor version.
    pub headers: BTreeMap<String, RunOutcome>,
}

/// The demand of a release of a host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Demand {
    /// [`SCHEMA`].
    schema: u32,
    /// `jaxlib` or `tensorflow`.
    pub host: String,
    /// The release: `0.10.2`.
    pub release: String,
    /// The minor version of the header that the host was built with, if it states one.
    pub framework_minor: Option<u32>,
    /// The outcome of each program with all slots of the probe.
    pub programs: BTreeMap<String, RunOutcome>,
    /// The version in which programs arrive, by the version that the plugin states.
    pub stablehlo: BTreeMap<String, String>,
    /// Functions of tables in objects of the plugin that the host calls.
    pub function_tables: Vec<String>,
    /// The accepted tables.
    pub table: Table,
    /// The extensions that the host reads.
    pub extensions: BTreeMap<String, Extension>,
    /// All slots of the newest header.
    pub slots: BTreeMap<String, Slot>,
}

impl Demand {
    /// Returns the name of the side: `jaxlib:0.10.2`.
    pub fn label(&self) -> String {
        format!("{}:{}", self.host, self.release)
    }

    /// Returns the newest minor version of a plugin that the host accepts, or `None` if it accepts versions that it does not know.
    pub fn newest_minor(&self) -> Option<u32> {
        let table = &self.table;
        let accepted = table.headers.iter().filter(|(_, run)| run.is_ok());
        let newest = accepted.filter_map(|(minor, _)| minor.parse().ok()).max();
        let known = self.framework_minor.max(newest);
        known.filter(|_| !table.accepts_newer_minor)
    }

    /// Returns the reason why the host declines a plugin of this version, or `None` if it accepts it.
    pub fn reason_to_decline(&self, major: i64, minor: i64) -> Option<String> {
        let (oldest, newest) = (i64::from(self.table.least_minor), self.newest_minor());
        let newest = newest.map(i64::from).filter(|newest| minor > *newest);
        let host = format!("{} {}", self.host, self.release);
        match newest {
            _ if major != 0 => Some(format!("the major version is {major}, expected 0")),
            _ if minor < oldest => Some(format!(
                "minor version {minor} is older than {oldest}, the oldest that {host} accepts"
            )),
            Some(newest) => Some(format!(
                "minor version {minor} is newer than {newest}, the newest that {host} accepts"
            )),
            None => None,
        }
    }

    /// Returns true if a plugin that was built with the header of `minor` runs, so that the host needs no function of a later one.
    pub fn runs_header(&self, minor: i64) -> bool {
        let headers = self.table.headers.iter();
        let headers = headers.filter_map(|(it, outcome)| Some((it.parse().ok()?, outcome)));
        let older = headers.filter(|(it, _): &(i64, _)| *it <= minor);
        let nearest = older.max_by_key(|(it, _)| *it);
        nearest.is_some_and(|(_, outcome)| outcome.is_ok())
    }

    /// Returns the functions of tables in objects of a plugin of this version that the host calls.
    pub fn called_tables(&self, minor: i64) -> &[String] {
        match minor >= MINOR_OF_FUNCTION_TABLES {
            true => &self.function_tables,
            false => &[],
        }
    }

    /// Returns the slots that the host calls without a check, and that are null in the table, with the measured outcome.
    pub fn lacking(&self, table: &PluginTable) -> Vec<(String, &RunOutcome)> {
        let names = slot_names();
        let slots = names.into_iter().enumerate();
        let lacking = slots.filter(|(index, _)| match table.slots.get(*index) {
            Some(is_set) => !is_set,
            None => !self.runs_header(table.minor),
        });
        let outcomes = lacking.filter_map(|(_, name)| {
            let slot = self.slots.get(&name)?;
            let is_required = slot.demand == SlotDemand::Required;
            let null = slot.null.as_ref().filter(|_| is_required)?;
            Some((name, null))
        });
        outcomes.collect()
    }
}

/// The table of a plugin, as it was read from its library.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PluginTable {
    /// The major version.
    pub major: i64,
    /// The minor version.
    pub minor: i64,
    /// The `struct_size`.
    pub size: u64,
    /// By place in the table, true if the slot is not null.
    pub slots: Vec<bool>,
}

/// Returns the names of all slots of the newest header, in the order of the table.
pub fn slot_names() -> Vec<String> {
    let files = SNAPSHOTS.iter().filter_map(|(file, snapshot)| {
        let release = file.strip_prefix("pjrt/")?.strip_suffix(".json")?;
        Some((order(release), snapshot))
    });
    let newest = files.max_by_key(|(order, _)| order.clone());
    let (_, newest) = newest.expect("the API has snapshots");
    let api = Api::from_json(newest.text()).expect("a test reads every committed file");
    let table = api.structure("PJRT_Api");
    let fields = table.map_or(&[][..], |table| &table.fields).iter();
    let slots = fields.filter(|field| field.name.starts_with("PJRT_"));
    slots.map(|field| field.name.clone()).collect()
}

/// Returns the numbers of a release, and true for one that is no preview such as `2.22.0rc0`.
fn order(release: &str) -> (Vec<u32>, bool) {
    let number = release.split_once("rc").map_or(release, |(it, _)| it);
    let parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.collect(), number == release)
}

/// Returns the measured releases of a host, the oldest first.
pub fn releases(host: &str) -> Vec<&'static str> {
    let files = PJRT_DEMAND.iter();
    let files = files.filter_map(|(file, _)| file.strip_suffix(".json")?.split_once('/'));
    let mut releases: Vec<&str> = files
        .filter(|(folder, _)| *folder == host)
        .map(|(_, release)| release)
        .collect();
    releases.sort_by_key(|release| order(release));
    releases
}

/// Returns the names of the measured hosts.
pub fn hosts() -> Vec<&'static str> {
    let files = PJRT_DEMAND.iter();
    let mut hosts: Vec<&str> = files
        .filter_map(|(file, _)| Some(file.split_once('/')?.0))
        .collect();
    hosts.dedup();
    hosts
}

/// Returns the demand of a measured release. `0.10` is its newest patch.
///
/// # Errors
/// Returns an error with the known ones if the host or the release was not measured.
pub fn find(host: &str, release: &str) -> Result<Demand, DemandError> {
    let known = releases(host);
    if known.is_empty() {
        return Err(unknown_host(host));
    }
    let prefix = format!("{release}.");
    let matches = |known: &&&str| **known == release || known.starts_with(&prefix);
    let found = known.iter().rev().find(matches);
    found
        .map(|found| read(host, found))
        .ok_or_else(|| DemandError::UnknownRelease {
            host: host.into(),
            release: release.into(),
            help: format!(
                "measured: {}; in a checkout, `tests/pjrt-demand {host} {release}` measures it",
                known.join(", ")
            ),
        })
}

/// Returns the error for a host of another name.
pub fn unknown_host(host: &str) -> DemandError {
    let known = hosts();
    let list = format!("known: {}", known.join(", "));
    DemandError::UnknownHost {
        host: host.into(),
        help: suggest::with_suggestion(host, known, list),
    }
}

/// Reads the demand of a release that is in the table.
fn read(host: &str, release: &str) -> Demand {
    let name = format!("{host}/{release}.json");
    let row = PJRT_DEMAND.iter().find(|(file, _)| *file == name);
    let (_, text) = row.expect("the name is of the table");
    let demand: Demand = serde_json::from_str(text).expect("a test reads every committed file");
    assert_eq!(demand.schema, SCHEMA, "{name}");
    demand
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_committed_file() {
        for host in hosts() {
            for release in releases(host) {
                let demand = find(host, release).unwrap();
                assert_eq!(demand.label(), format!("{host}:{release}"));
                let called = demand.slots.values();
                let mut called = called.filter(|slot| slot.demand == SlotDemand::Required);
                assert!(called.all(|slot| slot.null.is_some()), "{host} {release}");
            }
        }
        assert!(releases("jaxlib").len() >= 12, "{:?}", releases("jaxlib"));
    }

    #[test]
    fn minor_release_is_its_newest_patch() {
        let newest = find("jaxlib", "0.10").unwrap().release;
        assert_eq!(newest, "0.10.2");
        assert!(releases("jaxlib").contains(&"0.10.0"));
    }

    #[test]
    fn declines_versions_outside_the_accepted_range() {
        let old = find("tensorflow", "2.16").unwrap();
        assert_eq!(old.reason_to_decline(0, 40), None);
        let newer = old.reason_to_decline(0, 54).unwrap();
        assert!(newer.contains("is newer than 40"), "{newer}");
        let new = find("jaxlib", "0.10").unwrap();
        assert_eq!(new.reason_to_decline(0, 999), None);
        assert!(new.reason_to_decline(0, 28).is_some() && new.reason_to_decline(1, 90).is_some());
    }

    #[test]
    fn null_slot_is_lacking_and_slot_after_the_table_is_not() {
        let names = slot_names();
        let place = |name: &str| names.iter().position(|it| it == name).unwrap();
        assert_eq!(
            (names[0].as_str(), place("PJRT_Error_Message")),
            ("PJRT_Error_Destroy", 1)
        );
        let mut table = PluginTable {
            major: 0,
            minor: 90,
            size: 1000,
            slots: vec![true; place("PJRT_Error_ForEachPayload")],
        };
        let host = find("jaxlib", "0.12").unwrap();
        assert_eq!(host.lacking(&table), []);
        table.slots[place("PJRT_Plugin_Attributes")] = false;
        let lacking = host.lacking(&table);
        assert_eq!(lacking.len(), 1);
        assert_eq!(lacking[0].0, "PJRT_Plugin_Attributes");
    }

    #[test]
    fn rejects_unknown_host_and_release() {
        assert_eq!(
            find("jaxlb", "0.9").unwrap_err().to_string(),
            "no host of PJRT plugins is named `jaxlb`"
        );
        let error = find("jaxlib", "0.3").unwrap_err();
        assert_eq!(error.to_string(), "jaxlib 0.3 was not measured");
    }
}
