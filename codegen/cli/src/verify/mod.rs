//! A built plugin put through the host's checks, in the releases that snapshots exist of.
//!
//! Each check of each release runs in a child: this program again, which plays that release.

pub mod asks;
pub mod json;
pub mod needs;
mod preflight;
pub mod text;

use crate::diagnostic::Result;
use asks::Asked;
use miette::{Diagnostic, IntoDiagnostic};
use sp_data::folders::DataFolders;
use sp_data::platform::Platform;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;
use sp_host::{
    Contract, ENTRY_POINTS, Exports, JudgeOptions, Outcome, PLAYED, Verdict, escape_control,
};
use sp_ir::{Api, History};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use thiserror::Error;

/// The package whose libraries the host plays.
const PACKAGE: &str = "tensorflow-cpu";

/// No release before it loads plugins.
const FIRST: Release = Release::from_minor(2, 5);

/// Why a plugin cannot be put to the test.
#[derive(Debug, Error, Diagnostic)]
pub enum VerifyError {
    /// The file cannot be read, or is no shared object.
    #[error("{0}")]
    #[diagnostic(
        code(sp_gen::verify::no_plugin),
        help(
            "name the shared object that TensorFlow would load, such as target/release/libmyaccel.so"
        )
    )]
    NoPlugin(String),
    /// No snapshot, or too old.
    #[error("sp-gen cannot play TensorFlow {0}")]
    #[diagnostic(
        code(sp_gen::verify::no_release),
        help("it plays {1}; `sp-gen import tensorflow {0}` takes in a newer one")
    )]
    NoRelease(Release, String),
    /// The file is for another machine than this one.
    #[error(
        "{plugin} is built for {machine}, and this sp-gen runs on {}",
        std::env::consts::ARCH
    )]
    #[diagnostic(
        code(sp_gen::verify::wrong_machine),
        help("run `sp-gen verify` on a machine that can load the plugin")
    )]
    WrongMachine {
        /// The file.
        plugin: String,
        /// The machine that it is for.
        machine: String,
    },
    /// TensorFlow would find nothing to call in the file.
    #[error("{0} exports no entry point of a plugin")]
    #[diagnostic(
        code(sp_gen::verify::no_entry_point),
        help("a plugin exports one or more of: {}", ENTRY_POINTS.join(", "))
    )]
    NoEntryPoint(String),
    /// All checks were skipped.
    #[error("nothing could be checked: {0}")]
    #[diagnostic(
        code(sp_gen::verify::nothing_checked),
        help("the report has the reason of each check that was skipped")
    )]
    NothingChecked(String),
}

/// What became of every check in every release, and what the file asks for.
#[derive(Debug)]
pub struct Report {
    /// As it was given.
    pub plugin: String,
    /// The releases, the oldest first.
    pub releases: Vec<String>,
    /// The releases of these that are no final ones, each with its exact version.
    pub previews: BTreeMap<String, String>,
    /// By release, then in the order of the checks.
    pub rows: Vec<(String, Outcome)>,
    /// What the file asks of its host.
    pub asked: Asked,
}

impl Report {
    /// Whether a check failed.
    pub fn found(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|(_, outcome)| outcome.status == Verdict::Fail)
    }

    /// Returns true if at least one check was not skipped.
    pub fn is_checked(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|(_, outcome)| outcome.status != Verdict::Skip)
    }

    /// Returns the error of a report in which all checks were skipped.
    pub fn nothing_checked(&self) -> Option<VerifyError> {
        let first = self.rows.first().filter(|_| !self.is_checked());
        first.map(|(_, outcome)| VerifyError::NothingChecked(outcome.detail.clone()))
    }
}

/// Where this process is the child of a check, does the check and ends; else nothing.
///
/// # Errors
/// Where the snapshots of the child's release cannot be read.
pub fn serve() -> Result<()> {
    let Some(release) = sp_host::child_release() else {
        return Ok(());
    };
    let release: Release = release.parse().map_err(miette::Report::msg)?;
    let place = place()?;
    let apis = snapshots::read_apis(&place, release, &PLAYED)?;
    let exports = exports(&Symbols::load(&place)?, release);
    let plugin = sp_host::child_plugin();
    let assumed = plugin.map_or_else(Default::default, |plugin| asks::cplusplus(&plugin));
    let played = sp_host::Release::new(&apis).assuming(&assumed);
    sp_host::child_main(match &exports {
        Some(exports) => played.exporting(exports),
        None => played,
    });
    Ok(())
}

