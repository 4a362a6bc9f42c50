//! Headers: an include root, an installed TensorFlow, or the headers in a wheel. They are parsed in this process, for the
//! requested target only.

use std::path::Path;

use super::{LoadedSide, QuotedHeaders, ReadOptions, Result, exports};
use crate::console::note;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_diff::Surface;
use sp_fetch::error::FetchError;
use sp_fetch::store::unpack;
use sp_fetch::wheel::Wheel;
use sp_parse::api_headers;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{ExtractError, Extracted, Job, extract_with};
use sp_parse::source::{Identity, Source, find_identity};
use sp_system::input;

/// Reads the headers below `include`.
pub fn read_include_root(
    label: &str,
    include: &Path,
    options: ReadOptions<'_>,
) -> Result<LoadedSide> {
    let release = release_of_headers(include);
    let extracted = parse(label, include, release, options)?;
    let surface = Surface {
        label: label.into(),
        exports: exports::read_package(include, options.target)?,
        target: Some(options.target.into()),
        visibility: Some(extracted.visibility),
        apis: extracted.apis,
    };
    Ok(LoadedSide {
        surface,
        headers: QuotedHeaders::in_folder(include.to_owned()),
        unread: extracted.unreadable,
        release,
        is_parsed: true,
    })
}

/// Returns the release of the headers below `include`: from the package that contains them, from the folder's name in a
/// store, or from the version macros.
pub fn release_of_headers(include: &Path) -> Option<Release> {
    release_of_package(&find_identity(include))
        .or_else(|| release_of_store_folder(include))
        .or_else(|| release_of_version_macros(include))
}

/// Reads the headers in a wheel. They stay in a temporary folder as long as a report may quote them.
pub fn read_wheel(label: &str, path: &Path, options: ReadOptions<'_>) -> Result<LoadedSide> {
    let mut wheel = Wheel::open(path)?;
    let release = release_of_package(&wheel.identity()?);
    let closure = api_headers::find(&mut wheel, &mut |_| {})?;
    let folder = unpack(&closure.headers).map_err(|error| {
        FetchError::unreadable(label, format!("the headers cannot be unpacked: {error}"))
    })?;
    let extracted = parse(label, folder.path(), release, options)?;
    let surface = Surface {
        label: label.into(),
        apis: extracted.apis,
        exports: None,
        target: Some(options.target.into()),
        visibility: Some(extracted.visibility),
    };
    Ok(LoadedSide {
        surface,
        headers: QuotedHeaders::unpacked(folder),
        unread: extracted.unreadable,
        release,
        is_parsed: true,
    })
}

/// Parses the headers below `include`, or only those of the requested APIs. The facts in the notes depend on the release;
/// if that is unknown, those of the newest release are used.
fn parse(
    label: &str,
    include: &Path,
    release: Option<Release>,
    options: ReadOptions<'_>,
) -> Result<Extracted> {
    let newest = || snapshots::releases(options.folders).ok()?.pop();
    let key = release.or_else(newest).map(Release::key);
    let name = key.map_or_else(String::new, |key| key.to_string());
    if release.is_none() {
        note!("{label} does not state its release; it is read as {name}");
    }
    let baseline = snapshots::read_newest(options.folders, release)?;
    let notes = Notes::all().map_err(ExtractError::from)?;
    let excluded = ExcludedHeaders::embedded().map_err(ExtractError::from)?;
    let job = Job {
        notes: &notes,
        excluded: &excluded,
        known: &KnownNames::AtHand(baseline),
        include_root: include,
        release: &name,
        only: options.apis,
    };
    let extracted = extract_with(&job, options.target);
    let mut extracted = extracted.map_err(|error| match error {
        // The folder may be a temporary one.
        ExtractError::NoItems(..) => ExtractError::NoItems(label.into()),
        error => error,
    })?;
    if let Some(line) = extracted.format_unassigned() {
        note!("{label}: {line}");
    }
    if let Some(release) = release {
        snapshots::mark_preview(&mut extracted.apis, release);
    }
    Ok(extracted)
}

/// Returns the release of a package. `2.15.0.post1` is `2.15`; `2.22.0rc0` stays as it is.
fn release_of_package(identity: &Identity) -> Option<Release> {
    let version = identity.version.as_deref()?;
    if let Ok(release) = version.parse() {
        return Some(release);
    }
    let numbers: Vec<&str> = version.split('.').take(2).collect();
    numbers.join(".").parse().ok()
}

/// Returns the release of `<release>/include`, as in the store.
fn release_of_store_folder(include: &Path) -> Option<Release> {
    let include = include.canonicalize().ok()?;
    include.parent()?.file_name()?.to_str()?.parse().ok()
}

/// Returns the release in TensorFlow's version macros, which one of two headers has.
fn release_of_version_macros(include: &Path) -> Option<Release> {
    const HEADERS: [&str; 2] = [
        "tensorflow/core/public/release_version.h",
        "tensorflow/core/public/version.h",
    ];
    let number = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| {
            line.trim_start()
                .strip_prefix("#define ")?
                .trim_start()
                .strip_prefix(name)
        })?;
        line.trim().parse::<u32>().ok()
    };
    HEADERS.iter().find_map(|header| {
        let text = input::read_text(&include.join(header)).ok()?;
        let major = number(&text, "TF_MAJOR_VERSION")?;
        let minor = number(&text, "TF_MINOR_VERSION")?;
        format!("{major}.{minor}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn finds_release_in_package_folder_name_or_macros() {
        let identity = Identity {
            version: Some("2.15.0.post1".into()),
            ..Identity::default()
        };
        assert_eq!(release_of_package(&identity).unwrap().to_string(), "2.15");
        let scratch = tempfile::tempdir().unwrap();
        let include = scratch.path().join("2.9.3/include");
        let public = include.join("tensorflow/core/public");
        fs::create_dir_all(&public).unwrap();
        assert_eq!(
            release_of_store_folder(&include).unwrap().to_string(),
            "2.9.3"
        );
        assert_eq!(release_of_version_macros(&include), None);
        let text = "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 22\n";
        fs::write(public.join("version.h"), text).unwrap();
        assert_eq!(
            release_of_version_macros(&include).unwrap().to_string(),
            "2.22"
        );
    }
}
