//! Where a release's wheel is, as the user's own pip finds it: no index is named here.
//!
//! Asked for a version that cannot be, pip reads the index's page of the package, says at `-vv`
//! which links stand on it, and fails: one small page is moved. Asked for the release itself
//! (`install --dry-run --report`), pip 23 downloads the whole wheel, `fast-deps` or not.

use super::error::FetchError;
use super::http::Client;
pub use super::link::Found;
use super::link::links;
use super::url::{Url, redact};
use sp_data::platform::Platform;
use sp_data::release::Release;
use sp_system::python;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex, PoisonError};

/// The package that has the headers and no accelerator's libraries.
pub const PACKAGE: &str = "tensorflow-cpu";

/// The package of nightly builds.
pub const NIGHTLY: &str = "tf-nightly";

/// Returns the package that has the headers of `release`.
pub fn package_of(release: Release) -> &'static str {
    match release.is_nightly() {
        true => NIGHTLY,
        false => PACKAGE,
    }
}

/// Every release since 2.12 has a wheel for it; of older ones the newest Python's is taken.
const PYTHON: &str = "cp311";

/// The first release with a C API for plugin devices.
const FIRST: Release = Release::from_minor(2, 4);

/// What the index says of a package.
#[derive(Debug)]
pub struct Page {
    package: String,
    links: Vec<Found>,
    candidates: Vec<String>,
}

/// The pages that were asked for, each once, and the client for what they link to.
#[derive(Debug, Default)]
pub struct Index {
    pages: Mutex<BTreeMap<String, Arc<Page>>>,
    client: Arc<Client>,
}

impl Index {
    /// Makes an index whose links may be plain http if `allow_http`.
    pub fn new(allow_http: bool) -> Self {
        Self {
            client: Arc::new(Client::new(allow_http)),
            ..Self::default()
        }
    }

    /// Returns the client for what the pages link to.
    pub fn client(&self) -> Arc<Client> {
        self.client.clone()
    }

    /// The page of a package, through pip.
    pub fn page(&self, package: &str) -> Result<Arc<Page>, FetchError> {
        // Who waits here would ask the same.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.get(package) {
            return Ok(page.clone());
        }
        let page = Arc::new(Page::ask(package)?);
        pages.insert(package.to_owned(), page.clone());
        Ok(page)
    }

    /// Returns the wheel of a release, as [`Page::find`].
    ///
    /// # Errors
    /// Returns an error if there is none, or if the link to it came over plain http and may have been
    /// changed on its way.
    pub fn find(
        &self,
        package: &str,
        release: Release,
        platform: Platform,
        python: Option<&str>,
    ) -> Result<Found, FetchError> {
        let found = self.page(package)?.find(release, platform, python)?;
        let page = found.page.as_deref().and_then(Url::parse);
        match page.map(|page| self.client.check(&page)) {
            Some(Err(error)) => Err(FetchError::from_server(&found.url, error)),
            _ => Ok(found),
        }
    }
}

impl Page {
    fn ask(package: &str) -> Result<Self, FetchError> {
        let output = question(package).map_err(|error| FetchError::PipMissing {
            detail: format!("python3: {error}"),
        })?;
        let page = Self::read(package, &said(&output));
        if page.links.is_empty() {
            refusal(&said(&output))?;
        }
        Ok(page)
    }

    fn read(package: &str, said: &str) -> Self {
        let (links, candidates) = links(package, said);
        Self {
            package: package.to_owned(),
            links,
            candidates,
        }
    }

    /// The wheel of a release, built for `python` (a tag such as `cp311`) where that is known.
    pub fn find(
        &self,
        release: Release,
        platform: Platform,
        python: Option<&str>,
    ) -> Result<Found, FetchError> {
        let here = |link: &&Found| link.platform == platform;
        let links: Vec<Found> = self.links.iter().filter(here).cloned().collect();
        let known: Vec<Release> = links.iter().map(|link| link.release).collect();
        choose(links, release, python.unwrap_or(PYTHON)).ok_or_else(|| FetchError::UnknownRelease {
            package: self.package.clone(),
            release,
            known: describe(release, known, &self.candidates),
        })
    }

