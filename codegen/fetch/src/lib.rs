//! A release's headers, from an index, a wheel or an installed TensorFlow into the store.
//!
//! Everything is read and checked in memory first, and a new release is parsed before it is written: a failed
//! import leaves the store and the lock unchanged.

#[cfg(test)]
mod crafted;
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
pub mod range;
pub mod store;
pub mod symbols;
pub mod url;
pub mod wheel;

use error::FetchError;
use exclusive::Exclusive;
pub use fetched::Fetched;
use fetched::{Admitted, New, admitted};
use index::Index;
use installed::Installed;
use lock::{Lock, Locked, hashes};
use sp_data::folders::DataFolders;
use sp_data::platform::Platform;
use sp_data::release::Release;
use sp_parse::api_headers::{self, ApiHeaders};
use sp_parse::source::{Identity, Source, Traffic};
use std::path::{Path, PathBuf};
use store::Store;
use wheel::Wheel;

/// What to import, from where, to where.
#[derive(Debug, Clone)]
pub struct Request {
    /// The release, by minor or exact patch.
    pub release: Release,
    /// A wheel or a folder, instead of the index.
    pub from: Option<PathBuf>,
    /// Refuse a release that is not locked.
    pub locked: bool,
    /// Fetch whole wheels, and compare their sha256 with the index's.
    pub whole: bool,
    /// Where headers, lock and snapshots are kept.
    pub place: DataFolders,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The exact patch.
    pub release: Release,
    /// Where its headers came from; nothing where they were stored already.
    pub origin: Option<String>,
    /// The include root.
    pub include: PathBuf,
    /// How many headers it has.
    pub headers: usize,
    /// What crossed the network, less what pip itself asked.
    pub moved: Traffic,
    /// Whether the lock has a new entry.
    pub appended: bool,
    /// True if the wheel was fetched whole and the index states no sha256.
    pub is_unverified: bool,
}

/// What an import is doing, for a progress bar.
pub trait Watch {
    /// A new stage, of `steps` steps where that is known.
    fn stage(&mut self, what: &str, steps: Option<usize>);
    /// One step done.
    fn step(&mut self, what: &str);
}

/// Reads one release; several threads may read others for the same place. Headers that the lock has already
/// are stored.
///
/// # Errors
/// Returns an error, and has written nothing, if the headers cannot be read or are not the locked ones.
pub fn fetch(
    request: &Request,
    index: &Index,
    watch: &mut dyn Watch,
) -> Result<Fetched, FetchError> {
    let lock = Lock::read(&request.place.lock, request.place.extends_embedded)?;
    let exact = lock.resolve(request.release);
    // A minor release that is locked as a pre-release may be final by now.
    let exact = exact.filter(|exact| request.locked || request.release.admits(*exact));
    if request.locked && exact.is_none() {
        return Err(unlocked(request));
    }
    match exact.and_then(|exact| stored(request, &lock, exact)) {
        Some(done) => Ok(done),
        None => read(request, index, &lock, exact, watch),
    }
}

/// What needs no fetching, since the store has the locked headers.
fn stored(request: &Request, lock: &Lock, exact: Release) -> Option<Fetched> {
    let store = Store::at(request.place.store.clone());
    let headers = store
        .read(exact, &lock.release[&exact])
        .filter(|_| request.from.is_none())?;
    let done = Imported {
        release: exact,
        origin: None,
        include: store.include(exact),
        headers: headers.len(),
        moved: Traffic::default(),
        appended: false,
        is_unverified: false,
    };
    Some(Fetched {
        done,
        place: request.place.clone(),
        new: None,
    })
}

fn read(
    request: &Request,
    index: &Index,
    lock: &Lock,
    exact: Option<Release>,
    watch: &mut dyn Watch,
) -> Result<Fetched, FetchError> {
    let mut source = open(request, index, lock, exact, watch)?;
    let identity = source.identity()?;
    let release = agree(request, &identity, exact, source.as_ref())?;
    watch.stage(
        "reading headers",
        Some(api_headers::find_roots(source.as_ref()).0.len()),
    );
    let found = api_headers::find(source.as_mut(), &mut |name| watch.step(name))?;
    let store = Store::at(request.place.store.clone());
    let mut done = Imported {
        release,
        origin: Some(source.origin()),
        include: store.include(release),
        headers: found.headers.len(),
        moved: source.traffic(),
        appended: false,
        is_unverified: source.is_unverified(),
    };
    let entry = entry(release, identity, &found);
    let new = match admit(lock, release, &entry, request)? {
        Admitted::Locked => {
            let _turn = Exclusive::acquire(&request.place.lock)?;
            store.put(release, &found.headers, None)?;
            None
        }
        Admitted::New => {
            done.appended = true;
            Some(New::unpack(entry, found.headers)?)
        }
    };
    Ok(Fetched {
        done,
        place: request.place.clone(),
        new,
    })
}

