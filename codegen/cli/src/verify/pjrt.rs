//! Runs the checks of the PJRT side of the test host on a built plugin, as known releases of JAX and TensorFlow load it.

use super::requirements::Requirements;
use super::{VerifyError, VerifyReport, preflight};
use crate::diagnostic::Result;
use miette::IntoDiagnostic;
use serde::Serialize;
use sp_data::snapshots;
use sp_host::{CheckOutcome, CheckStatus, ENTRY_POINTS, VerifyOptions, escape_control};
use sp_library::names::LibraryNames;
use sp_pjrt_host::{ENTRY_POINT, HOSTS, PjrtHost};
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

/// The version of the schema. Keys are added, and never change their meaning.
const SCHEMA: u32 = 1;

/// A host to check, or all if `None`.
#[derive(Debug, Clone, Copy)]
pub struct HostFilter(Option<&'static PjrtHost>);

impl FromStr for HostFilter {
    type Err = VerifyError;

    fn from_str(text: &str) -> std::result::Result<Self, VerifyError> {
        match (text, PjrtHost::find(text)) {
            ("all", _) => Ok(Self(None)),
            (_, Some(host)) => Ok(Self(Some(host))),
            (_, None) => Err(VerifyError::NoHost(escape_control(text))),
        }
    }
}

/// Returns the names of all hosts.
pub(super) fn host_names() -> String {
    let names: Vec<String> = HOSTS.iter().map(ToString::to_string).collect();
    names.join(" ")
}

/// Returns the requested hosts in the order of the table; the newest of each framework if none is requested.
///
/// # Errors
/// Returns an error if a name is not that of a host.
pub fn hosts(requested: &[String]) -> Result<Vec<&'static PjrtHost>> {
    let parsed = requested.iter().map(|name| name.parse::<HostFilter>());
    let filters: Vec<HostFilter> = parsed.collect::<std::result::Result<_, _>>()?;
    if filters.is_empty() {
        return Ok(PjrtHost::newest());
    }
    let is_chosen = |host: &&PjrtHost| {
        let mut filters = filters.iter();
        filters.any(|filter| filter.0.is_none_or(|it| it == *host))
    };
    Ok(HOSTS.iter().filter(is_chosen).collect())
}

/// The entry points of a library that decide which checks it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPoints {
    /// True if it exports `GetPjrtApi`.
    pub pjrt: bool,
    /// True if it exports an entry point of TensorFlow's plugins.
    pub tensorflow: bool,
}

/// Returns the entry points that the file exports itself. A file that cannot be read has none.
pub fn entry_points(plugin: &Path) -> EntryPoints {
    let exported = exported(plugin).unwrap_or_default();
    EntryPoints {
        pjrt: exported.contains(ENTRY_POINT),
        tensorflow: ENTRY_POINTS.iter().any(|name| exported.contains(*name)),
    }
}

fn exported(plugin: &Path) -> Option<BTreeSet<String>> {
    let bytes = input::read(plugin, MAX_LIBRARY_BYTES).ok()?;
    let wanted = |name: &str| name == ENTRY_POINT || ENTRY_POINTS.contains(&name);
    let names = LibraryNames::read_linked("the plugin", &bytes, &wanted);
    names.ok().map(|names| names.exported)
}

/// Runs every check on `plugin` as each of `hosts`. Calls `on_outcome` with each outcome as it arrives.
///
/// # Errors
/// Returns an error if the plugin cannot be read, is for another machine or does not export `GetPjrtApi`.
pub fn verify(
    plugin: &Path,
    hosts: &[&'static PjrtHost],
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Result<VerifyReport> {
    let shown = escape_control(&plugin.display().to_string());
    let unreadable = |error| VerifyError::NoPlugin(format!("{shown}: {error}"));
    let bytes = input::read(plugin, MAX_LIBRARY_BYTES).map_err(unreadable)?;
    preflight::check_machine(plugin, &bytes)?;
    drop(bytes);
    if !entry_points(plugin).pjrt {
        return Err(VerifyError::NoEntryPoint(shown).into());
    }
    // The loader searches its own folders for a name without a slash.
    let path = plugin.canonicalize().into_diagnostic()?;
    Ok(VerifyReport {
        plugin: shown,
        releases: hosts.iter().map(ToString::to_string).collect(),
        previews: BTreeMap::new(),
        rows: sp_pjrt_host::verify(hosts, &path, options, on_outcome),
        requirements: Requirements {
            libraries: vec![],
            functions: vec![],
            cplusplus: vec![],
        },
    })
}

/// In a child process of a check, runs the check and ends the process.
///
/// # Errors
/// Returns an error if the folders of the data cannot be found.
pub(super) fn run_child() -> Result<()> {
    let folders = super::readable_folders()?;
    sp_pjrt_host::child_main(|release| {
        let apis = snapshots::read_apis(&folders, release.parse().ok()?, &["pjrt"]);
        apis.ok()?.pop()
    });
    Ok(())
}

#[derive(Serialize)]
struct PjrtJson<'a> {
    schema: u32,
    plugin: &'a str,
    verdict: &'static str,
    hosts: &'a [String],
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    check: &'a str,
    host: &'a str,
    status: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_bytes: Option<u64>,
}

/// Returns the report as JSON: `codegen/docs/verify-pjrt.schema.json`.
pub fn json(report: &VerifyReport) -> String {
    let rows = report.rows.iter().map(|(host, row)| Row {
        check: &row.check,
        host,
        status: match row.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::Skip => "skip",
        },
        detail: &row.detail,
        dropped_bytes: (row.dropped_bytes > 0).then_some(row.dropped_bytes),
    });
    let json = PjrtJson {
        schema: SCHEMA,
        plugin: &report.plugin,
        verdict: super::json::verdict(report),
        hosts: &report.releases,
        rows: rows.collect(),
    };
    let text = serde_json::to_string_pretty(&json);
    format!("{}\n", text.expect("text and numbers only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_hosts_by_name() {
        let names = |requested: &[&str]| {
            let requested: Vec<String> = requested.iter().map(|it| (*it).to_owned()).collect();
            let hosts = hosts(&requested)?;
            Ok::<_, miette::Report>(hosts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), 2);
        assert_eq!(names(&["all"]).unwrap().len(), HOSTS.len());
        let two = ["jaxlib:0.10", "tensorflow:2.21"];
        assert_eq!(names(&two).unwrap(), two);
        let error = names(&["jaxlib:9"]).unwrap_err().to_string();
        assert_eq!(error, "no host of PJRT plugins is named `jaxlib:9`");
    }
}
