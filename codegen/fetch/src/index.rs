//! Finds the link to a release's wheel with the user's own pip, which has the settings of the index.
//!
//! pip is run for a version that cannot exist, with `-vv`. It reads the index's page of the package, prints its links
//! and fails; only that page is transferred. `pip install --dry-run --report RELEASE` would download the whole wheel
//! with pip 23, also with `fast-deps`.

use super::error::FetchError;
use super::http::Client;
pub use super::link::WheelLink;
use super::link::parse_links;
use super::url::{Url, redact};
use sp_data::platform::WheelPlatform;
use sp_data::release::Release;
use sp_system::child::{End, Output, python_output};
use sp_system::input::MAX_TEXT_BYTES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The package that has the headers and no libraries of accelerators.
pub const CPU_PACKAGE: &str = "tensorflow-cpu";

/// The package of nightly builds.
pub const NIGHTLY_PACKAGE: &str = "tf-nightly";

/// Returns the package that has the headers of `release`.
pub fn package_for(release: Release) -> &'static str {
    match release.is_nightly() {
        true => NIGHTLY_PACKAGE,
        false => CPU_PACKAGE,
    }
}

/// The preferred Python: every release since 2.12 has a wheel for it. Of older releases the wheel for the newest
/// Python is used.
const PREFERRED_PYTHON: &str = "cp311";

/// The longest time of pip, which reads one page.
const PIP_TIME: Duration = Duration::from_secs(300);

/// The first release with a C API for plugin devices.
const FIRST_PLUGIN_RELEASE: Release = Release::from_minor(2, 4);

/// Links of a package in the index.
#[derive(Debug)]
pub struct PackagePage {
    package: String,
    links: Vec<WheelLink>,
    unsupported: Vec<String>,
}

/// The index that pip is configured for. Requests each page once.
#[derive(Debug, Default)]
pub struct Index {
    pages: Mutex<BTreeMap<String, Arc<PackagePage>>>,
    client: Arc<Client>,
}

impl Index {
    /// Creates an index whose links may be plain http if `allow_http` is true.
    pub fn new(allow_http: bool) -> Self {
        Self {
            client: Arc::new(Client::new(allow_http)),
            ..Self::default()
        }
    }

    /// Returns the client that requests the linked wheels.
    pub fn client(&self) -> Arc<Client> {
        self.client.clone()
    }

    /// Returns the page of a package, and requests it through pip the first time.
    ///
    /// # Errors
    /// Returns an error if pip cannot be run or cannot read the index.
    pub fn page(&self, package: &str) -> Result<Arc<PackagePage>, FetchError> {
        // Held during the request: threads that wait here need the same page.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.get(package) {
            return Ok(page.clone());
        }
        let page = Arc::new(PackagePage::request(package)?);
        pages.insert(package.to_owned(), page.clone());
        Ok(page)
    }

    /// Returns the link to the wheel of a release, as [`PackagePage::find`] does.
    ///
    /// # Errors
    /// Returns an error if there is none, or if its page was transferred over plain http, where the link can be
    /// changed.
    pub fn find(
        &self,
        package: &str,
        release: Release,
        platform: WheelPlatform,
        python: Option<&str>,
    ) -> Result<WheelLink, FetchError> {
        let found = self.page(package)?.find(release, platform, python)?;
        let page = found.page.as_deref().and_then(Url::parse);
        match page.map(|page| self.client.check_scheme(&page)) {
            Some(Err(error)) => Err(FetchError::from_server(&found.url, error)),
            _ => Ok(found),
        }
    }
}

impl PackagePage {
    fn request(package: &str) -> Result<Self, FetchError> {
        Self::request_by(Path::new("python3"), package, PIP_TIME)
    }

    /// Requests the page through the pip of `python`, within `time`.
    fn request_by(python: &Path, package: &str, time: Duration) -> Result<Self, FetchError> {
        let output = run_pip(python, package, time).map_err(|error| FetchError::PipMissing {
            detail: format!("{}: {error}", python.display()),
        })?;
        let Output {
            end,
            stdout,
            stderr,
        } = output;
        if !matches!(end, End::Exit(_)) {
            let detail = end.to_string();
            return Err(FetchError::PipFailed { detail });
        }
        // The links after the limit are lost.
        if stdout.len().max(stderr.len()) as u64 >= MAX_TEXT_BYTES {
            let detail = format!("it printed more than {} MiB", MAX_TEXT_BYTES >> 20);
            return Err(FetchError::PipFailed { detail });
        }
        let log = format!("{stdout}\n{stderr}");
        let page = Self::parse(package, &log);
        if page.links.is_empty() {
            check_log(&log)?;
        }
        Ok(page)
    }