fn open(
    request: &Request,
    index: &Index,
    lock: &Lock,
    exact: Option<Release>,
    watch: &mut dyn Watch,
) -> Result<Box<dyn Source<Error = FetchError>>, FetchError> {
    if let Some(from) = &request.from {
        watch.stage(&format!("reading {}", from.display()), None);
        return open_local(from);
    }
    let package = index::package_of(request.release);
    watch.stage(
        &format!("asking pip for {package} {}", request.release),
        None,
    );
    let python = exact.and_then(|exact| lock.release[&exact].python.clone());
    let release = exact.unwrap_or(request.release);
    let found = index.find(package, release, Platform::LinuxX86_64, python.as_deref())?;
    watch.stage(&format!("reading the wheel of {}", found.release), None);
    match found.url.strip_prefix("file://") {
        Some(path) => Ok(Box::new(Wheel::open_stated(Path::new(path), &found)?)),
        None if request.whole => {
            let download = download::fetch(&found, &index.client())?;
            Ok(Box::new(Wheel::downloaded(&found, download)?))
        }
        None => Ok(Box::new(Wheel::fetch(&found.url, index.client())?)),
    }
}

/// Returns the version that `nightly` stands for: that of `from`, else the newest in the index.
pub fn newest_nightly(from: Option<&Path>, index: &Index) -> Result<Release, FetchError> {
    let Some(from) = from else {
        let newest = index.page(index::NIGHTLY)?.newest(Platform::LinuxX86_64);
        let package = index::NIGHTLY.to_owned();
        return newest.ok_or(FetchError::NoNightly { package });
    };
    let mut source = open_local(from)?;
    let version = source.identity()?.version.unwrap_or_default();
    let found = version
        .parse()
        .ok()
        .filter(|one: &Release| one.is_nightly());
    found.ok_or_else(|| FetchError::NotNightly {
        origin: source.origin(),
        found: version,
    })
}

fn open_local(from: &Path) -> Result<Box<dyn Source<Error = FetchError>>, FetchError> {
    if from.is_dir() {
        return Ok(Box::new(Installed::open(from)?));
    }
    Ok(Box::new(Wheel::open(from)?))
}

/// The exact release that the source has, which must be the one asked for.
fn agree(
    request: &Request,
    identity: &Identity,
    exact: Option<Release>,
    source: &dyn Source<Error = FetchError>,
) -> Result<Release, FetchError> {
    let Some(version) = &identity.version else {
        // The hashes will tell whether it is what the lock says.
        return exact.ok_or_else(|| FetchError::ReleaseUnstated {
            origin: source.origin(),
            release: request.release,
        });
    };
    let found = version
        .parse()
        .ok()
        .filter(|found| request.release.admits(*found) || exact == Some(*found));
    found.ok_or_else(|| FetchError::ReleaseDiffers {
        origin: source.origin(),
        release: request.release,
        found: version.clone(),
    })
}

fn entry(release: Release, identity: Identity, found: &ApiHeaders) -> Locked {
    let package = index::package_of(release);
    Locked {
        package: identity.package.unwrap_or_else(|| package.to_owned()),
        version: release.to_string(),
        python: identity.python,
        platform: identity.platform,
        headers: hashes(&found.headers),
        left_out: found.excluded.clone(),
    }
}

fn admit(
    lock: &Lock,
    release: Release,
    entry: &Locked,
    request: &Request,
) -> Result<Admitted, FetchError> {
    match admitted(lock, release, entry, &request.place.lock)? {
        Admitted::New if request.locked => Err(unlocked(request)),
        admitted => Ok(admitted),
    }
}