fn place() -> Result<DataFolders> {
    Ok(crate::operand::readable_place(
        &std::env::current_dir().into_diagnostic()?,
    ))
}

/// What the libraries of a release export, where its wheel was read.
pub fn exports(symbols: &Symbols, release: Release) -> Option<Exports> {
    let mut tables = symbols.tables().iter();
    let table =
        tables.find(|table| table.package == PACKAGE && table.platform == Platform::LinuxX86_64)?;
    let release = release.key();
    table.wheel_names().contains_key(&release).then(|| {
        let exported = |function: &str| {
            Some((
                function.to_owned(),
                table.libraries(function).remove(&release)?,
            ))
        };
        table.functions().filter_map(exported).collect()
    })
}

/// Puts `plugin` through every check of `release`, or of all that there are snapshots of; `seen` is
/// told each outcome as it comes.
///
/// # Errors
/// Returns an error if the plugin cannot be read, is for another machine or exports no entry point, or if
/// there is no such release.
pub fn verify(
    plugin: &Path,
    release: Option<Release>,
    options: &JudgeOptions<'_>,
    seen: impl Fn(&str, &Outcome) + Sync,
) -> Result<Report> {
    let shown = escape_control(&plugin.display().to_string());
    let unreadable = |error| VerifyError::NoPlugin(format!("{shown}: {error}"));
    let bytes = fs::read(plugin).map_err(unreadable)?;
    preflight::check(plugin, &bytes)?;
    let closure = asks::closure(plugin, bytes)?;
    let place = place()?;
    let releases = releases(&place, release)?;
    // A bare name would be looked for in the loader's folders, not here.
    let path = plugin.canonicalize().into_diagnostic()?;
    // A nightly build is no release of the checkout.
    let nightly = release.filter(|release| release.is_nightly());
    let apis = snapshots::read_history(&place, nightly)?;
    let history = played(&apis);
    let imports = closure.wanted();
    let options = JudgeOptions {
        contract: Some(Contract {
            history: &history,
            imports: &imports,
        }),
        ..*options
    };
    let rows = sp_host::judge(&releases, &path, &options, seen);
    Ok(Report {
        plugin: shown,
        previews: previews(&place, &releases)?,
        rows,
        releases,
        asked: asks::of(&closure, &apis, &place)?,
    })
}

/// Returns the history of the APIs that the host plays.
fn played(apis: &[Api]) -> History {
    let played = apis.iter();
    let played = played.filter(|api| PLAYED.contains(&api.name.as_str()));
    History::of(&played.cloned().collect::<Vec<_>>())
}

/// Returns the previews among `releases`, each with its exact version.
fn previews(place: &DataFolders, releases: &[String]) -> Result<BTreeMap<String, String>> {
    let mut previews = BTreeMap::new();
    for release in releases {
        let parsed = release.parse().map_err(miette::Report::msg)?;
        // Every API of a release says the same.
        let apis = snapshots::read_apis(place, parsed, &["stream_executor"])?;
        let exact = apis.into_iter().find_map(|api| api.preview);
        previews.extend(exact.map(|exact| (release.clone(), exact)));
    }
    Ok(previews)
}

/// How many releases there are, for a bar that must say how far it is.
pub const RELEASES: usize = 18;

/// How many checks a report of so many releases has.
pub fn checks(releases: usize) -> usize {
    releases * sp_host::CHECKS.len()
}

/// The releases to play: the one asked for, or all.
///
/// # Errors
/// Where it is not to be had.
pub fn releases(place: &DataFolders, asked: Option<Release>) -> Result<Vec<String>> {
    let mut known = snapshots::releases(place)?;
    if let Some(nightly) = asked.filter(|release| release.is_nightly()) {
        known.extend(snapshots::read_release(place, nightly)?.map(|_| nightly));
    }
    let played = known.into_iter().filter(|release| *release >= FIRST);
    let all: Vec<Release> = played.collect();
    let chosen = match asked {
        None => all,
        Some(release)
            if all.contains(&release.key())
                && snapshots::read_release(place, release)?.is_some() =>
        {
            vec![release.key()]
        }
        Some(release) => {
            let known: Vec<String> = all.iter().map(Release::to_string).collect();
            return Err(VerifyError::NoRelease(release, known.join(" ")).into());
        }
    };
    Ok(chosen.iter().map(Release::to_string).collect())
}