    /// The package.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Returns the minor releases that are final and have a C API for plugin devices.
    pub fn minors(&self) -> BTreeSet<Release> {
        let finals = self.links.iter().map(|link| link.release);
        let minors = finals.filter(|one| one.is_final()).map(Release::minor);
        minors.filter(|minor| *minor >= FIRST).collect()
    }

    /// Returns the newest version that has a wheel for `platform`.
    pub fn newest(&self, platform: Platform) -> Option<Release> {
        let links = self.links.iter();
        let here = links.filter(|link| link.platform == platform);
        here.map(|link| link.release).max()
    }
}

/// Asks pip for a version that does not exist.
fn question(package: &str) -> std::io::Result<Output> {
    let wanted = format!("{package}==0");
    let quiet = [
        "--no-input",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ];
    let pip = ["-m", "pip", "download", "-vv", "--no-deps"];
    let arguments = [&pip[..], &["--only-binary=:all:"], &quiet, &[&wanted]];
    python::run(Path::new("python3"), &arguments.concat())
}

fn said(output: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    format!("{out}\n{err}")
}

/// The newest patch, built for `python` or else for the newest Python.
fn choose(links: Vec<Found>, release: Release, python: &str) -> Option<Found> {
    let admitted = links
        .into_iter()
        .filter(|link| release.admits(link.release));
    admitted.max_by_key(|link| (link.release, link.python == python, minor(&link.python)))
}

/// `11` of `cp311`.
fn minor(python: &str) -> u32 {
    python
        .strip_prefix("cp3")
        .and_then(|minor| minor.parse().ok())
        .unwrap_or(0)
}

fn describe(asked: Release, mut known: Vec<Release>, others: &[String]) -> String {
    known.sort();
    known.dedup();
    let alike = |release: &&Release| release.minor() == asked.minor();
    let versions: Vec<String> = known.iter().filter(alike).map(Release::to_string).collect();
    let is_final = known.iter().filter(alike).any(|one| one.is_final());
    match versions.last() {
        Some(last) if asked.is_final() && !is_final => {
            return format!(
                "{} has no final release yet; `sp-gen import tensorflow {last}` imports that pre-release",
                asked.minor()
            );
        }
        Some(_) => return format!("it has {}", versions.join(", ")),
        None => {}
    }
    let prefix = format!("{}.", asked.minor());
    if let Some(other) = others.iter().find(|version| version.starts_with(&prefix)) {
        return format!("it has {other}, which sp-gen does not read");
    }
    known.retain(|one| one.is_final() || !asked.is_final());
    match (known.first(), known.last()) {
        (Some(first), Some(last)) => format!("it has {} to {}", first.minor(), last.minor()),
        _ => "it has no such wheel of this package; `pip config list` shows which index is asked"
            .to_owned(),
    }
}

