//! A release: its snapshots, and the committed tables of its exported symbols.

use sp_ir::{Api, Item};

use super::{LoadedSide, OperandError, QuotedHeaders, ReadOptions, Result};
use crate::console::note;
use sp_data::folders::DataFolders;
use sp_data::platform::WheelPlatform;
use sp_data::release::{Release, RequestedRelease};
use sp_data::{snapshots, suggest, symbols};
use sp_diff::Surface;
use sp_diff::surface::SideExports;
use sp_fetch::index::CPU_PACKAGE;
use sp_parse::clang::DEFAULT_TARGET;
use sp_parse::extract::TARGETS;

/// Returns the requested release. `nightly` is the newest imported nightly build.
pub fn resolve(requested: RequestedRelease) -> Result<Release> {
    match requested {
        RequestedRelease::Version(release) => Ok(release),
        RequestedRelease::Nightly => snapshots::newest_nightly()?.ok_or(OperandError::NoNightly),
    }
}

/// Reads the snapshots of the minor release.
pub fn read(label: &str, release: Release, options: ReadOptions<'_>) -> Result<LoadedSide> {
    check_snapshot_target(label, options.target)?;
    let apis = snapshots::read_release(options.folders, release)?
        .ok_or_else(|| unknown_release(release, options.folders))?;
    let preview = apis.first().and_then(|api| api.preview.as_ref());
    if let Some(exact) = preview.filter(|exact| *exact != label) {
        note!("{label} is a preview: {exact}");
    }
    let surface = Surface {
        label: label.into(),
        exports: exports(&apis, release, options)?,
        apis,
        target: None,
        visibility: None,
    };
    let headers = QuotedHeaders::locked(options.folders, release);
    Ok(LoadedSide::from_snapshots(surface, headers))
}

/// Returns an error if snapshots do not have layouts of `target`.
pub fn check_snapshot_target(label: &str, target: &str) -> Result<()> {
    match TARGETS.contains(&target) {
        true => Ok(()),
        false => Err(OperandError::UnknownTarget {
            target: target.into(),
            label: label.into(),
            known: TARGETS.join(", "),
        }),
    }
}

/// Returns the error for a release without snapshots in `folders`.
pub fn unknown_release(release: Release, folders: &DataFolders) -> OperandError {
    let known = snapshots::releases(folders).unwrap_or_default();
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

/// Returns the exports of the package without an accelerator, which every release has. A declared function that is not
/// exported has an empty set.
fn exports(
    apis: &[Api],
    release: Release,
    options: ReadOptions<'_>,
) -> Result<Option<SideExports>> {
    if options.target != DEFAULT_TARGET {
        return Ok(None);
    }
    let platform = WheelPlatform::LinuxX86_64;
    let Some(mut exports) =
        symbols::exports_of_wheel(options.folders, CPU_PACKAGE, platform, release)?
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