    fn parse(package: &str, log: &str) -> Self {
        let (links, unsupported) = parse_links(package, log);
        Self {
            package: package.to_owned(),
            links,
            unsupported,
        }
    }

    /// Returns the link to the wheel of a release for `platform`. Prefers one for `python`, a tag such as `cp311`.
    ///
    /// # Errors
    /// Returns an error if the page has no such wheel.
    pub fn find(
        &self,
        release: Release,
        platform: WheelPlatform,
        python: Option<&str>,
    ) -> Result<WheelLink, FetchError> {
        let is_for_platform = |link: &&WheelLink| link.platform == platform;
        let links: Vec<WheelLink> = self.links.iter().filter(is_for_platform).cloned().collect();
        let known: Vec<Release> = links.iter().map(|link| link.release).collect();
        select(links, release, python.unwrap_or(PREFERRED_PYTHON)).ok_or_else(|| {
            FetchError::UnknownRelease {
                package: self.package.clone(),
                release,
                known: describe_known(release, known, &self.unsupported),
            }
        })
    }

    /// Returns the package's name.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Returns the minor releases that have a final release and a C API for plugin devices.
    pub fn minors(&self) -> BTreeSet<Release> {
        let finals = self.links.iter().map(|link| link.release);
        let minors = finals
            .filter(|release| release.is_final())
            .map(Release::minor);
        minors
            .filter(|minor| *minor >= FIRST_PLUGIN_RELEASE)
            .collect()
    }

    /// Returns the newest version that has a wheel for `platform`.
    pub fn newest(&self, platform: WheelPlatform) -> Option<Release> {
        let links = self.links.iter();
        let matching = links.filter(|link| link.platform == platform);
        matching.map(|link| link.release).max()
    }
}

/// Runs pip for a version of `package` that cannot exist.
fn run_pip(python: &Path, package: &str, time: Duration) -> std::io::Result<Output> {
    let requirement = format!("{package}==0");
    let options = [
        "--no-input",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ];
    let command = ["-m", "pip", "download", "-vv", "--no-deps"];
    let arguments = [
        &command[..],
        &["--only-binary=:all:"],
        &options,
        &[&requirement],
    ];
    python_output(python, &arguments.concat(), time, MAX_TEXT_BYTES)
}

/// Returns the newest patch of `release`, for `python` if there is a wheel for it, else for the newest Python.
fn select(links: Vec<WheelLink>, release: Release, python: &str) -> Option<WheelLink> {
    let admitted = links
        .into_iter()
        .filter(|link| release.admits(link.release));
    admitted.max_by_key(|link| {
        (
            link.release,
            link.python == python,
            python_minor(&link.python),
        )
    })
}

