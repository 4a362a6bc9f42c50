//! The TensorFlow that a program imports.

use super::LayerError;
use crate::doctor::survey;
use miette::Result;
use sp_data::release::Release;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of the Python process that finds TensorFlow.
const LIMIT: Duration = Duration::from_secs(60);

/// Longest first line of a script that is read.
const LINE_LIMIT: u64 = 256;

/// An installed TensorFlow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its version.
    pub release: Release,
    /// Its headers.
    pub include: PathBuf,
}

/// Returns the TensorFlow of `python`, or else that of the Python that runs `program`.
///
/// # Errors
/// Returns an error if the Python cannot be determined or run, or if it has no TensorFlow.
pub fn find_installed(python: Option<&Path>, program: &OsStr) -> Result<Installed> {
    let python = match python {
        Some(python) => python.to_owned(),
        None => python_of(program).ok_or_else(|| {
            let program = sp_host::escape_control(&program.to_string_lossy());
            LayerError::NoPython(program)
        })?,
    };
    let survey = survey(&python, LIMIT)?;
    let name = || sp_host::escape_control(&python.display().to_string());
    let folder = survey
        .tensorflow
        .ok_or_else(|| LayerError::NoTensorFlow(name()))?;
    let version = survey
        .installed
        .as_deref()
        .and_then(|it| it.split_once(' '));
    let release = version.and_then(|(_, version)| version.parse().ok());
    Ok(Installed {
        release: release.ok_or_else(|| LayerError::NoVersion(name()))?,
        include: Path::new(&folder).join("include"),
    })
}

/// Returns the Python that runs `program`: itself, or that of the first line of a script.
fn python_of(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if is_python(path) {
        return Some(path.to_owned());
    }
    let script = match path.components().count() {
        1 => find_in_path(path)?,
        _ => path.to_owned(),
    };
    interpreter(&script)
}

fn is_python(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let version = name.strip_prefix("python");
    version.is_some_and(|it| it.chars().all(|char| char.is_ascii_digit() || char == '.'))
}

fn find_in_path(name: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Returns the Python of a script's first line, such as `#!/usr/bin/python3` or `#!/usr/bin/env python3`.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let file = File::open(script).ok().filter(|_| script.is_file())?;
    let mut line = Vec::new();
    BufReader::new(file.take(LINE_LIMIT))
        .read_until(b'\n', &mut line)
        .ok()?;
    let line = String::from_utf8(line).ok()?;
    let words = line.strip_prefix("#!")?.split_whitespace();
    words.map(PathBuf::from).find(|path| is_python(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_python_of_a_program_or_script() {
        let folder = tempfile::tempdir().unwrap();
        let script = |text: &str| {
            let path = folder.path().join("train");
            std::fs::write(&path, text).unwrap();
            python_of(path.as_os_str())
        };
        assert_eq!(
            python_of("venv/bin/python3.11".as_ref()),
            Some("venv/bin/python3.11".into())
        );
        assert_eq!(
            script("#!/venv/bin/python\nimport os\n"),
            Some("/venv/bin/python".into())
        );
        assert_eq!(script("#!/usr/bin/env python3\n"), Some("python3".into()));
        assert_eq!(script("#!/bin/sh\n"), None);
        assert_eq!(script("no script"), None);
    }
}
