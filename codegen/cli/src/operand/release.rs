//! A release: its snapshots, and what the tables say its libraries export.

use sp_ir::{Api, Item};

use super::{Headers, OperandError, Reading, Result, Side};
use crate::console::note;
use sp_data::folders::DataFolders;
use sp_data::platform::Platform;
use sp_data::release::{Release, RequestedRelease};
use sp_data::{snapshots, suggest, symbols};
use sp_diff::Surface;
use sp_diff::surface::Exports;
use sp_fetch::index::CPU_PACKAGE;
use sp_parse::clang::DEFAULT_TARGET;
use sp_parse::extract::TARGETS;

/// Returns the release that is asked for; `nightly` is the newest nightly build that is imported.
pub fn resolve(asked: RequestedRelease) -> Result<Release> {
    match asked {
        RequestedRelease::Version(release) => Ok(release),
        RequestedRelease::Nightly => snapshots::newest_nightly()?.ok_or(OperandError::NoNightly),
    }
}

/// Reads the snapshots of that minor.
pub fn read(label: &str, release: Release, reading: Reading<'_>) -> Result<Side> {
    of_snapshots(label, reading.target)?;
    let apis = snapshots::read_release(reading.place, release)?
        .ok_or_else(|| unknown_release(release, reading.place))?;
    let preview = apis.first().and_then(|api| api.preview.as_ref());
    if let Some(exact) = preview.filter(|exact| *exact != label) {
        note!("{label} is a preview: {exact}");
    }
    let surface = Surface {
        label: label.into(),
        exports: exports(&apis, release, reading)?,
        apis,
        target: None,
    };
    let headers = Headers::locked(reading.place, release);
    Ok(Side::stored(surface, headers))
}

/// Snapshots know a few targets.
pub fn of_snapshots(label: &str, target: &str) -> Result<()> {
    match TARGETS.contains(&target) {
        true => Ok(()),
        false => Err(OperandError::UnknownTarget {
            target: target.into(),
            label: label.into(),
            known: TARGETS.join(", "),
        }),
    }
}

/// Returns the error for a release that `place` has no snapshots of.
pub fn unknown_release(release: Release, place: &DataFolders) -> OperandError {
    let known = snapshots::releases(place).unwrap_or_default();
    let known: Vec<String> = known.iter().map(Release::to_string).collect();
    let list = format!(
        "known: {}; `sp-gen import tensorflow {release}` imports it",
        known.join(", ")
    );
    let names = known.iter().map(String::as_str);
    OperandError::UnknownRelease {
        release,
        help: suggest::with_suggestion(&release.to_string(), names, list),
    }
}

/// What the package without an accelerator exports, which is the one that every release has. A
/// function that no release exports is none's.
fn exports(apis: &[Api], release: Release, reading: Reading<'_>) -> Result<Option<Exports>> {
    if reading.target != DEFAULT_TARGET {
        return Ok(None);
    }
    let platform = Platform::LinuxX86_64;
    let Some(mut exports) =
        symbols::exports_of_wheel(reading.place, CPU_PACKAGE, platform, release)?
    else {
        return Ok(None);
    };
    for item in apis.iter().flat_map(|api| api.items.values()) {
        if let Item::Function(function) = item {
            exports.entry(function.symbol.clone()).or_default();
        }
    }
    Ok(Some(exports))
}
