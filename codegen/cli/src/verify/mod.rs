//! Runs the checks of the test host on a built plugin, in the releases that have snapshots.
//!
//! Each check of each release runs in a child process: this program again, which emulates that release.

pub mod dependencies;
pub mod json;
pub mod kernels;
pub mod pjrt;
mod preflight;
pub mod requirements;
pub mod text;

use crate::diagnostic::Result;
use crate::operand;
use miette::{Diagnostic, IntoDiagnostic};
use requirements::Requirements;
use sp_data::folders::DataFolders;
use sp_data::platform::WheelPlatform;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols;
use sp_diff::plugin::StatedFacts;
use sp_host::{
    CheckOutcome, CheckStatus, Contract, EMULATED_APIS, ENTRY_POINTS, ReleaseExports,
    VerifyOptions, escape_control,
};
use sp_ir::{Api, History};
use sp_system::errors;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The package whose libraries the host emulates.
const PACKAGE: &str = "tensorflow-cpu";

errors! {
    /// An error that keeps a plugin from being verified.
    #[derive(Debug, Error, Diagnostic)]
    pub enum VerifyError in verify {
        /// The file cannot be read, or is not a shared object.
        NoPlugin(String) = no_plugin: ("{0}"),
            help("name the shared object that TensorFlow would load, such as target/release/libmyaccel.so");

        /// The release has no snapshots, or is too old.
        NoRelease(Release, String) = no_release: ("sp-gen cannot verify for TensorFlow {0}"),
            help("it has {1}; `sp-gen import tensorflow {0}` adds a newer release");

        /// The file is for another machine than this one.
        WrongMachine {
            plugin: String,
            /// The machine that it is for.
            machine: String,
        } = wrong_machine: ("{plugin} is built for {machine}, and this sp-gen runs on {}",
            std::env::consts::ARCH),
            help("run `sp-gen verify` on a machine that can load the plugin");

        /// The file exports no entry point.
        NoEntryPoint(String) = no_entry_point: ("{0} exports no entry point of a plugin"),
            help("a plugin exports one or more of: {}, {}", ENTRY_POINTS.join(", "), sp_pjrt_host::ENTRY_POINT);

        /// No such host is known.
        NoHost(String) = no_host: ("no host of PJRT plugins is named `{0}`"),
            help("the known ones are: {}", pjrt::host_names());

        /// Releases are named for a library that is only a PJRT plugin.
        ReleasesOfPjrt = releases_of_pjrt: ("--release selects hosts of TensorFlow's own plugins, and this library exports {} only",
            sp_pjrt_host::ENTRY_POINT),
            help("name a host: `--host tensorflow:2.18`");

        /// The time limit of the whole run elapsed.
        RunLimit(usize) = run_limit: ("{0} checks were not run: the time limit of the whole run has elapsed"),
            help("`--run-timeout SECONDS` sets the limit; `--release` selects releases");

        /// All checks were skipped.
        NothingChecked(String) = nothing_checked: ("nothing could be checked: {0}"),
            help("the report has the reason of each check that was skipped");
    }
}

/// The outcomes of all checks in all releases, and the requirements of the file.
#[derive(Debug)]
pub struct VerifyReport {
    /// The path of the plugin, as the user wrote it.
    pub plugin: String,
    /// The releases, the oldest first.
    pub releases: Vec<String>,
    /// The releases that are previews, each with its exact version.
    pub previews: BTreeMap<String, String>,
    /// The outcomes by release, then in the order of the checks.
    pub rows: Vec<(String, CheckOutcome)>,
    /// The requirements of the file on its host.
    pub requirements: Requirements,
}

impl VerifyReport {
    /// Returns true if a check failed.
    pub fn has_failures(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|(_, outcome)| outcome.status == CheckStatus::Fail)
    }

    /// Returns true if at least one check was not skipped.
    pub fn is_checked(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|(_, outcome)| outcome.status != CheckStatus::Skip)
    }

    /// Returns the error of a report with checks that were not run because the time limit of the run had elapsed.
    pub fn incomplete(&self) -> Option<VerifyError> {
        let rows = self.rows.iter();
        let count = rows.filter(|(_, row)| row.is_past_run_limit()).count();
        (count > 0).then_some(VerifyError::RunLimit(count))
    }

    /// Returns the error of a report in which all checks were skipped.
    pub fn nothing_checked(&self) -> Option<VerifyError> {
        let first = self.rows.first().filter(|_| !self.is_checked());
        first.map(|(_, outcome)| VerifyError::NothingChecked(outcome.detail.clone()))
    }
}

/// In a child process of a check, runs the check and ends the process. Otherwise does nothing.
///
/// # Errors
/// Returns an error if the snapshots of the child's release cannot be read.
pub fn run_child() -> Result<()> {
    if sp_pjrt_host::is_child() {
        pjrt::run_child()?;
    }
    let Some(release) = sp_host::child_release() else {
        return Ok(());
    };
    let release: Release = release.parse().map_err(miette::Report::msg)?;
    let folders = readable_folders()?;
    let apis = snapshots::read_apis(&folders, release, &EMULATED_APIS)?;
    let exports = exports(&folders, release)?;
    let plugin = sp_host::child_plugin();
    let assumed = plugin.map_or_else(Default::default, |plugin| requirements::cplusplus(&plugin));
    let emulated = sp_host::EmulatedRelease::new(&apis).with_assumed_symbols(&assumed);
    sp_host::child_main(match &exports {
        Some(exports) => emulated.with_exports(exports),
        None => emulated,
    });
    Ok(())
}

