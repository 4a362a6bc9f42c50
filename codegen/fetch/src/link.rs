//! Links to wheels in pip's log.

use sp_data::platform::Platform;
use sp_data::release::Release;

/// A wheel that an index links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `https://...` or `file:///...`, without the fragment.
    pub url: String,
    /// The page that has the link, if pip states it.
    pub page: Option<String>,
    /// The sha256 of the wheel in hexadecimal, if the link's fragment states it.
    pub sha256: Option<String>,
    /// The exact patch.
    pub release: Release,
    /// `cp311`
    pub python: String,
    /// Text of its tag.
    pub platform: Platform,
}

/// Returns the wheels of `package`, and the versions that have no wheel sp-gen reads: those with a suffix
/// other than `rcN` and `.devN`.
pub fn links(package: &str, log: &str) -> (Vec<Found>, Vec<String>) {
    let prefix = format!("{}-", package.replace('-', "_"));
    let (mut links, mut candidates) = (Vec::new(), Vec::new());
    for line in log.lines() {
        match line_link(&prefix, line) {
            Some(Ok(found)) => links.push(found),
            Some(Err(version)) => candidates.push(version),
            None => {}
        }
    }
    (links, candidates)
}

/// Reads `... https://.../x.whl#sha256=... (from https://.../) ...`.
fn line_link(prefix: &str, line: &str) -> Option<Result<Found, String>> {
    let mut words = line.split_whitespace();
    let (url, fragment) = words.by_ref().find_map(wheel_url)?;
    let mut from = words.skip_while(|word| *word != "(from");
    let page = from
        .nth(1)
        .map(|page| page.trim_end_matches(')').to_owned());
    let sha256 = fragment.and_then(sha256);
    Some(named(prefix, url)?.map(|found| Found {
        page,
        sha256,
        ..found
    }))
}

/// `https://.../x.whl` and `sha256=...` of `https://.../x.whl#sha256=...`
fn wheel_url(word: &str) -> Option<(&str, Option<&str>)> {
    let (url, fragment) = match word.split_once('#') {
        Some((url, fragment)) => (url, Some(fragment)),
        None => (word, None),
    };
    let is_url = ["https://", "http://", "file://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    (is_url && url.ends_with(".whl")).then_some((url, fragment))
}

fn sha256(fragment: &str) -> Option<String> {
    let mut pairs = fragment.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == "sha256")?;
    Some(value.to_ascii_lowercase())
}

/// Reads a wheel's file name; `Err` has a version that is no [`Release`].
fn named(prefix: &str, url: &str) -> Option<Result<Found, String>> {
    let name = url.rsplit('/').next()?.strip_suffix(".whl")?;
    let (version, tags) = name.strip_prefix(prefix)?.split_once('-')?;
    let mut tags = tags.rsplit('-');
    let (platform, _abi, python) = (tags.next()?, tags.next()?, tags.next()?);
    let platform = Platform::from_wheel_tag(platform)?;
    let release = version.parse().map_err(|_| version.to_owned());
    Some(release.map(|release| Found {
        url: url.to_owned(),
        page: None,
        sha256: None,
        release,
        python: python.to_owned(),
        platform,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_page_and_hash_of_a_link() {
        let url =
            "https://files.example/tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl";
        let line = |rest: &str| format!("  Found link {url}{rest}, version: 2.21.0\n");
        let read = |rest: &str| links("tensorflow-cpu", &line(rest)).0.remove(0);
        let full = read(
            "#egg=x&sha256=AB12 (from https://me:****@index.example/x/) (requires-python:>=3.9)",
        );
        assert_eq!(full.url, url);
        assert_eq!(
            full.page.as_deref(),
            Some("https://me:****@index.example/x/")
        );
        assert_eq!(full.sha256.as_deref(), Some("ab12"));
        let bare = read("#md5=00");
        assert_eq!((bare.page, bare.sha256), (None, None));
    }
}
