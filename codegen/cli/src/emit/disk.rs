//! The generated crate on disk: how it differs from what it should be, and its replacement in one
//! step, so that a failure leaves the old one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use similar::TextDiff;

use super::Files;

/// A file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Its path inside the crate.
    pub path: String,
    /// What is there, if anything.
    pub old: Option<String>,
    /// What should be there, if anything.
    pub new: Option<String>,
}

impl Drift {
    /// The first changes as a unified diff, at most `lines` lines of it.
    pub fn diff(&self, lines: usize) -> String {
        let (old, new) = (self.old.as_deref(), self.new.as_deref());
        let diff = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
        let mut unified = diff.unified_diff();
        let names = (side(old, "on disk"), side(new, "generated"));
        let text = unified
            .context_radius(1)
            .header(names.0, names.1)
            .to_string();
        let mut short: Vec<&str> = text.lines().take(lines).collect();
        if text.lines().count() > lines {
            short.push("...");
        }
        short.join("\n")
    }
}

fn side(text: Option<&str>, name: &'static str) -> &'static str {
    if text.is_some() { name } else { "/dev/null" }
}

/// The files of the crate at `out` that differ from `files`.
///
/// # Errors
/// Where one cannot be read.
pub fn drift(out: &Path, files: &Files) -> io::Result<Vec<Drift>> {
    let mut there = Files::new();
    collect(out, Path::new("Cargo.toml"), &mut there)?;
    collect(out, Path::new("src"), &mut there)?;
    let mut paths: Vec<&String> = files.keys().chain(there.keys()).collect();
    paths.sort();
    paths.dedup();
    let drifts = paths.into_iter().map(|path| Drift {
        path: path.clone(),
        old: there.get(path).cloned(),
        new: files.get(path).cloned(),
    });
    Ok(drifts.filter(|drift| drift.old != drift.new).collect())
}

fn collect(out: &Path, inside: &Path, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    let path = out.join(inside);
    if path.is_dir() {
        for entry in fs::read_dir(&path)? {
            collect(out, &inside.join(entry?.file_name()), files)?;
        }
    } else if path.exists() {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        files.insert(inside.to_string_lossy().replace('\\', "/"), text);
    }
    Ok(())
}

/// Puts `files` in the place of the crate's manifest and source; what else is in `out` stays.
///
/// # Errors
/// Where something cannot be written; the source on disk is then the old one.
pub fn replace(out: &Path, files: &Files) -> io::Result<()> {
    fs::create_dir_all(out)?;
    let staged = tempfile::Builder::new()
        .prefix(".staged-")
        .tempdir_in(out)?;
    for (path, text) in files {
        let path = staged.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(out))?;
        fs::write(path, text)?;
    }
    swap(
        &out.join("src"),
        &staged.path().join("src"),
        &staged.path().join("old"),
    )?;
    fs::rename(staged.path().join("Cargo.toml"), out.join("Cargo.toml"))
}

/// Moves `new` to `place`, and what was there to `old`.
fn swap(place: &Path, new: &Path, old: &Path) -> io::Result<()> {
    let had_one = place.exists();
    if had_one {
        fs::rename(place, old)?;
    }
    fs::rename(new, place).inspect_err(|_| {
        if had_one {
            // Back to where it was; if even that fails, the first error is the one to tell.
            let _ = fs::rename(old, place);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(lib: &str) -> Files {
        Files::from([
            ("Cargo.toml".to_owned(), "[package]\n".to_owned()),
            ("src/lib.rs".to_owned(), lib.to_owned()),
        ])
    }

    #[test]
    fn what_was_written_has_not_drifted() {
        let out = tempfile::tempdir().unwrap();
        replace(out.path(), &files("//! One.\n")).unwrap();
        assert_eq!(drift(out.path(), &files("//! One.\n")).unwrap(), []);
        let names: Vec<_> = fs::read_dir(out.path())
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 2, "nothing staged is left: {names:?}");
    }

    #[test]
    fn drift_is_told_with_a_diff() {
        let out = tempfile::tempdir().unwrap();
        replace(out.path(), &files("//! One.\n")).unwrap();
        let drifts = drift(out.path(), &files("//! Two.\n")).unwrap();
        assert_eq!(drifts.len(), 1);
        let diff = drifts[0].diff(20);
        assert!(
            diff.contains("-//! One.") && diff.contains("+//! Two."),
            "{diff}"
        );
        assert!(drifts[0].diff(2).ends_with("..."));
    }

    #[test]
    fn files_that_should_not_be_there_are_drift_and_go() {
        let out = tempfile::tempdir().unwrap();
        replace(out.path(), &files("//! One.\n")).unwrap();
        fs::write(out.path().join("src/more.rs"), "").unwrap();
        fs::write(out.path().join("kept.json"), "").unwrap();
        let drifts = drift(out.path(), &files("//! One.\n")).unwrap();
        assert_eq!(
            (drifts[0].path.as_str(), &drifts[0].new),
            ("src/more.rs", &None)
        );
        replace(out.path(), &files("//! One.\n")).unwrap();
        assert!(!out.path().join("src/more.rs").exists() && out.path().join("kept.json").exists());
    }
}
