//! Imports the exported symbols of a release's wheels into the tables of `symbols`. A separate step, since libraries
//! are large. Of an ELF library in a remote wheel only the first part is transferred.

pub mod messages;

use super::error::FetchError;
use super::exclusive::ExclusiveLock;
use super::index::{CPU_PACKAGE, Index, NIGHTLY_PACKAGE, package_for};
use super::lock::Lock;
use super::wheel::Wheel;
use super::{ImportRequest, Progress, download, open_linked_file};
use miette::Diagnostic;
use sp_data::folders::DataFolders;
use sp_data::platform::WheelPlatform;
use sp_data::release::Release;
use sp_data::required_fields::{RequiredFields, RequiredFieldsError};
use sp_data::symbols::table::{Table, WheelExports};
use sp_data::symbols::{Symbols, SymbolsError};
use sp_library::binary::{Binary, ExportedSymbols};
use sp_library::{elf, macho, prefix};
use sp_parse::source::{Identity, Source, Traffic};
use sp_system::errors;
use sp_system::replacement::{Replacement, TableFile};
use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::path::Path;
use thiserror::Error;

/// Prefixes of the names of C functions in TensorFlow's plugin APIs.
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

/// Number of newest minor releases of which the wheels of [`RECENT_WHEELS`] are read too.
const RECENT_MINORS: usize = 3;
/// Wheels of recent minor releases that are read besides the default package.
const RECENT_WHEELS: [(&str, WheelPlatform); 3] = [
    ("tensorflow", WheelPlatform::LinuxX86_64),
    ("tensorflow", WheelPlatform::LinuxAarch64),
    ("tensorflow", WheelPlatform::MacosArm64),
];

errors! {
    /// A failure to read the symbols of a wheel or to write their table.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SymbolImportError in import {
        /// The wheel cannot be read.
        Fetch(FetchError) = transparent;

        /// The table cannot be read or written.
        Symbols(SymbolsError) = transparent;

        /// The requirements of the libraries cannot be written.
        RequiredFields(RequiredFieldsError) = transparent;
    }
}

/// One wheel whose symbols are to be read.
#[derive(Debug, Clone)]
pub struct SymbolTask {
    /// The release, its source and the folders.
    pub request: ImportRequest,
    /// The package to look up in the index, such as `tensorflow-cpu`. Ignored if the request names a wheel.
    pub package: &'static str,
    /// The platform to look up in the index.
    pub platform: WheelPlatform,
}

/// Summary of the symbols of one wheel.
#[derive(Debug, Clone)]
pub struct WheelSymbols {
    /// The exact version.
    pub release: Release,
    /// The package, such as `tensorflow-cpu`.
    pub package: String,
    /// The platform.
    pub platform: WheelPlatform,
    /// The libraries, each with its number of exported functions.
    pub libraries: Vec<(String, usize)>,
    /// Number of functions that at least one library exports.
    pub functions: usize,
    /// Number of fields that core's messages require; 0 if they were not searched for.
    pub required_fields: usize,
    /// Bytes and requests.
    pub transferred: Traffic,
}

/// Returns the wheels whose symbols are read for a release: one, or four for a recent release.
///
/// # Errors
/// Returns an error if the index cannot be read.
pub fn tasks(request: &ImportRequest, index: &Index) -> Result<Vec<SymbolTask>, FetchError> {
    let task = |(package, platform)| SymbolTask {
        request: request.clone(),
        package,
        platform,
    };
    let first = task((package_for(request.release), WheelPlatform::LinuxX86_64));
    if request.from.is_some() || request.release.is_nightly() {
        return Ok(vec![first]);
    }
    let minors = index.page(CPU_PACKAGE)?.minors();
    let mut newest = minors.iter().rev().take(RECENT_MINORS);
    let is_recent = newest.any(|minor| *minor <= request.release.minor());
    let others = RECENT_WHEELS.into_iter().filter(|_| is_recent).map(task);
    Ok(std::iter::once(first).chain(others).collect())
}

