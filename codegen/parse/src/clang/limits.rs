//! Limits for headers that others wrote: the files that they include, and the time and memory of libclang.
//!
//! libclang waits for the writer of a pipe, reads a device without end, and needs exponential time for some macros and
//! nested structs. Includes in plain text are checked before a parse, so that the error names the line. The time and the
//! memory of the parse end all others, such as an include of a pipe whose name is a macro. `Unit` checks the files that
//! libclang has read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use sp_system::budget::{Budget, Limits, supervise};
use sp_system::input;

use super::ClangError;
use super::Library;
use super::error::ParseError;
use super::input::{Dialect, ParseInput};
use crate::include::{Include, includes, without_comments_and_splices};
use crate::source::MAX_HEADER_BYTES;

/// The limits of one parse. The largest headers that were tried take 3 seconds and 300 MiB.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(120),
    bytes: 4 << 30,
};
/// Most includes that are followed, and most bytes of their headers.
const INCLUDES: Budget = Budget::new(1 << 18, 256 << 20);

/// Returns the result of `read`, which reads the headers of `input` by libclang.
///
/// # Errors
/// Returns an error if a header includes what is no regular file or outside of the include root, or if `read` exceeds the
/// limits.
pub fn within_limits<T: Send + 'static>(
    input: &ParseInput,
    read: impl FnOnce(&ParseInput) -> Result<T, ClangError> + Send + 'static,
) -> Result<T, ClangError> {
    check_includes(input)?;
    within(LIMITS, input, read)
}

fn within<T: Send + 'static>(
    limits: Limits,
    input: &ParseInput,
    read: impl FnOnce(&ParseInput) -> Result<T, ClangError> + Send + 'static,
) -> Result<T, ClangError> {
    // Before the large stack: the library must find address space, too.
    Library::load().map_err(ParseError::from)?;
    let (input, headers) = (input.clone(), input.headers.clone());
    let exceeded = |limit| ParseError::Exceeded {
        headers: match headers.as_slice() {
            [header] => header.clone(),
            headers => format!("{} headers", headers.len()),
        },
        limit,
    };
    supervise(limits, move || read(&input)).map_err(exceeded)?
}

/// Reads a header, or returns `None` if it cannot be read or is too large: clang reports the first.
pub fn read_header(path: &Path) -> Option<String> {
    let bytes = input::read(path, MAX_HEADER_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Follows the includes of `input`.
///
/// # Errors
/// Returns an error for an include of a file that is not regular, too large, or outside of the include root.
fn check_includes(input: &ParseInput) -> Result<(), ParseError> {
    let mut walk = IncludeWalk {
        input,
        budget: INCLUDES,
        visited: BTreeSet::new(),
        pending: Vec::new(),
    };
    for header in &input.headers {
        walk.visit(input.include_root.join(header), || header.clone())?;
    }
    while let Some((path, text)) = walk.pending.pop() {
        for (line, include) in includes(&text) {
            walk.follow(&path, line, &include)?;
        }
    }
    Ok(())
}

struct IncludeWalk<'a> {
    input: &'a ParseInput,
    budget: Budget,
    visited: BTreeSet<PathBuf>,
    /// Headers whose includes are to be followed, with their texts.
    pending: Vec<(PathBuf, String)>,
}

impl IncludeWalk<'_> {
    /// Follows an include of the header at `path`.
    fn follow(&mut self, path: &Path, line: usize, include: &Include) -> Result<(), ParseError> {
        let header = path.strip_prefix(&self.input.include_root).unwrap_or(path);
        let origin = || format!("{}:{line} includes {}", header.display(), include.name);
        if self.leaves_root(header, include) {
            let reason = "it is outside of the include root".to_owned();
            return Err(rejected(origin(), reason));
        }
        let beside = path.parent().filter(|_| include.quoted);
        let folders = beside.into_iter().chain(self.folders());
        let found = folders
            .map(|folder| folder.join(include.name))
            .find(|path| path.exists() && !path.is_dir());
        match found {
            Some(found) => self.visit(found, origin),
            // A builtin header, one of the system, or one whose absence clang reports.
            None => Ok(()),
        }
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        let further: &[PathBuf] = match &self.input.dialect {
            Dialect::TensorFlow => &[],
            Dialect::Driver { folders, .. } => folders,
        };
        let folders = std::iter::once(&self.input.include_root).chain(further);
        folders.map(PathBuf::as_path)
    }

    /// Returns true if the name leads out of the include root, in which all headers of TensorFlow are.
    fn leaves_root(&self, header: &Path, include: &Include) -> bool {
        let above = header.parent().filter(|_| include.quoted);
        let mut depth = above.map_or(0, |folder| folder.components().count());
        let mut leaves = false;
        for part in Path::new(include.name).components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir => {
                    leaves |= depth == 0;
                    depth = depth.saturating_sub(1);
                }
                Component::RootDir | Component::Prefix(_) => leaves = true,
            }
        }
        leaves && self.input.dialect == Dialect::TensorFlow
    }

    /// Reads a header that is not yet visited.
    fn visit(&mut self, path: PathBuf, origin: impl Fn() -> String) -> Result<(), ParseError> {
        let exceeded = |error: &dyn std::error::Error| rejected(origin(), error.to_string());
        self.budget.step(1).map_err(|error| exceeded(&error))?;
        if !self.visited.insert(path.clone()) {
            return Ok(());
        }
        let bytes = match input::read(&path, MAX_HEADER_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if is_reported_by_clang(&error) => return Ok(()),
            Err(error) => return Err(exceeded(&error)),
        };
        let taken = self.budget.allocate(bytes.len());
        taken.map_err(|error| exceeded(&error))?;
        let text = without_comments_and_splices(&String::from_utf8_lossy(&bytes));
        self.pending.push((path, text));
        Ok(())
    }
}

