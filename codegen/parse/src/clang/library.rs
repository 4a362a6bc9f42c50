//! Finds and loads libclang.
//!
//! Searched in this order: LIBCLANG_PATH (a file or a folder), the system's folders, the environment in which sp-gen is
//! installed, the active environments (venv, conda), the PyPI package `libclang` of `python3` and `python`. The search runs once in a process; each thread then registers the library with clang-sys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clang_sys::SharedLibrary;
use miette::Diagnostic;
use thiserror::Error;

use super::string::text;
use sp_system::child::{End, OUTPUT_LIMIT, python_output};

/// The longest time in which a Python must find its package `libclang`.
const QUERY_TIME: Duration = Duration::from_secs(60);

/// libclang is not found or cannot be loaded.
#[derive(Debug, Clone, Error, Diagnostic)]
#[error("libclang, which reads C headers, was not found")]
#[diagnostic(
    code(sp_gen::clang::library),
    help(
        "install it with one of:\n    pip install libclang\n    apt install libclang1\nor set its folder: LIBCLANG_PATH=/folder/with/libclang.so\n({reason})"
    )
)]
pub struct LibraryMissing {
    reason: String,
}

/// libclang, loaded on the thread that created this value.
pub struct Library {
    shared: Arc<SharedLibrary>,
}

impl Library {
    /// Loads libclang on this thread.
    ///
    /// # Errors
    /// Returns an error if libclang is not found or cannot be loaded.
    pub fn load() -> Result<Self, LibraryMissing> {
        static LIBRARY: OnceLock<Result<Arc<SharedLibrary>, LibraryMissing>> = OnceLock::new();
        let shared = LIBRARY.get_or_init(|| find().map(Arc::new)).clone()?;
        clang_sys::set_library(Some(shared.clone()));
        Ok(Self { shared })
    }

    /// Returns the file that libclang was loaded from.
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Returns libclang's version, such as `clang version 18.1.1`. clang-sys derives a wrong one for new versions.
    pub fn version(&self) -> String {
        // SAFETY: `load` registered the library on this thread, and `self.shared` keeps it loaded.
        text(unsafe { clang_sys::clang_getClangVersion() })
    }
}

fn find() -> Result<SharedLibrary, LibraryMissing> {
    // libclang would parse on a thread of its own with a small stack, whose overflow ends the process.
    // SAFETY: no other thread may access the environment except through `std::env`. This runs once, before libclang is
    // loaded; the first added variable leaves the array that others may be reading as it is.
    unsafe { std::env::set_var("LIBCLANG_NOTHREADS", "1") };
    let reason = match clang_sys::load_manually() {
        Ok(library) => return Ok(library),
        Err(reason) => reason,
    };
    if std::env::var_os("LIBCLANG_PATH").is_none()
        && let Some(folder) = python_library_folder()
    {
        return load_from(&folder);
    }
    Err(LibraryMissing { reason })
}

fn load_from(folder: &Path) -> Result<SharedLibrary, LibraryMissing> {
    // SAFETY: no other thread may access the environment except through `std::env`, whose functions share a lock. This
    // runs once, before libclang, which reads it without the lock, is loaded. clang-sys takes a folder only this way.
    unsafe { std::env::set_var("LIBCLANG_PATH", folder) };
    let loaded = clang_sys::load_manually();
    // SAFETY: as above. libclang may be loaded now, but no thread has called it yet.
    unsafe { std::env::remove_var("LIBCLANG_PATH") };
    loaded.map_err(|reason| LibraryMissing { reason })
}

/// Returns the folder of libclang in one of the [`environments`], or else of that of `python3` or `python` on PATH.
fn python_library_folder() -> Option<PathBuf> {
    let pythons = ["python3", "python"].into_iter().map(Path::new);
    environments()
        .find_map(|root| folder_in_environment(&root))
        .or_else(|| pythons.into_iter().find_map(query_folder))
}

/// Returns the Python environments that may have libclang: that of sp-gen's own wheel, and the active ones.
fn environments() -> impl Iterator<Item = PathBuf> {
    let own = std::env::current_exe().ok().and_then(|program| {
        let root = program.parent()?.parent()?;
        let markers = ["pyvenv.cfg", "conda-meta"];
        let is_environment = markers.iter().any(|marker| root.join(marker).exists());
        is_environment.then(|| root.to_owned())
    });
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter();
    let active = active.filter_map(|name| std::env::var_os(name).filter(|root| !root.is_empty()));
    own.into_iter().chain(active.map(PathBuf::from))
}

/// Returns the folder of libclang in an environment: that of the PyPI package, or conda's, which is no Python package.
fn folder_in_environment(root: &Path) -> Option<PathBuf> {
    let python = root.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    query_folder(&python).or_else(|| {
        let folder = root.join("lib");
        let mut names = std::fs::read_dir(&folder)
            .ok()?
            .flatten()
            .map(|entry| entry.file_name());
        // conda's package libclang13 has libclang.so.13 only.
        let has_library = names.any(|name| name.to_string_lossy().starts_with("libclang."));
        has_library.then_some(folder)
    })
}

/// Asks a Python for the folder of its package `libclang`.
fn query_folder(python: &Path) -> Option<PathBuf> {
    let script = "import clang, os; print(os.path.join(list(clang.__path__)[0], 'native'))";
    let output = python_output(python, &["-c", script], QUERY_TIME, OUTPUT_LIMIT).ok()?;
    let folder = PathBuf::from(output.stdout.trim());
    (output.end == End::Exit(0) && folder.is_dir()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn returns_version() {
        match Library::load() {
            Ok(library) => assert!(
                library.version().contains("clang version"),
                "{}",
                library.version()
            ),
            Err(missing) => eprintln!("skipped: no libclang: {missing}"),
        }
    }

    /// Runs in a child process whose current directory contains a module `clang`.
    #[test]
    #[ignore = "started by imports_no_clang_from_the_current_directory"]
    fn queries_python() {
        eprintln!("{:?}", query_folder(Path::new("python3")));
    }

    #[test]
    fn imports_no_clang_from_the_current_directory() {
        let hostile = tempfile::tempdir().unwrap();
        let marker = hostile.path().join("executed");
        let module = format!("open({marker:?}, 'w').close(); __path__ = ['/']");
        let package = hostile.path().join("clang");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("__init__.py"), &module).unwrap();
        let in_hostile = |mut command: Command| {
            command.current_dir(hostile.path()).env("PYTHONPATH", ".:");
            command.output().is_ok_and(|output| output.status.success())
        };
        let mut plain = Command::new("python3");
        plain.args(["-c", "import clang"]);
        if !in_hostile(plain) {
            return eprintln!("skipped: there is no python3");
        }
        std::fs::remove_file(&marker).expect("plain Python imports the hostile module");
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--ignored",
            "--exact",
            "clang::library::tests::queries_python",
        ]);
        assert!(in_hostile(child));
        assert!(!marker.exists());
    }

    #[test]
    fn finds_the_library_of_a_conda_environment_without_a_python_package() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(folder_in_environment(root.path()), None);
        let folder = root.path().join("lib");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("libclang.so.13"), "").unwrap();
        assert_eq!(folder_in_environment(root.path()), Some(folder));
    }

    #[test]
    fn missing_library_error_names_packages_and_variable() {
        let missing = LibraryMissing {
            reason: "nothing there".into(),
        };
        let help = missing.help().unwrap().to_string();
        assert!(
            help.contains("pip install libclang") && help.contains("LIBCLANG_PATH"),
            "{help}"
        );
    }
}
