//! Exported symbols of a release's wheels, into the tables of `symbols`: a step of its own, since
//! libraries are large. Of an ELF library in a remote wheel only the front is moved.

pub mod messages;

use super::error::FetchError;
use super::exclusive::Exclusive;
use super::index::{Index, NIGHTLY, PACKAGE, package_of};
use super::lock::Lock;
use super::wheel::Wheel;
use super::{Request, Watch, download};
use miette::Diagnostic;
use sp_data::demands::{Demands, DemandsError};
use sp_data::platform::Platform;
use sp_data::release::Release;
use sp_data::symbols::table::{Table, WheelExports};
use sp_data::symbols::{Symbols, SymbolsError};
use sp_library::binary::{Binary, Exports};
use sp_library::{elf, macho, prefix};
use sp_parse::source::{Identity, Source, Traffic};
use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};
use std::path::Path;
use thiserror::Error;

/// What C functions of TensorFlow's plugin APIs are called.
const PREFIXES: [&str; 8] = [
    "TF_",
    "TSL_",
    "TFE_",
    "SE_",
    "SP_",
    "TP_",
    "PJRT_",
    "GetPjrtApi",
];

/// Of this many newest minors all of these wheels are read.
const RECENT: usize = 3;
const BESIDES: [(&str, Platform); 3] = [
    ("tensorflow", Platform::LinuxX86_64),
    ("tensorflow", Platform::LinuxAarch64),
    ("tensorflow", Platform::MacosArm64),
];

/// Why symbols were not read or kept.
#[derive(Debug, Error, Diagnostic)]
pub enum StepError {
    /// The wheel cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    FetchError(#[from] FetchError),
    /// The table cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Symbols(#[from] SymbolsError),
    /// The requirements of the libraries cannot be written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Demands(#[from] DemandsError),
}

/// One wheel to be read.
#[derive(Debug, Clone)]
pub struct Task {
    /// The release, and where its symbols are kept.
    pub request: Request,
    /// `tensorflow-cpu`; a wheel that was named says itself what it is.
    pub package: &'static str,
    /// The platform.
    pub platform: Platform,
}

/// What was read from one wheel.
#[derive(Debug, Clone)]
pub struct Found {
    /// The exact patch.
    pub release: Release,
    /// `tensorflow-cpu`
    pub package: String,
    /// The platform.
    pub platform: Platform,
    /// The libraries, and how many functions each exports.
    pub libraries: Vec<(String, usize)>,
    /// How many functions at least one exports.
    pub functions: usize,
    /// How many fields core's messages demand; 0 if they were not looked for.
    pub demands: usize,
    /// What crossed the network.
    pub moved: Traffic,
}

/// The wheels whose symbols are read for a release: one, or four for a recent one.
pub fn tasks(request: &Request, index: &Index) -> Result<Vec<Task>, FetchError> {
    let task = |(package, platform)| Task {
        request: request.clone(),
        package,
        platform,
    };
    let first = task((package_of(request.release), Platform::LinuxX86_64));
    if request.from.is_some() || request.release.is_nightly() {
        return Ok(vec![first]);
    }
    let minors = index.page(PACKAGE)?.minors();
    let mut newest = minors.iter().rev().take(RECENT);
    let is_recent = newest.any(|minor| *minor <= request.release.minor());
    let besides = BESIDES.into_iter().filter(|_| is_recent).map(task);
    Ok(std::iter::once(first).chain(besides).collect())
}

/// Reads one wheel and puts it into its table; several threads may do so.
pub fn import(task: &Task, index: &Index, watch: &mut dyn Watch) -> Result<Found, StepError> {
    let request = &task.request;
    match &request.from {
        Some(wheel) => read(task, Wheel::open(wheel)?, watch),
        None => {
            let lock = Lock::read(&request.place.lock, request.place.extends_embedded)?;
            let exact = lock.resolve(request.release);
            let exact = exact.filter(|exact| request.release.admits(*exact));
            let python = exact.and_then(|exact| lock.release[&exact].python.clone());
            watch.stage(
                &format!("asking pip for {} {}", task.package, request.release),
                None,
            );
            let release = exact.unwrap_or(request.release);
            let found = index.find(task.package, release, task.platform, python.as_deref())?;
            match found.url.strip_prefix("file://") {
                Some(path) => read(task, Wheel::open_stated(Path::new(path), &found)?, watch),
                None if request.whole => {
                    let download = download::fetch(&found, &index.client())?;
                    read(task, Wheel::downloaded(&found, download)?, watch)
                }
                None => read(task, Wheel::fetch(&found.url, index.client())?, watch),
            }
        }
    }
}

