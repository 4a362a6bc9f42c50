//! Imports a release's headers from an index, a wheel or an installed TensorFlow into the store.
//!
//! Everything is read and checked in memory first, and a new release is parsed before it is written: a failed
//! import leaves the store and the lock unchanged.

pub mod credentials;
mod directory;
pub mod download;
pub mod error;
pub mod exclusive;
mod fetched;
pub mod http;
pub mod index;
pub mod installed;
pub mod link;
pub mod lock;
#[cfg(test)]
mod malicious_wheels;
pub mod ops;
pub mod range;
pub mod store;
pub mod symbols;
pub mod url;
pub mod wheel;

use error::FetchError;
use exclusive::ExclusiveLock;
pub use fetched::Fetched;
use fetched::{LockStatus, NewRelease, compare_with_lock};
use index::Index;
use installed::InstalledTensorFlow;
use link::WheelLink;
use lock::{Lock, LockedRelease, header_hashes};
use sp_data::folders::DataFolders;
use sp_data::platform::WheelPlatform;
use sp_data::release::Release;
use sp_parse::api_headers::{self, ApiHeaders};
use sp_parse::source::{Identity, Source, Traffic};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use store::Store;
use wheel::Wheel;

/// An import: the release, its source and the folders that it is written to.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The release: a minor release such as 2.21, or an exact version such as 2.21.0.
    pub release: Release,
    /// A wheel or a folder that is read instead of the index.
    pub from: Option<PathBuf>,
    /// Reject a release that is not in the lock. [`symbols::import`] relies on [`locked_release`] for that.
    pub require_locked: bool,
    /// Fetch whole wheels and compare their sha256 with the one that the index states.
    pub fetch_whole: bool,
    /// The folders of headers, lock and snapshots.
    pub folders: DataFolders,
}

/// Summary of an import, for its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSummary {
    /// The exact version.
    pub release: Release,
    /// The wheel or folder that the headers were read from; `None` if they were in the store already.
    pub origin: Option<String>,
    /// The include root.
    pub include: PathBuf,
    /// Number of headers.
    pub headers: usize,
    /// Bytes and requests, without those of pip.
    pub transferred: Traffic,
    /// True if the import adds the release to the lock.
    pub is_new: bool,
    /// False if headers may be absent from the source: those of a folder, if no lock has their hashes.
    pub is_complete: bool,
}

/// Receives the progress of an import, for a progress bar.
pub trait Progress {
    /// Begins a stage of `steps` steps, or of an unknown number.
    fn stage(&mut self, label: &str, steps: Option<usize>);
    /// Ends one step.
    fn step(&mut self, label: &str);
}

/// Reads one release. Headers that agree with the lock are stored at once; those of a new release are stored by
/// [`Fetched::commit`]. Several threads may import different releases into the same folders.
///
/// # Errors
/// Returns an error if the headers cannot be read or differ from the locked ones. Nothing is written then.
pub fn fetch(
    request: &ImportRequest,
    index: &Index,
    progress: &mut dyn Progress,
) -> Result<Fetched, FetchError> {
    let lock = Lock::read(&request.folders.lock, request.folders.extends_embedded)?;
    let exact = lock.resolve(request.release);
    // The lock may have a pre-release of a minor release whose final release exists by now.
    let exact = exact.filter(|exact| request.require_locked || request.release.admits(*exact));
    if request.require_locked && exact.is_none() {
        return Err(not_locked(request.release, &request.folders));
    }
    match exact.and_then(|exact| read_stored(request, &lock, exact)) {
        Some(fetched) => Ok(fetched),
        None => read_source(request, index, &lock, exact, progress),
    }
}

/// Returns the release if the store has the locked headers and no other source is requested.
fn read_stored(request: &ImportRequest, lock: &Lock, exact: Release) -> Option<Fetched> {
    let store = Store::new(request.folders.store.clone());
    let headers = store
        .read(exact, &lock.releases[&exact])
        .filter(|_| request.from.is_none())?;
    let summary = ImportSummary {
        release: exact,
        origin: None,
        include: store.include_root(exact),
        headers: headers.len(),
        transferred: Traffic::default(),
        is_new: false,
        is_complete: true,
    };
    Some(Fetched {
        summary,
        folders: request.folders.clone(),
        new: None,
    })
}