fn is_reported_by_clang(error: &io::Error) -> bool {
    use io::ErrorKind::{NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied)
}

fn rejected(origin: String, reason: String) -> ParseError {
    ParseError::Include { origin, reason }
}

#[cfg(test)]
mod tests {
    use super::super::{DEFAULT_TARGET, Language, Library, driver};
    use super::*;
    use std::fs;
    use std::time::Instant;

    fn input(root: &Path, dialect: Dialect) -> ParseInput {
        ParseInput {
            include_root: root.to_owned(),
            headers: vec!["c/demo.h".to_owned()],
            target: DEFAULT_TARGET.to_owned(),
            dialect,
        }
    }

    fn driver() -> Dialect {
        Dialect::Driver {
            language: Language::C,
            folders: Vec::new(),
            defines: Vec::new(),
        }
    }

    /// Writes `text` as the header `c/demo.h`, beside a pipe `c/pipe.h`.
    fn folder(text: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("c")).unwrap();
        fs::write(root.path().join("c/demo.h"), text).unwrap();
        let pipe = root.path().join("c/pipe.h");
        let made = std::process::Command::new("mkfifo").arg(pipe).status();
        assert!(made.unwrap().success());
        root
    }

    fn message(text: &str, dialect: Dialect) -> Option<String> {
        let root = folder(text);
        let checked = check_includes(&input(root.path(), dialect));
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn rejects_includes_of_pipes_and_devices_with_their_line() {
        for dialect in [Dialect::TensorFlow, driver()] {
            let found = message("int x;\n#include \"pipe.h\"\n", dialect.clone());
            let expected = "c/demo.h:2 includes pipe.h: it is not a regular file";
            assert_eq!(found.as_deref(), Some(expected));
            let found = message("# include <c/pipe.h>\n", dialect);
            let expected = "c/demo.h:1 includes c/pipe.h: it is not a regular file";
            assert_eq!(found.as_deref(), Some(expected));
        }
        let found = message("#include \"/dev/zero\"\n", driver()).unwrap();
        assert!(found.contains("not a regular file"), "{found}");
    }

    #[test]
    fn rejects_includes_outside_of_the_include_root() {
        for name in ["/dev/zero", "../../x.h", "a/../../../x.h"] {
            let found = message(&format!("#include \"{name}\"\n"), Dialect::TensorFlow);
            let found = found.unwrap();
            assert!(
                found.ends_with("it is outside of the include root"),
                "{found}"
            );
        }
        for name in ["../c/demo.h", "demo.h", "nowhere.h", "./a/../demo.h"] {
            let found = message(&format!("#include \"{name}\"\n"), Dialect::TensorFlow);
            assert_eq!(found, None, "{name}");
        }
    }

    #[test]
    fn rejects_each_spelling_of_an_include_of_a_pipe() {
        for text in [
            "%:include \"pipe.h\"",
            "#inc\\\nlude \"pipe.h\"",
            "#/*x*/import/**/\"pipe.h\"",
        ] {
            let found = message(text, driver()).unwrap();
            let expected = "c/demo.h:1 includes pipe.h: it is not a regular file";
            assert_eq!(found, expected);
        }
        let found = message("/*\n#include \"pipe.h\"\n*/\n", driver());
        assert_eq!(found, None);
    }

    #[test]
    fn rejects_file_outside_of_the_include_root_that_a_macro_names() {
        if Library::load().is_err() {
            return eprintln!("skipped: no libclang");
        }
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret.h");
        fs::write(&secret, "secret text\n").unwrap();
        let root = folder(&format!("#define X {secret:?}\n#include X\n"));
        let tensorflow = input(root.path(), Dialect::TensorFlow);
        let error = super::super::reachable_declarations(&tensorflow)
            .err()
            .unwrap();
        let message = format!("{error:?} {error}");
        assert!(message.contains("outside of the include root"), "{message}");
        assert!(
            message.contains("secret.h") && !message.contains("secret text"),
            "{message}"
        );
        let root = folder("#define X \"../c/other.h\"\n#include X\n");
        fs::write(root.path().join("c/other.h"), "int other;\n").unwrap();
        let tensorflow = input(root.path(), Dialect::TensorFlow);
        assert!(super::super::reachable_declarations(&tensorflow).is_ok());
    }

    #[test]
    fn deep_recursion_of_libclang_does_not_end_the_process() {
        if Library::load().is_err() {
            return eprintln!("skipped: no libclang");
        }
        for text in [
            format!("#define X {}1\n", "- ".repeat(100_000)),
            format!("#define X 1{}\n", "+1".repeat(100_000)),
            format!("#define X {}1\n", "\\\n".repeat(500_000)),
        ] {
            let root = folder(&format!("{text}int f(void);\n"));
            let read = driver::declarations(&input(root.path(), driver()));
            assert!(read.is_ok());
        }
    }

    #[test]
    fn include_by_a_macro_ends_at_the_time_limit() {
        if Library::load().is_err() {
            return eprintln!("skipped: no libclang");
        }
        let root = folder("#define PIPE \"pipe.h\"\n#include PIPE\n");
        let limits = Limits {
            time: Duration::from_millis(300),
            bytes: 1 << 40,
        };
        let started = Instant::now();
        let read = within(
            limits,
            &input(root.path(), driver()),
            driver::read_declarations,
        );
        let error = read.err().unwrap().to_string();
        assert!(
            error.contains("c/demo.h") && error.contains("0 seconds"),
            "{error}"
        );
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}