/// Why pip listed nothing, if it is not that there is nothing.
fn refusal(said: &str) -> Result<(), FetchError> {
    let line = |wanted: &str| {
        said.lines()
            .find(|line| line.contains(wanted))
            .map(str::trim)
    };
    let fetch = line("Could not fetch URL").filter(|line| !line.contains(" 404 "));
    if let Some(detail) = line("Retrying (").or(fetch) {
        return Err(FetchError::NetworkAway {
            detail: reason(detail),
        });
    }
    if let Some(detail) = line("No module named pip").or(line("no such option")) {
        return Err(FetchError::PipMissing {
            detail: redact(detail),
        });
    }
    if line("No matching distribution found").is_some() {
        return Ok(());
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(FetchError::PipFailed {
        detail: redact(last.unwrap_or("it said nothing").trim()),
    })
}

/// The end of pip's sentence about a connection, which is where the reason stands.
fn reason(line: &str) -> String {
    let rest = line
        .rsplit_once("object at ")
        .and_then(|(_, rest)| rest.split_once(": "));
    let rest = rest.map_or(line, |(_, rest)| rest);
    let (reason, _) = rest.split_once("')").unwrap_or((rest, ""));
    format!("pip says: {}", redact(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
  Found link https://files.example/a/tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl#sha256=00 (from https://index.example/), version: 2.21.0
  Skipping link: none of the wheel's tags fit: https://files.example/b/tensorflow_cpu-2.21.0-cp313-cp313-manylinux_2_27_x86_64.whl#sha256=01 (from x)
  Skipping link: x: https://files.example/c/tensorflow_cpu-2.21.0-cp311-cp311-win_amd64.whl (from x)
  Skipping link: x: https://files.example/d/tensorflow_cpu-2.22.0rc0-cp311-cp311-manylinux_2_27_x86_64.whl (from x)
  Skipping link: x: file:///w/tensorflow_cpu-2.5.3-cp38-cp38-manylinux2010_x86_64.whl (from x)
  Skipping link: x: file:///w/tensorflow_cpu-2.5.3-cp39-cp39-manylinux2010_x86_64.whl (from x)
  Skipping link: x: file:///w/tensorflow_cpu-2.5.0-cp39-cp39-manylinux2010_x86_64.whl (from x)
  Skipping link: x: https://files.example/e/tensorflow_cpu-2.15.0.post1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
ERROR: No matching distribution found for tensorflow-cpu==0
";

    fn found(release: &str, python: &str) -> Option<String> {
        let page = Page::read(PACKAGE, SAID);
        let found = page.find(
            release.parse().unwrap(),
            Platform::LinuxX86_64,
            Some(python),
        );
        Some(found.ok()?.url.rsplit('/').next()?.to_owned())
    }

    #[test]
    fn a_minor_is_its_newest_patch() {
        let wheel = "tensorflow_cpu-2.5.3-cp39-cp39-manylinux2010_x86_64.whl";
        assert_eq!(found("2.5", PYTHON).as_deref(), Some(wheel));
        assert!(found("2.5.0", PYTHON).unwrap().contains("2.5.0"));
    }

    #[test]
    fn the_minors_are_those_with_final_releases() {
        let minors: Vec<String> = Page::read(PACKAGE, SAID)
            .minors()
            .iter()
            .map(Release::to_string)
            .collect();
        assert_eq!(minors, ["2.5", "2.21"]);
    }

    #[test]
    fn another_package_or_platform_is_another_wheel() {
        let said = "x: https://files.example/tensorflow-2.21.0-cp311-cp311-macosx_12_0_arm64.whl#sha256=0 (from x)";
        let page = Page::read("tensorflow", said);
        let release = "2.21".parse().unwrap();
        assert!(page.find(release, Platform::MacosArm64, None).is_ok());
        assert!(page.find(release, Platform::LinuxX86_64, None).is_err());
        assert!(Page::read(PACKAGE, said).minors().is_empty());
    }

    #[test]
    fn the_locked_python_goes_before_the_newest() {
        assert!(found("2.21", "cp311").unwrap().contains("cp311"));
        assert!(found("2.21", "cp39").unwrap().contains("cp313"));
        assert!(found("2.5", "cp38").unwrap().contains("cp38"));
    }

    #[test]
    fn finds_candidate_only_if_asked_for_by_version() {
        assert_eq!(found("2.22", PYTHON), None);
        let wheel = "tensorflow_cpu-2.22.0rc0-cp311-cp311-manylinux_2_27_x86_64.whl";
        assert_eq!(found("2.22.0rc0", PYTHON).as_deref(), Some(wheel));
        assert_eq!(found("2.15", PYTHON), None);
    }

    #[test]
    fn newest_is_last_version_for_platform() {
        let link = |date: u32, tag: &str| {
            format!(
                "x: https://files.example/tf_nightly-2.23.0.dev{date}-cp311-cp311-{tag}.whl (from x)\n"
            )
        };
        let linux = "manylinux_2_27_x86_64";
        let said = link(20261025, linux) + &link(20261026, "macosx_12_0_arm64");
        let page = Page::read(NIGHTLY, &said);
        let newest = |platform| page.newest(platform).map(|one| one.to_string());
        assert_eq!(
            newest(Platform::LinuxX86_64).as_deref(),
            Some("2.23.0.dev20261025")
        );
        assert_eq!(newest(Platform::LinuxAarch64), None);
        let nightly = "2.23.0.dev20261025".parse().unwrap();
        assert!(page.find(nightly, Platform::LinuxX86_64, None).is_ok());
        assert_eq!(package_of(nightly), NIGHTLY);
    }

    #[test]
    fn what_the_index_has_is_said() {
        let (links, candidates) = links(PACKAGE, SAID);
        let known: Vec<Release> = links.iter().map(|link| link.release).collect();
        let help = |name: &str| describe(name.parse().unwrap(), known.clone(), &candidates);
        assert_eq!(help("2.99"), "it has 2.5 to 2.21");
        assert_eq!(help("2.5.9"), "it has 2.5.0, 2.5.3");
        assert_eq!(
            help("2.22"),
            "2.22 has no final release yet; `sp-gen import tensorflow 2.22.0rc0` imports that pre-release"
        );
        assert_eq!(help("2.22.0rc7"), "it has 2.22.0rc0");
        assert!(help("2.15").contains("2.15.0.post1"));
    }

    #[test]
    fn a_network_that_is_away_is_not_an_unknown_release() {
        let said = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused')': /x/\nERROR: No matching distribution found for x\n";
        let Err(FetchError::NetworkAway { detail }) = refusal(said) else {
            panic!("not seen");
        };
        assert_eq!(
            detail,
            "pip says: Failed to establish a new connection: [Errno 111] Connection refused"
        );
        let refused = "Could not fetch URL https://x/: 403 Client Error: Forbidden - skipping";
        assert!(matches!(
            refusal(refused),
            Err(FetchError::NetworkAway { .. })
        ));
    }

    #[test]
    fn messages_hide_credentials_that_pip_prints() {
        for said in [
            "Could not fetch URL https://me:secret@x.example/: 403 Client Error",
            "ERROR: no luck with https://secret@x.example/",
        ] {
            let error = refusal(said).unwrap_err().to_string();
            assert!(
                error.contains("x.example") && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn rejects_a_link_on_a_page_that_came_over_plain_http() {
        let index = |allow_http: bool| {
            let index = Index::new(allow_http);
            let page = Page::read(PACKAGE, &SAID.replace("https://index", "http://index"));
            index
                .pages
                .lock()
                .unwrap()
                .insert(PACKAGE.into(), Arc::new(page));
            index
        };
        let find = |index: Index| {
            let release = "2.21".parse().unwrap();
            index.find(PACKAGE, release, Platform::LinuxX86_64, None)
        };
        assert!(find(index(true)).is_ok());
        let error = find(index(false)).unwrap_err();
        assert!(matches!(error, FetchError::PlainHttp { .. }), "{error}");
    }

    #[test]
    fn an_index_without_the_package_is_no_failure_of_pip() {
        let said = "Could not fetch URL https://x/: 404 Client Error: Not Found\nERROR: No matching distribution found for x";
        assert!(refusal(said).is_ok());
    }

    #[test]
    fn a_python_without_pip_is_named() {
        assert!(matches!(
            refusal("python3: No module named pip"),
            Err(FetchError::PipMissing { .. })
        ));
        assert!(matches!(
            refusal("Traceback\nKeyError: 1\n"),
            Err(FetchError::PipFailed { .. })
        ));
    }
}