/// Reads the headers of a release from its source and compares them with the lock.
fn read_source(
    request: &ImportRequest,
    index: &Index,
    lock: &Lock,
    exact: Option<Release>,
    progress: &mut dyn Progress,
) -> Result<Fetched, FetchError> {
    let mut source = open_source(request, index, lock, exact, progress)?;
    let identity = source.identity()?;
    let release = check_release(request, &identity, exact, source.as_ref())?;
    progress.stage(
        "reading headers",
        Some(api_headers::find_roots(source.as_ref()).0.len()),
    );
    let closure = api_headers::find(source.as_mut(), &mut |name| progress.step(name))?;
    let store = Store::new(request.folders.store.clone());
    let mut summary = ImportSummary {
        release,
        origin: Some(source.origin()),
        include: store.include_root(release),
        headers: closure.headers.len(),
        transferred: source.traffic(),
        is_new: false,
        is_complete: true,
    };
    let entry = lock_entry(release, identity, &closure);
    let new = match check_lock(lock, release, &entry, request)? {
        LockStatus::Locked => {
            let _file_lock = ExclusiveLock::acquire(&request.folders.lock)?;
            store.write(release, &closure.headers, None)?;
            None
        }
        LockStatus::New => {
            summary.is_new = true;
            summary.is_complete = !request.from.as_ref().is_some_and(|from| from.is_dir());
            Some(NewRelease::unpack(entry, closure.headers)?)
        }
    };
    Ok(Fetched {
        summary,
        folders: request.folders.clone(),
        new,
    })
}

/// Opens the source of a release: the folder or wheel of `--from`, or the wheel that the index links to.
fn open_source(
    request: &ImportRequest,
    index: &Index,
    lock: &Lock,
    exact: Option<Release>,
    progress: &mut dyn Progress,
) -> Result<Box<dyn Source<Error = FetchError>>, FetchError> {
    if let Some(from) = &request.from {
        progress.stage(&format!("reading {}", from.display()), None);
        return open_local(from);
    }
    let package = index::package_for(request.release);
    progress.stage(
        &format!("asking pip for {package} {}", request.release),
        None,
    );
    let python = exact.and_then(|exact| lock.releases[&exact].python.clone());
    let release = exact.unwrap_or(request.release);
    let found = index.find(
        package,
        release,
        WheelPlatform::LinuxX86_64,
        python.as_deref(),
    )?;
    progress.stage(&format!("reading the wheel of {}", found.release), None);
    match found.url.strip_prefix("file://") {
        Some(path) => {
            let wheel = open_linked_file(Path::new(path), &found, request, index)?;
            Ok(Box::new(wheel))
        }
        None if request.fetch_whole => {
            let download = download::fetch(&found, &index.client())?;
            Ok(Box::new(Wheel::from_download(&found, download)?))
        }
        None => Ok(Box::new(Wheel::open_remote(&found.url, index.client())?)),
    }
}

/// Opens the wheel file at `path`, to which `link` leads. Its sha256 is that of the link, if there is one; with `--whole` the
/// index must state one.
fn open_linked_file(
    path: &Path,
    link: &WheelLink,
    request: &ImportRequest,
    index: &Index,
) -> Result<Wheel<BufReader<File>>, FetchError> {
    let stated = match request.fetch_whole {
        true => Some(download::find_hash(link, &index.client())?),
        false => link.sha256.clone(),
    };
    Wheel::open_verified(path, stated.as_deref())
}

/// Returns the exact version of `release` in the lock of `folders`.
///
/// # Errors
/// Returns an error if the lock does not have it, or cannot be read.
pub fn locked_release(release: Release, folders: &DataFolders) -> Result<Release, FetchError> {
    let lock = Lock::read(&folders.lock, folders.extends_embedded)?;
    let exact = lock.resolve(release);
    exact.ok_or_else(|| not_locked(release, folders))
}

/// Returns the version of the nightly build in `from`, or of the newest one in the index.
///
/// # Errors
/// Returns an error if `from` cannot be read or is not a nightly build, or if the index has none.
pub fn newest_nightly(from: Option<&Path>, index: &Index) -> Result<Release, FetchError> {
    let Some(from) = from else {
        let newest = index
            .page(index::NIGHTLY_PACKAGE)?
            .newest(WheelPlatform::LinuxX86_64);
        let package = index::NIGHTLY_PACKAGE.to_owned();
        return newest.ok_or(FetchError::NoNightly(package));
    };
    let mut source = open_local(from)?;
    let version = source.identity()?.version.unwrap_or_default();
    let found = version.parse().ok();
    let found = found.filter(|release: &Release| release.is_nightly());
    found.ok_or_else(|| FetchError::NotNightly {
        origin: source.origin(),
        found: version,
    })
}

