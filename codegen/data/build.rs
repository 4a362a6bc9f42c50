//! Puts the committed facts into the binary: builtin headers, API notes, snapshots, symbols and demands, each as a
//! table of (path inside its folder, contents).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The constant, the folder it holds, the ending of the files that count.
const TABLES: [(&str, &str, &str); 5] = [
    ("BUILTIN_HEADERS", "headers/builtin", "h"),
    ("API_NOTES", "headers/apis", "toml"),
    ("SNAPSHOTS", "generated/ir", "json"),
    ("SYMBOLS", "generated/symbols", "json"),
    ("DEMANDS", "generated/demands", "json"),
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut source = String::new();
    for (name, folder, ending) in TABLES {
        source += &table(name, &root.join(folder), ending)?;
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("embedded.rs"), source)
}

fn table(name: &str, folder: &Path, ending: &str) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(folder, ending, &mut files)?;
    files.sort();
    let rows = files
        .iter()
        .map(|file| row(folder, file))
        .collect::<String>();
    Ok(format!(
        "/// The files of `{name}` by their path.\npub static {name}: &[(&str, &str)] = &[\n{rows}];\n"
    ))
}

fn row(folder: &Path, file: &Path) -> String {
    let name = file
        .strip_prefix(folder)
        .unwrap_or(file)
        .to_string_lossy()
        .replace('\\', "/");
    format!(
        "    ({name:?}, include_str!({:?})),\n",
        file.to_string_lossy()
    )
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, ending, found)?;
        } else if path.extension().is_some_and(|one| one == ending) {
            found.push(path);
        }
    }
    Ok(())
}