fn read<R: Read + Seek>(
    task: &Task,
    mut wheel: Wheel<R>,
    watch: &mut dyn Watch,
) -> Result<Found, StepError> {
    let identity = wheel.identity()?;
    let (release, package, platform) = agree(task, &identity, &wheel)?;
    let libraries = wheel.libraries();
    watch.stage(
        &format!("reading symbols of {package} {release}"),
        Some(libraries.len()),
    );
    let (mut column, mut seen, mut counts) = (WheelExports::default(), BTreeSet::new(), Vec::new());
    // What core demands is in its sources, the same for every package and platform.
    let is_first = platform == Platform::LinuxX86_64 && [PACKAGE, NIGHTLY].contains(&&*package);
    let mut demands = Demands::default();
    column.wheel = file_name(&wheel.origin()).to_owned();
    for member in libraries {
        let mut library = wheel.library(&member)?;
        if !seen.insert(library.fingerprint()) {
            continue;
        }
        let exports = exports(&mut library)?;
        if is_first && !exports.names.is_empty() {
            demands.extend(messages::demands(&mut library)?.unwrap_or_default());
        }
        watch.step(&member);
        counts.push((file_name(&member).to_owned(), exports.names.len()));
        add(&mut column, file_name(&member), exports);
    }
    let (functions, count) = (column.functions.len(), demands.pairs().count());
    if !demands.is_empty() {
        demands.write(&task.request.place, release, &column.wheel)?;
    }
    keep(&task.request, release, &package, platform, column)?;
    Ok(Found {
        release,
        package,
        platform,
        libraries: counts,
        functions,
        demands: count,
        moved: wheel.traffic(),
    })
}

/// What the wheel says it is; it must be the release that was asked for.
fn agree<R: Read + Seek>(
    task: &Task,
    identity: &Identity,
    wheel: &Wheel<R>,
) -> Result<(Release, String, Platform), FetchError> {
    let unknown = || FetchError::PlatformUnknown {
        origin: wheel.origin(),
    };
    let platform = identity
        .platform
        .as_deref()
        .and_then(Platform::from_wheel_tag)
        .ok_or_else(unknown)?;
    let package = identity.package.clone().ok_or_else(unknown)?;
    let version = identity.version.clone().unwrap_or_default();
    let release = version
        .parse()
        .ok()
        .filter(|found| task.request.release.admits(*found));
    let release = release.ok_or_else(|| FetchError::ReleaseDiffers {
        origin: wheel.origin(),
        release: task.request.release,
        found: version,
    })?;
    match package.as_str() {
        "tensorflow" | PACKAGE | NIGHTLY => Ok((release, package, platform)),
        _ => Err(unknown()),
    }
}