fn unlocked(request: &Request) -> FetchError {
    FetchError::ReleaseUnlocked {
        release: request.release,
        lock: request.place.lock.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::folders::NoCache;
    use std::fs;

    struct Silent;

    impl Watch for Silent {
        fn stage(&mut self, _: &str, _: Option<usize>) {}
        fn step(&mut self, _: &str) {}
    }

    /// An installed TensorFlow of one header, and a place for what is imported from it.
    struct Scene {
        scratch: tempfile::TempDir,
        request: Request,
    }

    impl Scene {
        fn new(header: &str) -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let site = scratch.path().join("site-packages");
            let (c, info) = (
                site.join("tensorflow/include/tensorflow/c"),
                site.join("tensorflow-2.3.1.dist-info"),
            );
            fs::create_dir_all(&c).unwrap();
            fs::create_dir_all(&info).unwrap();
            fs::write(c.join("ops.h"), header).unwrap();
            fs::write(info.join("METADATA"), "Name: tensorflow\nVersion: 2.3.1\n").unwrap();
            let home = scratch.path().join("home");
            let request = Request {
                release: "2.3".parse().unwrap(),
                from: Some(site),
                locked: false,
                whole: false,
                place: DataFolders {
                    store: home.join("store"),
                    lock: home.join("sources.toml"),
                    snapshots: home.join("ir"),
                    symbols: home.join("symbols"),
                    extends_embedded: false,
                },
            };
            Self { scratch, request }
        }

        fn change(&self, header: &str) {
            let path = "site-packages/tensorflow/include/tensorflow/c/ops.h";
            fs::write(self.scratch.path().join(path), header).unwrap();
        }

        fn import(&self) -> Result<Imported, FetchError> {
            let fetched = fetch(&self.request, &Index::default(), &mut Silent)?;
            fetched.commit(|| Ok::<_, FetchError>(()))?;
            Ok(fetched.done)
        }

        fn lock(&self) -> String {
            fs::read_to_string(&self.request.place.lock).unwrap_or_default()
        }
    }

    #[test]
    fn a_new_release_is_stored_and_locked() {
        let scene = Scene::new("extern \"C\" {}");
        let done = scene.import().unwrap();
        assert!(done.appended && done.release.to_string() == "2.3.1" && done.headers == 1);
        assert!(done.include.join("tensorflow/c/ops.h").is_file());
        assert!(
            scene
                .lock()
                .contains("[release.\"2.3.1\"]\npackage = \"tensorflow\"")
        );
        assert!(!scene.import().unwrap().appended);
    }

    #[test]
    fn a_failure_to_write_snapshots_leaves_no_entry() {
        let scene = Scene::new("extern \"C\" {}");
        let fetched = fetch(&scene.request, &Index::default(), &mut Silent).unwrap();
        assert!(fetched.include().join("tensorflow/c/ops.h").is_file());
        let failed = fetched.commit(|| Err::<(), _>(FetchError::from(NoCache)));
        assert!(matches!(failed, Err(FetchError::NoCache(_))));
        assert!(!scene.request.place.lock.exists());
        assert!(!scene.request.place.store.exists());
        assert!(scene.import().unwrap().appended);
    }

    #[test]
    fn parallel_commits_lose_no_entry() {
        let releases = ["2.3.0", "2.3.1", "2.3.2", "2.3.3"];
        let scene = Scene::new("extern \"C\" {}");
        let fetched: Vec<Fetched> = releases
            .iter()
            .map(|release| {
                let metadata = format!("Name: tensorflow\nVersion: {release}\n");
                let info = "site-packages/tensorflow-2.3.1.dist-info/METADATA";
                fs::write(scene.scratch.path().join(info), metadata).unwrap();
                fetch(&scene.request, &Index::default(), &mut Silent).unwrap()
            })
            .collect();
        let slow = || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            Ok::<_, FetchError>(())
        };
        std::thread::scope(|scope| {
            for one in &fetched {
                scope.spawn(move || one.commit(slow).unwrap());
            }
        });
        let lock = scene.lock();
        for release in releases {
            assert!(lock.contains(&format!("[release.\"{release}\"]")), "{lock}");
        }
    }

    #[test]
    fn an_entry_that_another_import_added_meanwhile_is_checked() {
        let scene = Scene::new("extern \"C\" {}");
        let early = fetch(&scene.request, &Index::default(), &mut Silent).unwrap();
        scene.change("extern \"C\" { int x; }");
        scene.import().unwrap();
        let lock = scene.lock();
        let late = early.commit(|| -> Result<(), FetchError> { panic!("nothing may be written") });
        assert!(matches!(late, Err(FetchError::HashDiffers { .. })));
        assert_eq!(scene.lock(), lock);
    }

    #[test]
    fn what_is_stored_as_locked_is_not_fetched_again() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.import().unwrap();
        scene.request.from = None;
        assert_eq!(scene.import().unwrap().origin, None);
    }

    #[test]
    fn a_changed_header_writes_nothing() {
        let scene = Scene::new("extern \"C\" {}");
        let done = scene.import().unwrap();
        let lock = scene.lock();
        scene.change("extern \"C\" { int x; }");
        assert!(matches!(
            scene.import(),
            Err(FetchError::HashDiffers { .. })
        ));
        assert_eq!(scene.lock(), lock);
        let stored = fs::read_to_string(done.include.join("tensorflow/c/ops.h")).unwrap();
        assert_eq!(stored, "extern \"C\" {}");
    }

    #[test]
    fn locked_refuses_a_new_release_and_writes_nothing() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.request.locked = true;
        assert!(matches!(
            scene.import(),
            Err(FetchError::ReleaseUnlocked { .. })
        ));
        assert!(!scene.scratch.path().join("home").exists());
    }

    #[test]
    fn another_release_than_the_one_named_is_refused() {
        let mut scene = Scene::new("extern \"C\" {}");
        scene.request.release = "2.4".parse().unwrap();
        assert!(matches!(
            scene.import(),
            Err(FetchError::ReleaseDiffers { .. })
        ));
        fs::remove_dir_all(
            scene
                .scratch
                .path()
                .join("site-packages/tensorflow-2.3.1.dist-info"),
        )
        .unwrap();
        assert!(matches!(
            scene.import(),
            Err(FetchError::ReleaseUnstated { .. })
        ));
        assert!(!scene.scratch.path().join("home").exists());
    }
}