fn open_local(from: &Path) -> Result<Box<dyn Source<Error = FetchError>>, FetchError> {
    if from.is_dir() {
        return Ok(Box::new(InstalledTensorFlow::open(from)?));
    }
    Ok(Box::new(Wheel::open(from)?))
}

/// Returns the exact release of the source.
///
/// # Errors
/// Returns an error if the source has another release than the requested one.
fn check_release(
    request: &ImportRequest,
    identity: &Identity,
    exact: Option<Release>,
    source: &dyn Source<Error = FetchError>,
) -> Result<Release, FetchError> {
    let Some(version) = &identity.version else {
        // The comparison with the locked hashes detects a wrong release.
        return exact.ok_or_else(|| FetchError::ReleaseNotStated {
            origin: source.origin(),
            release: request.release,
        });
    };
    let found = version
        .parse()
        .ok()
        .filter(|found| request.release.admits(*found) || exact == Some(*found));
    found.ok_or_else(|| FetchError::ReleaseMismatch {
        origin: source.origin(),
        release: request.release,
        found: version.clone(),
    })
}

/// Returns the entry of a release for the lock.
fn lock_entry(release: Release, identity: Identity, closure: &ApiHeaders) -> LockedRelease {
    let package = index::package_for(release);
    LockedRelease {
        package: identity.package.unwrap_or_else(|| package.to_owned()),
        version: release.to_string(),
        python: identity.python,
        platform: identity.platform,
        headers: header_hashes(&closure.headers),
        left_out: closure.excluded.clone(),
    }
}

fn check_lock(
    lock: &Lock,
    release: Release,
    entry: &LockedRelease,
    request: &ImportRequest,
) -> Result<LockStatus, FetchError> {
    match compare_with_lock(lock, release, entry, &request.folders.lock)? {
        LockStatus::New if request.require_locked => {
            Err(not_locked(request.release, &request.folders))
        }
        status => Ok(status),
    }
}

