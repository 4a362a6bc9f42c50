//! Embeds the committed data in the binary: builtin headers, API notes, snapshots, symbols, required fields and demands
//! of PJRT hosts, each as a table of (path inside its folder, contents). Snapshots are compressed: they are 5 MB of text.

#[path = "tracked.rs"]
mod tracked;

use flate2::{Compression, write::DeflateEncoder};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tracked::retain_tracked;

/// Name of the constant, folder, and extension of the files that it contains.
const TABLES: [(&str, &str, &str); 5] = [
    ("BUILTIN_HEADERS", "headers/builtin", "h"),
    ("API_NOTES", "headers/apis", "toml"),
    ("SYMBOLS", "generated/symbols", "json"),
    ("REQUIRED_FIELDS", "generated/required_fields", "json"),
    ("PJRT_DEMAND", "generated/pjrt", "json"),
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut source = String::new();
    for (name, folder, extension) in TABLES {
        source += &table(name, &root, folder, extension)?;
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    source += &compressed_snapshots(&root, Path::new(&out))?;
    fs::write(Path::new(&out).join("embedded.rs"), source)
}

/// Writes the compressed snapshots, one after the other, to `snapshots.bin`, and returns a table with the range of each.
fn compressed_snapshots(root: &Path, out: &Path) -> io::Result<String> {
    let folder = &root.join("generated/ir");
    let files = tracked_files(root, folder, "json")?;
    let (mut bytes, mut rows) = (Vec::new(), String::new());
    for file in &files {
        let start = bytes.len();
        let mut encoder = DeflateEncoder::new(bytes, Compression::best());
        encoder.write_all(&fs::read(file)?)?;
        bytes = encoder.finish()?;
        let name = relative_name(folder, file);
        rows += &format!("    ({name:?}, Snapshot::new({start}..{})),\n", bytes.len());
    }
    fs::write(out.join("snapshots.bin"), bytes)?;
    Ok(format!(
        "/// The committed snapshots by their path.\npub static SNAPSHOTS: [(&str, Snapshot); {}] = [\n{rows}];\n",
        files.len()
    ))
}

fn table(name: &str, root: &Path, folder: &str, extension: &str) -> io::Result<String> {
    let folder = &root.join(folder);
    let files = tracked_files(root, folder, extension)?;
    let rows = files.iter().map(|file| row(folder, file));
    let rows = rows.collect::<String>();
    Ok(format!(
        "/// The files of `{name}` by their path.\npub static {name}: &[(&str, &str)] = &[\n{rows}];\n"
    ))
}

/// Returns the files below `folder` that git tracks, and registers the folder with cargo.
fn tracked_files(root: &Path, folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect_files(folder, extension, &mut files)?;
    retain_tracked(root, &mut files)?;
    files.sort();
    Ok(files)
}

fn row(folder: &Path, file: &Path) -> String {
    let name = relative_name(folder, file);
    format!(
        "    ({name:?}, include_str!({:?})),\n",
        file.to_string_lossy()
    )
}

fn relative_name(folder: &Path, file: &Path) -> String {
    let name = file.strip_prefix(folder).unwrap_or(file);
    name.to_string_lossy().replace('\\', "/")
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
