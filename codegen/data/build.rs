//! Embeds the committed data in the binary: builtin headers, API notes, snapshots, symbols and demands, each as a
//! table of (path inside its folder, contents).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the constant, folder, and extension of the files that it contains.
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
    for (name, folder, extension) in TABLES {
        source += &table(name, &root.join(folder), extension)?;
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("embedded.rs"), source)
}

fn table(name: &str, folder: &Path, extension: &str) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect_files(folder, extension, &mut files)?;
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

fn collect_files(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, extension, files)?;
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    Ok(())
}
