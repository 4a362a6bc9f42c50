//! Finds and loads libclang.
//!
//! Order: LIBCLANG_PATH (a file or a folder), the system's places, a PyPI `libclang` of the active
//! Python. It is looked for once in a process; each thread then has to name it to clang-sys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clang_sys::SharedLibrary;
use miette::Diagnostic;
use thiserror::Error;

use super::cursor::text;
use sp_system::python;

/// No libclang can be loaded.
#[derive(Debug, Clone, Error, Diagnostic)]
#[error("libclang is needed to read C headers, and none was found")]
#[diagnostic(
    code(sp_gen::clang::library),
    help(
        "one of these brings it:\n    pip install libclang\n    apt install libclang1\nor name one: LIBCLANG_PATH=/folder/with/libclang.so\n({reason})"
    )
)]
pub struct LibraryMissing {
    reason: String,
}

/// libclang, loaded on the thread that made this.
pub struct Library {
    shared: Arc<SharedLibrary>,
}

impl Library {
    /// Loads libclang on this thread.
    ///
    /// # Errors
    /// Where there is none.
    pub fn load() -> Result<Self, LibraryMissing> {
        static FOUND: OnceLock<Result<Arc<SharedLibrary>, LibraryMissing>> = OnceLock::new();
        let shared = FOUND.get_or_init(|| find().map(Arc::new)).clone()?;
        clang_sys::set_library(Some(shared.clone()));
        Ok(Self { shared })
    }

    /// The file it was loaded from.
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// What it says of itself: `clang version 18.1.1`. clang-sys's own guess is wrong for new ones.
    pub fn version(&self) -> String {
        // SAFETY: the library is loaded on this thread.
        text(unsafe { clang_sys::clang_getClangVersion() })
    }
}

fn find() -> Result<SharedLibrary, LibraryMissing> {
    let reason = match clang_sys::load_manually() {
        Ok(library) => return Ok(library),
        Err(reason) => reason,
    };
    if std::env::var_os("LIBCLANG_PATH").is_none()
        && let Some(folder) = pythons_folder()
    {
        return load_from(&folder);
    }
    Err(LibraryMissing { reason })
}

fn load_from(folder: &Path) -> Result<SharedLibrary, LibraryMissing> {
    // SAFETY: this runs once, before any libclang is loaded; Rust's own readers of the
    // environment take the same lock. clang-sys has no other way to be told a folder.
    unsafe { std::env::set_var("LIBCLANG_PATH", folder) };
    let loaded = clang_sys::load_manually();
    // SAFETY: as above.
    unsafe { std::env::remove_var("LIBCLANG_PATH") };
    loaded.map_err(|reason| LibraryMissing { reason })
}

/// The folder where a PyPI `libclang` keeps its library: of the active environment, else of the
/// `python3` on PATH.
fn pythons_folder() -> Option<PathBuf> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(|root| {
        let root = PathBuf::from(root);
        root.join(if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        })
    });
    [environment, Some("python3".into())]
        .into_iter()
        .flatten()
        .find_map(|python| ask(&python))
}

fn ask(python: &Path) -> Option<PathBuf> {
    let script = "import clang, os; print(os.path.join(list(clang.__path__)[0], 'native'))";
    let output = python::run(python, &["-c", script]).ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (output.status.success() && folder.is_dir()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn says_its_version() {
        match Library::load() {
            Ok(library) => assert!(
                library.version().contains("clang version"),
                "{}",
                library.version()
            ),
            Err(missing) => eprintln!("skipped: no libclang: {missing}"),
        }
    }

    /// Runs in a process of its own, whose current directory is hostile.
    #[test]
    #[ignore = "started by imports_no_clang_from_the_current_directory"]
    fn asks_python() {
        eprintln!("{:?}", ask(Path::new("python3")));
    }

    #[test]
    fn imports_no_clang_from_the_current_directory() {
        let hostile = tempfile::tempdir().unwrap();
        let marker = hostile.path().join("executed");
        let trap = format!("open({marker:?}, 'w').close(); __path__ = ['/']");
        let package = hostile.path().join("clang");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("__init__.py"), &trap).unwrap();
        let in_hostile = |mut command: Command| {
            command.current_dir(hostile.path()).env("PYTHONPATH", ".:");
            command.output().is_ok_and(|output| output.status.success())
        };
        let mut plain = Command::new("python3");
        plain.args(["-c", "import clang"]);
        if !in_hostile(plain) {
            return eprintln!("skipped: there is no python3");
        }
        std::fs::remove_file(&marker).expect("the trap works");
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "clang::library::tests::asks_python"]);
        assert!(in_hostile(child));
        assert!(!marker.exists());
    }

    #[test]
    fn a_missing_library_says_what_brings_it() {
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