/// Reads one wheel and adds its symbols to their table. Several threads may import different wheels.
///
/// # Errors
/// Returns an error if the wheel cannot be read or the table cannot be written.
pub fn import(
    task: &SymbolTask,
    index: &Index,
    progress: &mut dyn Progress,
) -> Result<WheelSymbols, SymbolImportError> {
    let request = &task.request;
    match &request.from {
        Some(wheel) => read_wheel(task, Wheel::open(wheel)?, progress),
        None => {
            let lock = Lock::read(&request.folders.lock, request.folders.extends_embedded)?;
            let exact = lock.resolve(request.release);
            let exact = exact.filter(|exact| request.release.admits(*exact));
            let python = exact.and_then(|exact| lock.releases[&exact].python.clone());
            progress.stage(
                &format!("asking pip for {} {}", task.package, request.release),
                None,
            );
            let release = exact.unwrap_or(request.release);
            let found = index.find(task.package, release, task.platform, python.as_deref())?;
            match found.url.strip_prefix("file://") {
                Some(path) => {
                    let wheel = open_linked_file(Path::new(path), &found, request, index)?;
                    read_wheel(task, wheel, progress)
                }
                None if request.fetch_whole => {
                    let download = download::fetch(&found, &index.client())?;
                    read_wheel(task, Wheel::from_download(&found, download)?, progress)
                }
                None => read_wheel(
                    task,
                    Wheel::open_remote(&found.url, index.client())?,
                    progress,
                ),
            }
        }
    }
}

fn read_wheel<R: Read + Seek>(
    task: &SymbolTask,
    mut wheel: Wheel<R>,
    progress: &mut dyn Progress,
) -> Result<WheelSymbols, SymbolImportError> {
    let identity = wheel.identity()?;
    let (release, package, platform) = check_identity(task, &identity, &wheel)?;
    let libraries = wheel.libraries()?;
    progress.stage(
        &format!("reading symbols of {package} {release}"),
        Some(libraries.len()),
    );
    let (mut column, mut fingerprints, mut counts) =
        (WheelExports::default(), BTreeSet::new(), Vec::new());
    // The messages are in core's sources, which are the same for every package and platform.
    let has_messages = platform == WheelPlatform::LinuxX86_64
        && [CPU_PACKAGE, NIGHTLY_PACKAGE].contains(&&*package);
    let mut required = RequiredFields::default();
    column.wheel = file_name(&wheel.origin()).to_owned();
    for member in libraries {
        let mut library = wheel.library(&member)?;
        if !fingerprints.insert(library.fingerprint()) {
            continue;
        }
        let exports = exports(&mut library)?;
        if has_messages && !exports.names.is_empty() {
            required.extend(messages::scan(&mut library)?.unwrap_or_default());
        }
        progress.step(&member);
        counts.push((file_name(&member).to_owned(), exports.names.len()));
        add_library(&mut column, file_name(&member), exports);
    }
    let (functions, count) = (column.functions.len(), required.pairs().count());
    if functions == 0 {
        let detail = "no library in it exports a function of the C APIs";
        return Err(FetchError::unreadable(wheel.origin(), detail).into());
    }
    let file = column.wheel.clone();
    let folders = &task.request.folders;
    let _file_lock = ExclusiveLock::acquire(&folders.lock)?;
    let mut replaced = vec![replace_table(folders, release, &package, platform, column)?];
    if !required.is_empty() {
        // If this fails, the table is restored.
        replaced.push(required.replace(folders, release, &file)?);
    }
    let committed = replaced.into_iter().try_for_each(Replacement::commit);
    committed.map_err(FetchError::from)?;
    Ok(WheelSymbols {
        release,
        package,
        platform,
        libraries: counts,
        functions,
        required_fields: count,
        transferred: wheel.traffic(),
    })
}

