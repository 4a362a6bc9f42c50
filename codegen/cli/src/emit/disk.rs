//! What was generated on disk: how it differs from what it should be, and its replacement in one step,
//! so that a failure leaves the old one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use similar::TextDiff;

use super::{Files, header};

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

/// What of a folder is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A crate's manifest and source; what else is there stays.
    Crate,
    /// All of it: the headers of the shim in C.
    Headers,
}

impl Shape {
    fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Crate => &["Cargo.toml", "src"],
            Self::Headers => &[""],
        }
    }

    /// What stands in the way of generating into `out`, if anything does.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn obstacle(self, out: &Path) -> io::Result<Option<String>> {
        if out.exists() && !out.is_dir() {
            return Ok(Some(format!("{} is no folder", out.display())));
        }
        if self == Self::Crate || !out.exists() {
            return Ok(None);
        }
        for entry in fs::read_dir(out)? {
            let path = entry?.path();
            let ours = path.is_file() && fs::read(&path)?.starts_with(header::GENERATED.as_bytes());
            if !ours {
                let what = "which is no header of the shim";
                return Ok(Some(format!(
                    "{} holds {}, {what}",
                    out.display(),
                    path.display()
                )));
            }
        }
        Ok(None)
    }

    /// The generated files at `out` that differ from `files`.
    ///
    /// # Errors
    /// Where one cannot be read.
    pub fn drift(self, out: &Path, files: &Files) -> io::Result<Vec<Drift>> {
        let mut there = Files::new();
        for part in self.parts() {
            collect(out, Path::new(part), &mut there)?;
        }
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

    /// Puts `files` in the place of what was generated.
    ///
    /// # Errors
    /// Where something cannot be written; what is on disk is then the old.
    pub fn replace(self, out: &Path, files: &Files) -> io::Result<()> {
        match self {
            Self::Crate => replace(out, files),
            Self::Headers => replace_all(out, files),
        }
    }
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

fn replace(out: &Path, files: &Files) -> io::Result<()> {
    fs::create_dir_all(out)?;
    let staged = tempfile::Builder::new()
        .prefix(".staged-")
        .tempdir_in(out)?;
    lay(staged.path(), files)?;
    swap(
        &out.join("src"),
        &staged.path().join("src"),
        &staged.path().join("old"),
    )?;
    fs::rename(staged.path().join("Cargo.toml"), out.join("Cargo.toml"))
}

/// The folder whole, staged beside it.
fn replace_all(out: &Path, files: &Files) -> io::Result<()> {
    let out = std::path::absolute(out)?;
    let beside = out.parent().unwrap_or(&out);
    fs::create_dir_all(beside)?;
    let staged = tempfile::Builder::new()
        .prefix(".staged-")
        .tempdir_in(beside)?;
    let new = staged.path().join("new");
    lay(&new, files)?;
    swap(&out, &new, &staged.path().join("old"))
}

fn lay(folder: &Path, files: &Files) -> io::Result<()> {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
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
        assert_eq!(
            Shape::Crate
                .drift(out.path(), &files("//! One.\n"))
                .unwrap(),
            []
        );
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
        let drifts = Shape::Crate
            .drift(out.path(), &files("//! Two.\n"))
            .unwrap();
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
        let drifts = Shape::Crate
            .drift(out.path(), &files("//! One.\n"))
            .unwrap();
        assert_eq!(
            (drifts[0].path.as_str(), &drifts[0].new),
            ("src/more.rs", &None)
        );
        replace(out.path(), &files("//! One.\n")).unwrap();
        assert!(!out.path().join("src/more.rs").exists() && out.path().join("kept.json").exists());
    }

    fn header() -> Files {
        Files::from([(
            "sp_a.h".to_owned(),
            format!("{}int a;\n", header::GENERATED),
        )])
    }

    #[test]
    fn headers_have_a_folder_to_themselves() {
        let scratch = tempfile::tempdir().unwrap();
        let (out, shape) = (scratch.path().join("new/shim"), Shape::Headers);
        assert_eq!(shape.drift(&out, &header()).unwrap().len(), 1);
        shape.replace(&out, &header()).unwrap();
        assert_eq!(shape.obstacle(&out).unwrap(), None);
        assert_eq!(shape.drift(&out, &header()).unwrap(), []);
        fs::write(out.join("own.h"), "int mine;\n").unwrap();
        let told = shape.obstacle(&out).unwrap().unwrap();
        assert!(
            told.contains("own.h, which is no header of the shim"),
            "{told}"
        );
        fs::rename(out.join("own.h"), out.join("sp_b.h")).unwrap();
        assert_eq!(shape.drift(&out, &header()).unwrap()[0].new, None);
        let told = shape.obstacle(&out.join("sp_a.h")).unwrap().unwrap();
        assert!(told.ends_with("is no folder"), "{told}");
        let left = fs::read_dir(scratch.path().join("new")).unwrap().count();
        assert_eq!(left, 1, "nothing staged is left");
    }
}