/// Whether a name is one of TensorFlow's C functions.
pub fn is_wanted(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The exports that have names of TensorFlow's C functions.
pub fn exports<B: Binary + ?Sized>(library: &mut B) -> Result<Exports, B::Error> {
    let wanted = is_wanted;
    let head = library.read_range(0..4)?;
    if macho::is_macho(&head) {
        return macho::exports(library, &wanted);
    }
    match prefix::exports(library, &wanted)? {
        Some(exports) => Ok(exports),
        None => elf::exports(library, &wanted),
    }
}

fn add(column: &mut WheelExports, library: &str, exports: Exports) {
    if exports.names.is_empty() {
        return;
    }
    for name in exports.names {
        column
            .functions
            .entry(name)
            .or_default()
            .insert(library.to_owned());
    }
    if !exports.versions.is_empty() {
        let versions = exports.versions.into_iter().collect();
        column.versions.insert(library.to_owned(), versions);
    }
}

/// Writes the table with the new release in it, one writer after the other.
fn keep(
    request: &Request,
    release: Release,
    package: &str,
    platform: Platform,
    column: WheelExports,
) -> Result<(), StepError> {
    let _turn = Exclusive::acquire(&request.place.lock)?;
    let known = Symbols::load(&request.place)?;
    let is_it = |table: &&Table| table.package == package && table.platform == platform;
    let table = known.tables().iter().find(is_it).cloned();
    let mut table = table.unwrap_or_else(|| Table::new(package, platform));
    table.insert(release, column);
    let folder = request.place.symbols.join(package);
    let path = folder.join(format!("{platform}.json"));
    let write = || {
        std::fs::create_dir_all(&folder)?;
        let mut file = sp_system::temporary::staged_file(&folder)?;
        file.write_all(table.to_json().as_bytes())?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|source| {
        SymbolsError::Unreadable {
            path: path.clone(),
            source,
        }
        .into()
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::folders::DataFolders;
    use sp_library::sample::elf_library;
    use std::fs::File;
    use std::path::PathBuf;
    use zip::write::SimpleFileOptions;

    struct Silent;

    impl Watch for Silent {
        fn stage(&mut self, _: &str, _: Option<usize>) {}
        fn step(&mut self, _: &str) {}
    }

    fn wheel(folder: &Path, members: &[(&str, Vec<u8>)]) -> PathBuf {
        let path = folder.join("tensorflow_cpu-2.3.1-cp311-cp311-manylinux_2_17_x86_64.whl");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        let metadata = b"Name: tensorflow_cpu\nVersion: 2.3.1\n".to_vec();
        let tag = b"Tag: cp311-cp311-manylinux_2_17_x86_64\n".to_vec();
        let about = [
            ("tensorflow_cpu-2.3.1.dist-info/METADATA", metadata),
            ("tensorflow_cpu-2.3.1.dist-info/WHEEL", tag),
            ("tensorflow/include/tensorflow/c/ops.h", Vec::new()),
        ];
        for (name, bytes) in about.iter().chain(members) {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn task(folder: &Path, from: PathBuf) -> Task {
        let request = Request {
            release: "2.3".parse().unwrap(),
            from: Some(from),
            locked: false,
            whole: false,
            place: DataFolders {
                store: folder.join("store"),
                lock: folder.join("sources.toml"),
                snapshots: folder.join("ir"),
                symbols: folder.join("symbols"),
                extends_embedded: false,
            },
        };
        Task {
            request,
            package: PACKAGE,
            platform: Platform::LinuxX86_64,
        }
    }

    #[test]
    fn a_wheel_becomes_a_column_of_its_table() {
        let scratch = tempfile::tempdir().unwrap();
        let from = wheel(
            scratch.path(),
            &[
                (
                    "tensorflow/libtensorflow_framework.so.2",
                    elf_library(&["TF_A", "_ZN"], true, 99),
                ),
                (
                    "tensorflow/libtensorflow_cc.so.2",
                    elf_library(&["TF_B", "PJRT_C"], false, 99),
                ),
                (
                    "tensorflow/libtensorflow_cc.so",
                    elf_library(&["TF_B", "PJRT_C"], false, 99),
                ),
                (
                    "tensorflow/python/_pywrap_tfe.so",
                    elf_library(&["TF_No"], false, 99),
                ),
            ],
        );
        let found = import(&task(scratch.path(), from), &Index::default(), &mut Silent).unwrap();
        assert_eq!(found.functions, 3);
        assert_eq!(found.libraries.len(), 2, "{found:?}");
        let symbols = Symbols::read_folder(&scratch.path().join("symbols")).unwrap();
        assert_eq!(
            symbols.functions(),
            BTreeSet::from(["PJRT_C", "TF_A", "TF_B"])
        );
        assert!(symbols.availability("TF_A").is_exported());
    }

    #[test]
    fn writes_what_messages_in_the_libraries_of_a_wheel_demand() {
        let scratch = tempfile::tempdir().unwrap();
        let framework = with_text(
            elf_library(&["TF_A"], true, 999),
            b"\0'open' field in SP_S must be set.\0",
        );
        let other = with_text(
            elf_library(&["TF_B"], false, 999),
            b"\0'run' field in TP_T must be set.\0",
        );
        let members = [
            ("tensorflow/libtensorflow_framework.so.2", framework),
            ("tensorflow/python/_pywrap_tensorflow_internal.so", other),
        ];
        let from = wheel(scratch.path(), &members);
        let task = task(scratch.path(), from);
        let found = import(&task, &Index::default(), &mut Silent).unwrap();
        assert_eq!(found.demands, 2);
        let (place, release) = (&task.request.place, task.request.release);
        let read = Demands::read(place, release).unwrap().unwrap();
        let pairs: Vec<_> = read.pairs().collect();
        assert_eq!(pairs, [("SP_S", "open"), ("TP_T", "run")]);
        let other = Demands::read(place, "2.4".parse().unwrap()).unwrap();
        assert_eq!(other, None);
    }

    /// Puts a text into a library's padding.
    fn with_text(mut library: Vec<u8>, text: &[u8]) -> Vec<u8> {
        let padding = library.windows(99).position(|part| part == [0xcc; 99]);
        let at = padding.unwrap() + 9;
        library[at..at + text.len()].copy_from_slice(text);
        library
    }

    #[test]
    fn a_library_that_is_none_writes_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let member = ("tensorflow/libtensorflow_cc.so.2", b"no library".to_vec());
        let from = wheel(scratch.path(), &[member]);
        let failed = import(&task(scratch.path(), from), &Index::default(), &mut Silent);
        assert!(matches!(
            failed,
            Err(StepError::FetchError(FetchError::Library(_)))
        ));
        assert!(!scratch.path().join("symbols").exists());
    }
}