fn readable_folders() -> Result<DataFolders> {
    let current_folder = operand::current_folder()?;
    Ok(operand::readable_folders(&current_folder))
}

/// Returns the exports of the libraries of a release, or `None` if its wheel was not read.
///
/// # Errors
/// Returns an error if the table of symbols cannot be read.
pub fn exports(folders: &DataFolders, release: Release) -> Result<Option<ReleaseExports>> {
    let exports = symbols::exports_of_wheel(folders, PACKAGE, WheelPlatform::LinuxX86_64, release)?;
    let is_exported = |(_, libraries): &(_, BTreeSet<_>)| !libraries.is_empty();
    Ok(exports.map(|exports| exports.into_iter().filter(is_exported).collect()))
}

/// Runs every check on `plugin` in `chosen` releases, or in all releases that have snapshots if it is empty. Calls `on_outcome` with each
/// outcome as it arrives.
///
/// # Errors
/// Returns an error if the plugin cannot be read, is for another machine or exports no entry point, or if
/// there is no such release.
pub fn verify(
    plugin: &Path,
    chosen: &[Release],
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Result<VerifyReport> {
    let (shown, path, bytes) = read_plugin(plugin)?;
    let stated = StatedFacts::read(&bytes);
    let closure = requirements::closure(plugin, bytes)?;
    let folders = readable_folders()?;
    let releases = releases(&folders, chosen)?;
    // The snapshots of a nightly build are in the user's cache.
    let nightly = chosen.iter().copied().find(|release| release.is_nightly());
    let apis = snapshots::read_history(&folders, nightly)?;
    let is_emulated = |api: &&Api| EMULATED_APIS.contains(&api.name.as_str());
    let emulated: Vec<Api> = apis.iter().filter(is_emulated).cloned().collect();
    let history = History::from_apis(&emulated);
    let imports = closure.unresolved();
    let options = VerifyOptions {
        contract: Some(Contract {
            history: &history,
            imports: &imports,
        }),
        ..*options
    };
    let rows = sp_host::verify(&releases, &path, &options, on_outcome);
    Ok(VerifyReport {
        plugin: shown,
        previews: previews(&folders, &releases)?,
        rows,
        releases,
        requirements: requirements::from_closure(&closure, &stated, &apis, &folders)?,
    })
}

/// Returns the plugin's file as the user wrote it, its path and its bytes.
///
/// # Errors
/// Returns an error if it cannot be read, is for another machine or exports no entry point.
fn read_plugin(plugin: &Path) -> Result<(String, PathBuf, Vec<u8>)> {
    let shown = escape_control(&plugin.display().to_string());
    let unreadable = |error| VerifyError::NoPlugin(format!("{shown}: {error}"));
    let bytes = input::read(plugin, MAX_LIBRARY_BYTES).map_err(unreadable)?;
    preflight::check(plugin, &bytes)?;
    // The loader searches its own folders for a name without a slash.
    let path = plugin.canonicalize().into_diagnostic()?;
    Ok((shown, path, bytes))
}

/// Returns the previews among `releases`, each with its exact version.
fn previews(folders: &DataFolders, releases: &[String]) -> Result<BTreeMap<String, String>> {
    let mut previews = BTreeMap::new();
    for release in releases {
        let parsed = release.parse().map_err(miette::Report::msg)?;
        // All APIs of a release have the same version.
        let apis = snapshots::read_apis(folders, parsed, &["stream_executor"])?;
        let exact = apis.into_iter().find_map(|api| api.preview);
        previews.extend(exact.map(|exact| (release.clone(), exact)));
    }
    Ok(previews)
}

/// The number of releases, for the length of the progress bar.
pub const RELEASES: usize = 18;

/// Returns the requested releases, the oldest first, or all releases that can be emulated if none is requested.
///
/// # Errors
/// Returns an error if a requested release has no snapshots.
pub fn releases(folders: &DataFolders, requested: &[Release]) -> Result<Vec<String>> {
    let mut known = snapshots::releases(folders)?;
    for nightly in requested.iter().filter(|release| release.is_nightly()) {
        known.extend(snapshots::read_release(folders, *nightly)?.map(|_| *nightly));
    }
    let emulated = known
        .into_iter()
        .filter(|release| *release >= Release::FIRST_SUPPORTED);
    let all: Vec<Release> = emulated.collect();
    let mut chosen = Vec::new();
    for release in requested {
        if !all.contains(&release.key()) || snapshots::read_release(folders, *release)?.is_none() {
            let known: Vec<String> = all.iter().map(Release::to_string).collect();
            return Err(VerifyError::NoRelease(*release, known.join(" ")).into());
        }
        chosen.push(release.key());
    }
    if chosen.is_empty() {
        chosen = all;
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen.iter().map(Release::to_string).collect())
}
