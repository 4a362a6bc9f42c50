//! Finds uses of removed public items in the author's files.

use super::UpdateError;
use sp_system::input::{self, MAX_TEXT_BYTES};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// A line of an author's file that uses a removed public item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The file's path in the plugin's folder.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The item.
    pub item: String,
    /// Its crate.
    pub of_crate: String,
    /// Its new name, if it was renamed.
    pub renamed: Option<String>,
}

/// The new names of items, by crate and old name.
type Renames = BTreeMap<String, BTreeMap<String, String>>;

const RENAMES: &str = include_str!("renames.toml");

/// Returns the first use of each item in `removed` in each of the author's files.
///
/// # Errors
/// Returns an error if a source file cannot be read.
pub fn mentions(
    root: &Path,
    removed: &BTreeMap<String, String>,
) -> Result<Vec<Mention>, UpdateError> {
    find_mentions(root, removed, RENAMES)
}

fn find_mentions(
    root: &Path,
    removed: &BTreeMap<String, String>,
    renames: &str,
) -> Result<Vec<Mention>, UpdateError> {
    let renames: Renames = toml::from_str(renames).unwrap_or_default();
    let mut found = Vec::new();
    if removed.is_empty() {
        return Ok(found);
    }
    let mut sources = BTreeMap::new();
    for folder in ["src", "tests", "examples", "benches"] {
        read_sources(root, folder, &mut sources).map_err(|source| UpdateError::Unreadable {
            path: root.join(folder),
            source,
        })?;
    }
    for (file, text) in &sources {
        for (item, of_crate) in removed {
            let line = text.lines().position(|line| has_word(line, item));
            found.extend(line.map(|line| Mention {
                file: file.clone(),
                line: line + 1,
                item: item.clone(),
                of_crate: of_crate.clone(),
                renamed: renames.get(of_crate).and_then(|it| it.get(item)).cloned(),
            }));
        }
    }
    Ok(found)
}

/// Reads the Rust sources below `folder`, except through symbolic links.
fn read_sources(
    root: &Path,
    folder: &str,
    sources: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    let path = root.join(folder);
    if path.is_symlink() || !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let relative = format!("{folder}/{}", entry?.file_name().to_string_lossy());
        let path = root.join(&relative);
        if path.is_file() && relative.ends_with(".rs") {
            let text = String::from_utf8_lossy(&input::read(&path, MAX_TEXT_BYTES)?).into_owned();
            sources.insert(relative, text);
        } else {
            read_sources(root, &relative, sources)?;
        }
    }
    Ok(())
}

/// Returns true if the code of `line` has the identifier `word`. Comments are prose, where a name such as `of` is a word.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c| !is_part(c)).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_removed_item_and_its_new_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/kernels")).unwrap();
        let source = "use sp_plugin::{Other};\nfn f(b: Buffer) {}\nfn g(b: Buffer) {}\n";
        fs::write(folder.path().join("src/kernels/a.rs"), source).unwrap();
        fs::write(
            folder.path().join("src/lib.rs"),
            "// A Buffer.\nstruct BufferPool;\n",
        )
        .unwrap();
        let removed = BTreeMap::from([("Buffer".to_owned(), "sp-plugin".to_owned())]);
        let renames = "[sp-plugin]\nBuffer = \"DeviceBuffer\"\n";
        let found = find_mentions(folder.path(), &removed, renames).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].file.as_str(), found[0].line),
            ("src/kernels/a.rs", 2)
        );
        assert_eq!(found[0].renamed.as_deref(), Some("DeviceBuffer"));
    }

    #[test]
    fn embedded_renames_are_valid() {
        assert!(toml::from_str::<Renames>(RENAMES).is_ok());
    }
}