/// Returns the minor version of a Python tag: 11 for `cp311`.
fn python_minor(python: &str) -> u32 {
    let python = python.strip_prefix("cp3");
    python.and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

/// Returns the help text for a release that the index does not have.
fn describe_known(requested: Release, mut known: Vec<Release>, others: &[String]) -> String {
    known.sort();
    known.dedup();
    let is_same_minor = |release: &&Release| release.minor() == requested.minor();
    let versions = known.iter().filter(is_same_minor).map(Release::to_string);
    let versions: Vec<String> = versions.collect();
    let mut is_final = known.iter().filter(is_same_minor);
    let is_final = is_final.any(|release| release.is_final());
    match versions.last() {
        Some(last) if requested.is_final() && !is_final => {
            return format!(
                "{} has no final release yet; `sp-gen import tensorflow {last}` imports that pre-release",
                requested.minor()
            );
        }
        Some(_) => return format!("it has {}", versions.join(", ")),
        None => {}
    }
    let prefix = format!("{}.", requested.minor());
    if let Some(other) = others.iter().find(|version| version.starts_with(&prefix)) {
        return format!("it has {other}, which sp-gen does not read");
    }
    known.retain(|release| release.is_final() || !requested.is_final());
    match (known.first(), known.last()) {
        (Some(first), Some(last)) => format!("it has {} to {}", first.minor(), last.minor()),
        _ => "it has no such wheel of this package; `pip config list` shows which index is used"
            .to_owned(),
    }
}

/// Returns an error if pip listed no links for another reason than that the package has none.
fn check_log(log: &str) -> Result<(), FetchError> {
    let line = |wanted: &str| {
        log.lines()
            .find(|line| line.contains(wanted))
            .map(str::trim)
    };
    let fetch = line("Could not fetch URL").filter(|line| !line.contains(" 404 "));
    if let Some(detail) = line("Retrying (").or(fetch) {
        return Err(FetchError::NetworkUnreachable {
            detail: connection_error(detail),
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
    let last = log.lines().rev().find(|line| !line.trim().is_empty());
    Err(FetchError::PipFailed {
        detail: redact(last.unwrap_or("it printed nothing").trim()),
    })
}

/// Returns the reason at the end of pip's message about a failed connection.
fn connection_error(line: &str) -> String {
    let rest = line
        .rsplit_once("object at ")
        .and_then(|(_, rest)| rest.split_once(": "));
    let rest = rest.map_or(line, |(_, rest)| rest);
    let (reason, _) = rest.split_once("')").unwrap_or((rest, ""));
    format!("pip reports: {}", redact(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
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

    fn find_name(release: &str, python: &str) -> Option<String> {
        let page = PackagePage::parse(CPU_PACKAGE, LOG);
        let found = page.find(
            release.parse().unwrap(),
            WheelPlatform::LinuxX86_64,
            Some(python),
        );
        Some(found.ok()?.url.rsplit('/').next()?.to_owned())
    }

    #[test]
    fn minor_release_selects_newest_patch() {
        let wheel = "tensorflow_cpu-2.5.3-cp39-cp39-manylinux2010_x86_64.whl";
        assert_eq!(find_name("2.5", PREFERRED_PYTHON).as_deref(), Some(wheel));
        assert!(
            find_name("2.5.0", PREFERRED_PYTHON)
                .unwrap()
                .contains("2.5.0")
        );
    }

    #[test]
    fn minors_have_final_releases() {
        let minors: Vec<String> = PackagePage::parse(CPU_PACKAGE, LOG)
            .minors()
            .iter()
            .map(Release::to_string)
            .collect();
        assert_eq!(minors, ["2.5", "2.21"]);
    }

    #[test]
    fn selects_wheel_by_package_and_platform() {
        let log = "x: https://files.example/tensorflow-2.21.0-cp311-cp311-macosx_12_0_arm64.whl#sha256=0 (from x)";
        let page = PackagePage::parse("tensorflow", log);
        let release = "2.21".parse().unwrap();
        assert!(page.find(release, WheelPlatform::MacosArm64, None).is_ok());
        assert!(
            page.find(release, WheelPlatform::LinuxX86_64, None)
                .is_err()
        );
        assert!(PackagePage::parse(CPU_PACKAGE, log).minors().is_empty());
    }

    #[test]
    fn prefers_requested_python_to_newest() {
        assert!(find_name("2.21", "cp311").unwrap().contains("cp311"));
        assert!(find_name("2.21", "cp39").unwrap().contains("cp313"));
        assert!(find_name("2.5", "cp38").unwrap().contains("cp38"));
    }

    #[test]
    fn finds_pre_release_only_by_exact_version() {
        assert_eq!(find_name("2.22", PREFERRED_PYTHON), None);
        let wheel = "tensorflow_cpu-2.22.0rc0-cp311-cp311-manylinux_2_27_x86_64.whl";
        assert_eq!(
            find_name("2.22.0rc0", PREFERRED_PYTHON).as_deref(),
            Some(wheel)
        );
        assert_eq!(find_name("2.15", PREFERRED_PYTHON), None);
    }

    #[test]
    fn newest_is_highest_version_for_platform() {
        let link = |date: u32, tag: &str| {
            format!(
                "x: https://files.example/tf_nightly-2.23.0.dev{date}-cp311-cp311-{tag}.whl (from x)\n"
            )
        };
        let linux = "manylinux_2_27_x86_64";
        let log = link(20261025, linux) + &link(20261026, "macosx_12_0_arm64");
        let page = PackagePage::parse(NIGHTLY_PACKAGE, &log);
        let newest = |platform| page.newest(platform).map(|release| release.to_string());
        let expected = Some("2.23.0.dev20261025");
        assert_eq!(newest(WheelPlatform::LinuxX86_64).as_deref(), expected);
        assert_eq!(newest(WheelPlatform::LinuxAarch64), None);
        let nightly = "2.23.0.dev20261025".parse().unwrap();
        assert!(page.find(nightly, WheelPlatform::LinuxX86_64, None).is_ok());
        assert_eq!(package_for(nightly), NIGHTLY_PACKAGE);
    }

    #[test]
    fn help_names_known_releases() {
        let (links, unsupported) = parse_links(CPU_PACKAGE, LOG);
        let known: Vec<Release> = links.iter().map(|link| link.release).collect();
        let help = |name: &str| describe_known(name.parse().unwrap(), known.clone(), &unsupported);
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
    fn reports_failed_connection_as_unreachable_network() {
        let log = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused')': /x/\nERROR: No matching distribution found for x\n";
        let Err(FetchError::NetworkUnreachable { detail }) = check_log(log) else {
            panic!("connection error not recognised");
        };
        assert_eq!(
            detail,
            "pip reports: Failed to establish a new connection: [Errno 111] Connection refused"
        );
        let forbidden = "Could not fetch URL https://x/: 403 Client Error: Forbidden - skipping";
        let found = check_log(forbidden);
        assert!(matches!(found, Err(FetchError::NetworkUnreachable { .. })));
    }

    #[test]
    fn messages_hide_credentials_that_pip_prints() {
        for log in [
            "Could not fetch URL https://me:secret@x.example/: 403 Client Error",
            "ERROR: no luck with https://secret@x.example/",
        ] {
            let error = check_log(log).unwrap_err().to_string();
            assert!(
                error.contains("x.example") && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn rejects_link_from_page_over_plain_http() {
        let index = |allow_http: bool| {
            let index = Index::new(allow_http);
            let page =
                PackagePage::parse(CPU_PACKAGE, &LOG.replace("https://index", "http://index"));
            index
                .pages
                .lock()
                .unwrap()
                .insert(CPU_PACKAGE.into(), Arc::new(page));
            index
        };
        let find = |index: Index| {
            let release = "2.21".parse().unwrap();
            index.find(CPU_PACKAGE, release, WheelPlatform::LinuxX86_64, None)
        };
        assert!(find(index(true)).is_ok());
        let error = find(index(false)).unwrap_err();
        assert!(matches!(error, FetchError::PlainHttp { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn rejects_pip_that_does_not_end_or_prints_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let request = |body: &str, time: Duration| {
            let python = folder.path().join("python");
            std::fs::write(&python, format!("#!/bin/sh\ncat <<E\n{LOG}\nE\n{body}\n")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&python, mode).unwrap();
            PackagePage::request_by(&python, CPU_PACKAGE, time)
        };
        let long = Duration::from_secs(60);
        assert_eq!(request("exit 1", long).unwrap().minors().len(), 2);
        // A page that is cut lacks links.
        for (body, time, words) in [
            ("sleep 300", Duration::from_millis(300), "was killed after"),
            ("kill -9 $$", long, "SIGKILL"),
            ("yes | head -c 70000000", long, "more than 64 MiB"),
        ] {
            let error = request(body, time).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn accepts_index_without_the_package() {
        let log = "Could not fetch URL https://x/: 404 Client Error: Not Found\nERROR: No matching distribution found for x";
        assert!(check_log(log).is_ok());
    }

    #[test]
    fn reports_failures_of_pip() {
        let found = check_log("python3: No module named pip");
        assert!(matches!(found, Err(FetchError::PipMissing { .. })));
        let found = check_log("Traceback\nKeyError: 1\n");
        assert!(matches!(found, Err(FetchError::PipFailed { .. })));
    }
}
