//! Links to wheels in pip's log.

use sp_data::platform::WheelPlatform;
use sp_data::release::Release;

/// A wheel that an index links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelLink {
    /// `https://...` or `file:///...`, without the fragment.
    pub url: String,
    /// The page that has the link, if pip prints it.
    pub page: Option<String>,
    /// The sha256 of the wheel in hexadecimal, if the link's fragment has it.
    pub sha256: Option<String>,
    /// The exact version.
    pub release: Release,
    /// The Python tag, such as `cp311`.
    pub python: String,
    /// The platform of the wheel's tag.
    pub platform: WheelPlatform,
}

/// Returns the links to wheels of `package`, and the versions that sp-gen does not support: those with a suffix
/// other than `rcN` and `.devN`.
pub fn parse_links(package: &str, log: &str) -> (Vec<WheelLink>, Vec<String>) {
    let prefix = format!("{}-", package.replace('-', "_"));
    let (mut links, mut unsupported) = (Vec::new(), Vec::new());
    for line in log.lines() {
        match parse_line(&prefix, line) {
            Some(Ok(found)) => links.push(found),
            Some(Err(version)) => unsupported.push(version),
            None => {}
        }
    }
    (links, unsupported)
}

/// Parses a line such as `... https://.../x.whl#sha256=... (from https://.../) ...`.
fn parse_line(prefix: &str, line: &str) -> Option<Result<WheelLink, String>> {
    let mut words = line.split_whitespace();
    let (url, fragment) = words.by_ref().find_map(wheel_url)?;
    let mut from = words.skip_while(|word| *word != "(from");
    let page = from
        .nth(1)
        .map(|page| page.trim_end_matches([')', ',']).to_owned());
    let sha256 = fragment.and_then(fragment_sha256);
    Some(parse_file_name(prefix, url)?.map(|found| WheelLink {
        page,
        sha256,
        ..found
    }))
}

/// Splits `https://.../x.whl#sha256=...` into URL and fragment. Returns `None` for other words.
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

fn fragment_sha256(fragment: &str) -> Option<String> {
    let mut pairs = fragment.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == "sha256")?;
    Some(value.to_ascii_lowercase())
}

/// Parses a wheel's file name. `Err` has a version that is not a [`Release`].
fn parse_file_name(prefix: &str, url: &str) -> Option<Result<WheelLink, String>> {
    let name = url.rsplit('/').next()?.strip_suffix(".whl")?;
    let (version, tags) = name.strip_prefix(prefix)?.split_once('-')?;
    let mut tags = tags.rsplit('-');
    let (platform, _abi, python) = (tags.next()?, tags.next()?, tags.next()?);
    let platform = WheelPlatform::from_wheel_tag(platform)?;
    let release = version.parse().map_err(|_| version.to_owned());
    Some(release.map(|release| WheelLink {
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
    fn parses_page_and_hash_of_link() {
        let url =
            "https://files.example/tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl";
        let line = |rest: &str| format!("  Found link {url}{rest}, version: 2.21.0\n");
        let parse = |rest: &str| parse_links("tensorflow-cpu", &line(rest)).0.remove(0);
        let full = parse(
            "#egg=x&sha256=AB12 (from https://me:****@index.example/x/) (requires-python:>=3.9)",
        );
        assert_eq!(full.url, url);
        let expected = Some("https://me:****@index.example/x/");
        assert_eq!(full.page.as_deref(), expected);
        assert_eq!(full.sha256.as_deref(), Some("ab12"));
        let unrestricted = parse(" (from https://index.example/x/)");
        assert_eq!(
            unrestricted.page.as_deref(),
            Some("https://index.example/x/")
        );
        let bare = parse("#md5=00");
        assert_eq!((bare.page, bare.sha256), (None, None));
    }
}