/// Returns release, package and platform as the wheel states them.
///
/// # Errors
/// Returns an error if the release is not the requested one, or if symbols of the platform are not supported.
fn check_identity<R: Read + Seek>(
    task: &SymbolTask,
    identity: &Identity,
    wheel: &Wheel<R>,
) -> Result<(Release, String, WheelPlatform), FetchError> {
    let unknown = || FetchError::UnsupportedPlatform(wheel.origin());
    let platform = identity.platform.as_deref();
    let platform = platform.and_then(WheelPlatform::from_wheel_tag);
    let platform = platform.ok_or_else(unknown)?;
    let package = identity.package.clone().ok_or_else(unknown)?;
    let version = identity.version.clone().unwrap_or_default();
    let release = version.parse().ok();
    let release = release.filter(|found| task.request.release.admits(*found));
    let release = release.ok_or_else(|| FetchError::ReleaseMismatch {
        origin: wheel.origin(),
        release: task.request.release,
        found: version,
    })?;
    match package.as_str() {
        "tensorflow" | CPU_PACKAGE | NIGHTLY_PACKAGE => Ok((release, package, platform)),
        _ => Err(unknown()),
    }
}

/// Returns true if `name` has the prefix of a C function in TensorFlow's plugin APIs.
pub fn is_plugin_api_name(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the exports of a library that have the prefix of a C function in TensorFlow's plugin APIs.
///
/// # Errors
/// Returns an error if the library cannot be read.
pub fn exports<B: Binary + ?Sized>(library: &mut B) -> Result<ExportedSymbols, B::Error> {
    let magic = library.read_range(0..4)?;
    if macho::is_macho(&magic) {
        return macho::exports(library, &is_plugin_api_name);
    }
    match prefix::exports(library, &is_plugin_api_name)? {
        Some(exports) => Ok(exports),
        None => elf::exports(library, &is_plugin_api_name),
    }
}

fn add_library(column: &mut WheelExports, library: &str, exports: ExportedSymbols) {
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

/// Adds the column of a release to its table. The caller has the file lock.
fn replace_table(
    folders: &DataFolders,
    release: Release,
    package: &str,
    platform: WheelPlatform,
    column: WheelExports,
) -> Result<Replacement, SymbolImportError> {
    let folder = &folders.symbols;
    let path = folder.join(format!("{package}/{platform}.json"));
    let file = TableFile::recover(folder, &path).map_err(FetchError::from)?;
    // Read after the file: if somebody saves it meanwhile, it is not replaced.
    let known = Symbols::load(folders)?;
    let is_printed = |text: &str| Table::parse(text, "").is_ok_and(|it| it.to_json() == text);
    file.check(is_printed).map_err(FetchError::from)?;
    let is_same = |table: &&Table| table.package == package && table.platform == platform;
    let table = known.tables().iter().find(is_same).cloned();
    let mut table = table.unwrap_or_else(|| Table::new(package, platform));
    table.insert(release, column);
    Ok(file.replace(table.to_json()).map_err(FetchError::from)?)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{NoProgress, request};
    use sp_library::sample::elf_library;
    use std::fs::File;
    use std::io::Write;
    use std::path::PathBuf;
    use zip::write::SimpleFileOptions;

    fn wheel(folder: &Path, members: &[(&str, Vec<u8>)]) -> PathBuf {
        let path = folder.join("tensorflow_cpu-2.3.1-cp311-cp311-manylinux_2_17_x86_64.whl");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        let metadata = b"Name: tensorflow_cpu\nVersion: 2.3.1\n".to_vec();
        let tag = b"Tag: cp311-cp311-manylinux_2_17_x86_64\n".to_vec();
        let metadata_members = [
            ("tensorflow_cpu-2.3.1.dist-info/METADATA", metadata),
            ("tensorflow_cpu-2.3.1.dist-info/WHEEL", tag),
            ("tensorflow/include/tensorflow/c/ops.h", Vec::new()),
        ];
        for (name, bytes) in metadata_members.iter().chain(members) {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn task(folder: &Path, from: PathBuf) -> SymbolTask {
        SymbolTask {
            request: request(folder, from),
            package: CPU_PACKAGE,
            platform: WheelPlatform::LinuxX86_64,
        }
    }

    #[test]
    fn adds_column_of_wheel_to_its_table() {
        let scratch = tempfile::tempdir().unwrap();
        let library = |names: &[&str], has_hash| elf_library(names, has_hash, 99);
        let cc = library(&["TF_B", "PJRT_C"], false);
        let framework = library(&["TF_A", "_ZN"], true);
        let members = [
            ("tensorflow/libtensorflow_framework.so.2", framework),
            ("tensorflow/libtensorflow_cc.so.2", cc.clone()),
            ("tensorflow/libtensorflow_cc.so", cc),
            (
                "tensorflow/python/_pywrap_tfe.so",
                library(&["TF_No"], false),
            ),
        ];
        let task = task(scratch.path(), wheel(scratch.path(), &members));
        let found = import(&task, &Index::default(), &mut NoProgress).unwrap();
        assert_eq!(found.functions, 3);
        assert_eq!(found.libraries.len(), 2, "{found:?}");
        let symbols = Symbols::read_folder(&scratch.path().join("symbols")).unwrap();
        let expected = BTreeSet::from(["PJRT_C", "TF_A", "TF_B"]);
        assert_eq!(symbols.functions(), expected);
        assert!(symbols.availability("TF_A").is_exported());
    }

    #[test]
    fn rejects_wheel_whose_libraries_export_no_function() {
        let scratch = tempfile::tempdir().unwrap();
        let library = elf_library(&["_ZN"], true, 99);
        let member = "tensorflow/libtensorflow_framework.so.2";
        let from = wheel(scratch.path(), &[(member, library)]);
        let task = task(scratch.path(), from);
        let error = import(&task, &Index::default(), &mut NoProgress).unwrap_err();
        assert!(
            error.to_string().contains("no library in it exports"),
            "{error}"
        );
        assert!(!scratch.path().join("symbols").exists());
    }

    #[test]
    fn writes_fields_that_messages_require() {
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
        let found = import(&task, &Index::default(), &mut NoProgress).unwrap();
        assert_eq!(found.required_fields, 2);
        let (folders, release) = (&task.request.folders, task.request.release);
        let read = RequiredFields::read(folders, release).unwrap().unwrap();
        let pairs: Vec<_> = read.pairs().collect();
        assert_eq!(pairs, [("SP_S", "open"), ("TP_T", "run")]);
        let other = RequiredFields::read(folders, "2.4".parse().unwrap()).unwrap();
        assert_eq!(other, None);
    }

    #[test]
    fn edited_file_is_an_error_and_all_files_stay() {
        let text = b"\0'open' field in SP_S must be set.\0";
        let library = with_text(elf_library(&["TF_A"], true, 999), text);
        let member = ("tensorflow/libtensorflow_framework.so.2", library);
        let table = "symbols/tensorflow-cpu/x86_64-unknown-linux-gnu.json";
        for edited in [table, "required_fields/2.3.json"] {
            let scratch = tempfile::tempdir().unwrap();
            let from = wheel(scratch.path(), std::slice::from_ref(&member));
            let task = task(scratch.path(), from);
            let import = || import(&task, &Index::default(), &mut NoProgress);
            import().unwrap();
            import().unwrap();
            let path = scratch.path().join(edited);
            let written = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, written.replace("{\"schema\"", "{ \"schema\"")).unwrap();
            let before = sp_tests::read_files(scratch.path());
            let error = import().unwrap_err().to_string();
            assert!(error.ends_with("differs from what sp-gen wrote"), "{error}");
            assert!(error.contains(edited), "{error}");
            assert!(sp_tests::read_files(scratch.path()) == before);
        }
    }

    /// Writes `text` into a library's padding.
    fn with_text(mut library: Vec<u8>, text: &[u8]) -> Vec<u8> {
        let padding = library.windows(99).position(|part| part == [0xcc; 99]);
        let offset = padding.unwrap() + 9;
        library[offset..offset + text.len()].copy_from_slice(text);
        library
    }

    #[test]
    fn writes_nothing_for_malformed_library() {
        let scratch = tempfile::tempdir().unwrap();
        let member = ("tensorflow/libtensorflow_cc.so.2", b"no library".to_vec());
        let from = wheel(scratch.path(), &[member]);
        let task = task(scratch.path(), from);
        let failed = import(&task, &Index::default(), &mut NoProgress);
        assert!(matches!(
            failed,
            Err(SymbolImportError::Fetch(FetchError::Library(_)))
        ));
        assert!(!scratch.path().join("symbols").exists());
    }
}
