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
    let mut first_lines = BTreeMap::new();
    let mut search = |file: String, text: &str| {
        first_lines.insert(file, find_first_lines(text, removed));
    };
    for folder in ["src", "tests", "examples", "benches"] {
        read_sources(root, folder, &mut search).map_err(|source| UpdateError::Unreadable {
            path: root.join(folder),
            source,
        })?;
    }
    for (file, first_lines) in first_lines {
        found.extend(first_lines.into_iter().map(|(item, line)| {
            let of_crate = &removed[item];
            Mention {
                file: file.clone(),
                line,
                item: item.clone(),
                of_crate: of_crate.clone(),
                renamed: renames.get(of_crate).and_then(|it| it.get(item)).cloned(),
            }
        }));
    }
    Ok(found)
}

/// Returns the first line, from 1, that uses each of the items in `removed`.
fn find_first_lines<'a>(
    text: &str,
    removed: &'a BTreeMap<String, String>,
) -> BTreeMap<&'a String, usize> {
    let mut found = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        for (item, _) in words(line).filter_map(|word| removed.get_key_value(word)) {
            found.entry(item).or_insert(index + 1);
        }
    }
    found
}

/// Calls `search` with the path and the text of each Rust source below `folder`, except through symbolic links.
fn read_sources(root: &Path, folder: &str, search: &mut dyn FnMut(String, &str)) -> io::Result<()> {
    let path = root.join(folder);
    if path.is_symlink() || !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let relative = format!("{folder}/{}", entry?.file_name().to_string_lossy());
        let path = root.join(&relative);
        if path.is_file() && relative.ends_with(".rs") {
            let bytes = input::read(&path, MAX_TEXT_BYTES)?;
            search(relative, &String::from_utf8_lossy(&bytes));
        } else {
            read_sources(root, &relative, search)?;
        }
    }
    Ok(())
}

/// Returns the words in the code of `line`. Comments are prose, where a name such as `of` is a word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let code = line.split("//").next().unwrap_or_default();
    code.split(move |c| !is_part(c))
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
        let expected = ("src/kernels/a.rs", 2);
        assert_eq!((found[0].file.as_str(), found[0].line), expected);
        assert_eq!(found[0].renamed.as_deref(), Some("DeviceBuffer"));
    }

    #[test]
    fn search_time_does_not_grow_with_the_number_of_removed_items() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        let source = "fn a(b: c, d: e, f: g) -> h { i(j, k, l) }\n".repeat(4_000);
        fs::write(
            folder.path().join("src/lib.rs"),
            source + "use Gone99999;\n",
        )
        .unwrap();
        let removed = (0..100_000).map(|index| (format!("Gone{index}"), "sp-cpu".to_owned()));
        let start = std::time::Instant::now();
        let found = find_mentions(folder.path(), &removed.collect(), "").unwrap();
        assert_eq!((found.len(), found[0].line), (1, 4_001));
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    #[test]
    fn embedded_renames_are_valid() {
        assert!(toml::from_str::<Renames>(RENAMES).is_ok());
    }
}
