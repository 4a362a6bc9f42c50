//! The compiled library of a release, in a cache.

use crate::generate::{Files, ROOT, generate};
use miette::Diagnostic;
use sp_ir::Api;
use sp_system::errors;
use sp_system::hash::sha256;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// Digits of a digest in a file's name.
const DIGITS: usize = 16;

/// The oldest Rust that compiles the library.
const OLDEST_RUST: &str = "1.88";

errors! {
    /// The library cannot be compiled.
    #[derive(Debug, Error, Diagnostic)]
    pub enum LibraryError in layer {
        /// There is no Rust compiler.
        NoCompiler { compiler: String, source: io::Error }
            = no_compiler: ("cannot run {compiler}, which compiles the layer for the installed TensorFlow: {source}"),
            help("install Rust {OLDEST_RUST} or later, or name the compiler by the environment variable RUSTC");

        /// The compiler reports an error.
        Rejected { compiler: String, output: String }
            = rejected: ("{compiler} cannot compile the layer: {output}"),
            help("the layer needs Rust {OLDEST_RUST} or later on x86-64 or aarch64 Linux: `rustc --version` prints yours");

        /// A file of the cache cannot be written.
        Unwritable { path: PathBuf, source: io::Error } = unwritable: ("cannot write {}: {source}", path.display());
    }
}

/// A Rust compiler.
#[derive(Debug, Clone)]
pub struct Compiler {
    program: PathBuf,
    version: String,
}

impl Compiler {
    /// Returns the compiler that `RUSTC` names, or `rustc`.
    ///
    /// # Errors
    /// Returns an error if it cannot be run.
    pub fn find() -> Result<Self, LibraryError> {
        let program = PathBuf::from(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let output = Command::new(&program).arg("-vV").output();
        let output = output.map_err(|source| LibraryError::NoCompiler {
            compiler: program.display().to_string(),
            source,
        })?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Self { program, version })
    }

    /// Compiles the library whose files are in `folder`. `options` are further arguments of the compiler.
    ///
    /// # Errors
    /// Returns an error if the compiler cannot be run or reports an error.
    pub fn compile(
        &self,
        folder: &Path,
        output: &Path,
        options: &[&str],
    ) -> Result<(), LibraryError> {
        let result = Command::new(&self.program)
            .args([
                "--edition",
                "2024",
                "--crate-type",
                "cdylib",
                "--crate-name",
                "sp_layer",
            ])
            .args([
                "-C",
                "opt-level=2",
                "-C",
                "strip=debuginfo",
                "--cap-lints",
                "allow",
            ])
            .args(options)
            .arg(folder.join(ROOT))
            .arg("-o")
            .arg(output)
            .output();
        let compiler = self.program.display().to_string();
        let result = result.map_err(|source| LibraryError::NoCompiler {
            compiler: compiler.clone(),
            source,
        })?;
        match result.status.success() {
            true => Ok(()),
            false => Err(LibraryError::Rejected {
                compiler,
                output: first_error(&String::from_utf8_lossy(&result.stderr)),
            }),
        }
    }
}

/// Returns the first error of a compiler's output, in one line.
fn first_error(output: &str) -> String {
    let is_error = |line: &&str| line.starts_with("error");
    let first = output.lines().find(is_error).or(output.lines().next());
    first.unwrap_or("no output").to_owned()
}

/// The library of a release: its sources, and the file in the cache.
#[derive(Debug)]
pub struct Library {
    files: Files,
    path: PathBuf,
}

impl Library {
    /// Returns the library for the release of `apis`, below `cache`. Its name has a digest of its sources and of the
    /// compiler's version, so that a file in the cache is never outdated.
    pub fn new(apis: &[Api], compiler: &Compiler, cache: &Path) -> Self {
        let files = generate(apis);
        let mut text = compiler.version.clone();
        for (path, content) in &files {
            text.extend([path, "\0", content, "\0"]);
        }
        let release = apis.first().map_or("unknown", |api| api.release.as_str());
        let name = format!("{release}-{}", &sha256(text)[..DIGITS]);
        let path = cache.join("layer").join(name).join("libsp_layer.so");
        Self { files, path }
    }

    /// Returns the path of the compiled library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the cache has the compiled library.
    pub fn is_compiled(&self) -> bool {
        self.path.is_file()
    }

    /// Writes the sources to `folder`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write_sources(&self, folder: &Path) -> Result<(), LibraryError> {
        for (path, text) in &self.files {
            write(&folder.join(path), text)?;
        }
        Ok(())
    }

    /// Compiles the library in a folder of its own beside its path, then renames it: two processes may do that at once.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or if the compiler fails.
    pub fn compile(&self, compiler: &Compiler) -> Result<(), LibraryError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let unwritable = |source| LibraryError::Unwritable {
            path: folder.to_owned(),
            source,
        };
        fs::create_dir_all(folder).map_err(unwritable)?;
        let temporary = tempfile::tempdir_in(folder).map_err(unwritable)?;
        self.write_sources(temporary.path())?;
        let output = temporary.path().join("libsp_layer.so");
        compiler.compile(temporary.path(), &output, &[])?;
        fs::rename(&output, &self.path).map_err(unwritable)
    }
}

fn write(path: &Path, text: &str) -> Result<(), LibraryError> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|source| LibraryError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_of_a_compiler_is_one_line() {
        let output = "warning: a\nerror[E0658]: `naked` is unstable\n --> library.rs\nerror: b\n";
        assert_eq!(first_error(output), "error[E0658]: `naked` is unstable");
        assert_eq!(first_error(""), "no output");
    }

    #[test]
    fn a_library_of_another_compiler_is_another_file() {
        let compiler = |version: &str| Compiler {
            program: "rustc".into(),
            version: version.into(),
        };
        let path = |version| {
            Library::new(&[], &compiler(version), Path::new("cache"))
                .path()
                .to_owned()
        };
        assert_eq!(path("1"), path("1"));
        assert_ne!(path("1"), path("2"));
    }
}
