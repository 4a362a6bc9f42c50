//! Headers: an include root, an installed TensorFlow, or the headers in a wheel. They are parsed in
//! this process, for the one target that is asked for.

use std::fs;
use std::path::Path;

use super::{Headers, Reading, Result, Side, exports};
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
use sp_parse::source::SourceError;
use sp_parse::source::{Identity, Source, find_identity};

/// The headers below `include`.
pub fn folder(label: &str, include: &Path, reading: Reading<'_>) -> Result<Side> {
    let release = release_of_headers(include);
    let extracted = parse(label, include, release, reading)?;
    let surface = Surface {
        label: label.into(),
        exports: exports::beside(include, reading.target)?,
        target: Some(reading.target.into()),
        apis: extracted.apis,
    };
    Ok(Side {
        surface,
        headers: Headers::at(include.to_owned()),
        unread: extracted.unreadable,
        is_parsed: true,
    })
}

/// Returns the release that the headers below `include` are of, by the package around them, their place in a store,
/// or their version macros.
pub fn release_of_headers(include: &Path) -> Option<Release> {
    release_of(&find_identity(include))
        .or_else(|| stored_as(include))
        .or_else(|| written_in(include))
}

/// The headers in a wheel, which lie in a folder of their own as long as they are quoted.
pub fn wheel(label: &str, path: &Path, reading: Reading<'_>) -> Result<Side> {
    let mut wheel = Wheel::open(path)?;
    let release = release_of(&wheel.identity()?);
    let found = api_headers::find(&mut wheel, &mut |_| {})?;
    let folder = unpack(&found.headers).map_err(|error| {
        FetchError::from(SourceError::Unreadable {
            origin: label.into(),
            detail: format!("its headers cannot be unpacked: {error}"),
        })
    })?;
    let extracted = parse(label, folder.path(), release, reading)?;
    let surface = Surface {
        label: label.into(),
        apis: extracted.apis,
        exports: None,
        target: Some(reading.target.into()),
    };
    Ok(Side {
        surface,
        headers: Headers::unpacked(folder),
        unread: extracted.unreadable,
        is_parsed: true,
    })
}

/// Parses the headers below `include`, those of the APIs asked for if there are any. What facts hold
/// depends on the release; if it is not known, the newest release's facts are taken.
fn parse(
    label: &str,
    include: &Path,
    release: Option<Release>,
    reading: Reading<'_>,
) -> Result<Extracted> {
    let newest = || snapshots::releases(reading.place).ok()?.pop();
    let known = release.or_else(newest).map(Release::key);
    let name = known.map_or_else(String::new, |one| one.to_string());
    if release.is_none() {
        note!("{label} does not say which release it is; its facts are taken as {name}'s");
    }
    let baseline = snapshots::read_newest(reading.place, release)?;
    let notes = Notes::all().map_err(ExtractError::from)?;
    let excluded = ExcludedHeaders::embedded().map_err(ExtractError::from)?;
    let job = Job {
        notes: &notes,
        excluded: &excluded,
        known: &KnownNames::AtHand(baseline),
        include_root: include,
        release: &name,
        only: reading.apis,
    };
    let mut extracted = extract_with(&job, reading.target)?;
    if let Some(line) = extracted.format_unassigned() {
        note!("{label}: {line}");
    }
    if let Some(release) = release {
        snapshots::mark_preview(&mut extracted.apis, release);
    }
    Ok(extracted)
}

/// Returns the release of a package: `2.22.0rc0`, and `2.15` for `2.15.0.post1`.
fn release_of(identity: &Identity) -> Option<Release> {
    let version = identity.version.as_deref()?;
    if let Ok(release) = version.parse() {
        return Some(release);
    }
    let numbers: Vec<&str> = version.split('.').take(2).collect();
    numbers.join(".").parse().ok()
}

/// `<release>/include`, as in the store.
fn stored_as(include: &Path) -> Option<Release> {
    let include = include.canonicalize().ok()?;
    include.parent()?.file_name()?.to_str()?.parse().ok()
}

/// The version macros of TensorFlow itself, in either of the headers that have had them.
fn written_in(include: &Path) -> Option<Release> {
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
        let text = fs::read_to_string(include.join(header)).ok()?;
        let major = number(&text, "TF_MAJOR_VERSION")?;
        let minor = number(&text, "TF_MINOR_VERSION")?;
        format!("{major}.{minor}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_found_in_the_package_the_place_or_the_text() {
        let identity = Identity {
            version: Some("2.15.0.post1".into()),
            ..Identity::default()
        };
        assert_eq!(release_of(&identity).unwrap().to_string(), "2.15");
        let scratch = tempfile::tempdir().unwrap();
        let include = scratch.path().join("2.9.3/include");
        let public = include.join("tensorflow/core/public");
        fs::create_dir_all(&public).unwrap();
        assert_eq!(stored_as(&include).unwrap().to_string(), "2.9.3");
        assert_eq!(written_in(&include), None);
        let text = "#define TF_MAJOR_VERSION 2\n#define TF_MINOR_VERSION 22\n";
        fs::write(public.join("version.h"), text).unwrap();
        assert_eq!(written_in(&include).unwrap().to_string(), "2.22");
    }
}