fn not_locked(release: Release, folders: &DataFolders) -> FetchError {
    FetchError::ReleaseNotLocked {
        release,
        lock: folders.lock.display().to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use sp_data::folders::NoCache;
    use std::fs;

    pub struct NoProgress;

    impl Progress for NoProgress {
        fn stage(&mut self, _: &str, _: Option<usize>) {}
        fn step(&mut self, _: &str) {}
    }

    /// Returns a request for 2.3, which is read from `from` and written to `data`.
    pub fn request(data: &Path, from: PathBuf) -> ImportRequest {
        ImportRequest {
            release: "2.3".parse().unwrap(),
            from: Some(from),
            require_locked: false,
            fetch_whole: false,
            folders: DataFolders {
                store: data.join("store"),
                lock: data.join("sources.toml"),
                snapshots: data.join("ir"),
                symbols: data.join("symbols"),
                ops: data.join("ops.txt"),
                extends_embedded: false,
            },
        }
    }

    /// An installed TensorFlow of one header, and the folders that it is imported into.
    struct Scene {
        scratch: tempfile::TempDir,
        request: ImportRequest,
    }

    impl Scene {
        fn new(header: &str) -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let site = scratch.path().join("site-packages");
            let c = site.join("tensorflow/include/tensorflow/c");
            let info = site.join("tensorflow-2.3.1.dist-info");
            fs::create_dir_all(&c).unwrap();
            fs::create_dir_all(&info).unwrap();
            fs::write(c.join("ops.h"), header).unwrap();
            fs::write(info.join("METADATA"), "Name: tensorflow\nVersion: 2.3.1\n").unwrap();
            let data = scratch.path().join("data");
            let request = request(&data, site);
            Self { scratch, request }
        }

        fn change(&self, header: &str) {
            let path = "site-packages/tensorflow/include/tensorflow/c/ops.h";
            fs::write(self.scratch.path().join(path), header).unwrap();
        }

        fn import(&self) -> Result<ImportSummary, FetchError> {
            let fetched = fetch(&self.request, &Index::default(), &mut NoProgress)?;
            fetched.commit(|| Ok::<_, FetchError>(()))?;
            Ok(fetched.summary)
        }

        fn lock(&self) -> String {
            fs::read_to_string(&self.request.folders.lock).unwrap_or_default()
        }
    }

    #[test]
    fn stores_and_locks_new_release() {
        let scene = Scene::new("extern \"C\" {}");
        let summary = scene.import().unwrap();
        assert!(summary.is_new && summary.release.to_string() == "2.3.1" && summary.headers == 1);
        assert!(summary.include.join("tensorflow/c/ops.h").is_file());
        let entry = "[release.\"2.3.1\"]\npackage = \"tensorflow\"";
        assert!(scene.lock().contains(entry));
        assert!(!scene.import().unwrap().is_new);
    }

    #[test]
    fn adds_no_lock_entry_without_snapshots() {
        let scene = Scene::new("extern \"C\" {}");
        let fetched = fetch(&scene.request, &Index::default(), &mut NoProgress).unwrap();
        assert!(fetched.include().join("tensorflow/c/ops.h").is_file());
        let failed = fetched.commit(|| Err::<(), _>(FetchError::from(NoCache)));
        assert!(matches!(failed, Err(FetchError::NoCache(_))));
        assert!(!scene.request.folders.lock.exists());
        assert!(!scene.request.folders.store.exists());
        assert!(scene.import().unwrap().is_new);
    }

    #[test]
    fn parallel_commits_keep_all_lock_entries() {
        let releases = ["2.3.0", "2.3.1", "2.3.2", "2.3.3"];
        let scene = Scene::new("extern \"C\" {}");
        let fetched: Vec<Fetched> = releases
            .iter()
            .map(|release| {
                let metadata = format!("Name: tensorflow\nVersion: {release}\n");
                let info = "site-packages/tensorflow-2.3.1.dist-info/METADATA";
                fs::write(scene.scratch.path().join(info), metadata).unwrap();
                fetch(&scene.request, &Index::default(), &mut NoProgress).unwrap()
            })
            .collect();
        let slow = || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            Ok::<_, FetchError>(())
        };
        std::thread::scope(|scope| {
            for release in &fetched {
                scope.spawn(move || release.commit(slow).unwrap());
            }
        });
        let lock = scene.lock();
        for release in releases {
            assert!(lock.contains(&format!("[release.\"{release}\"]")), "{lock}");
        }
    }

    #[test]
    fn commit_rejects_entry_added_meanwhile() {
        let scene = Scene::new("extern \"C\" {}");
        let early = fetch(&scene.request, &Index::default(), &mut NoProgress).unwrap();
        scene.change("extern \"C\" { int x; }");
        scene.import().unwrap();
        let lock = scene.lock();
        let late = early.commit(|| -> Result<(), FetchError> { panic!("wrote snapshots") });
        assert!(matches!(late, Err(FetchError::HeaderHashMismatch { .. })));
        assert_eq!(scene.lock(), lock);
    }

    #[test]
    fn does_not_fetch_stored_locked_release() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.import().unwrap();
        scene.request.from = None;
        assert_eq!(scene.import().unwrap().origin, None);
    }

    #[test]
    fn changed_header_writes_nothing() {
        let scene = Scene::new("extern \"C\" {}");
        let summary = scene.import().unwrap();
        let lock = scene.lock();
        scene.change("extern \"C\" { int x; }");
        let found = scene.import();
        assert!(matches!(found, Err(FetchError::HeaderHashMismatch { .. })));
        assert_eq!(scene.lock(), lock);
        let stored = fs::read_to_string(summary.include.join("tensorflow/c/ops.h")).unwrap();
        assert_eq!(stored, "extern \"C\" {}");
    }

    #[test]
    fn locked_refuses_a_new_release_and_writes_nothing() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.request.require_locked = true;
        let found = scene.import();
        assert!(matches!(found, Err(FetchError::ReleaseNotLocked { .. })));
        assert!(!scene.scratch.path().join("data").exists());
    }

    #[test]
    fn rejects_source_of_another_release() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.request.release = "2.4".parse().unwrap();
        let found = scene.import();
        assert!(matches!(found, Err(FetchError::ReleaseMismatch { .. })));
        let info = "site-packages/tensorflow-2.3.1.dist-info";
        fs::remove_dir_all(scene.scratch.path().join(info)).unwrap();
        let found = scene.import();
        assert!(matches!(found, Err(FetchError::ReleaseNotStated { .. })));
        assert!(!scene.scratch.path().join("data").exists());
    }
}
