//! Embeds the files of the crates that a scaffold vendors: all of them compressed as one stream, and a table with the
//! range of each.

#[path = "../data/tracked.rs"]
mod tracked;

use flate2::{Compression, write::DeflateEncoder};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tracked::retain_tracked;

/// The crates that `new` vendors, and their folders in the checkout.
const CRATES: [(&str, &str); 10] = [
    ("sp-abi", "generated"),
    ("sp-cpu", "templates/cpu"),
    ("sp-expand", "macros/expand"),
    ("sp-graph", "templates/graph"),
    ("sp-host", "codegen/host"),
    ("sp-ir", "codegen/ir"),
    ("sp-macros", "macros/derive"),
    ("sp-ops", "codegen/ops"),
    ("sp-plugin", "templates/sdk"),
    ("sp-runtime", "macros/runtime"),
];

/// Files and folders of a crate that are embedded. The manifest names targets in all folders but `ir`, which the tests
/// of plugins read.
const PARTS: [&str; 6] = ["Cargo.toml", "src", "tests", "benches", "examples", "ir"];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut contents = Vec::new();
    let source = embedded_tables(&root, &mut contents)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&contents)?;
    fs::write(out.join("crates.bin"), encoder.finish()?)?;
    fs::write(out.join("embedded.rs"), source)
}

/// Returns the source of `embedded.rs`, and appends every file to `contents`.
fn embedded_tables(root: &Path, contents: &mut Vec<u8>) -> io::Result<String> {
    let (mut crates, mut ranges) = (String::new(), String::new());
    for (name, folder) in CRATES {
        crates += &format!("    ({name:?}, {folder:?}),\n");
        for file in crate_files(root, &root.join(folder))? {
            let relative = file.strip_prefix(root.join(folder)).unwrap_or(&file);
            let (path, start) = (Path::new(name).join(relative), contents.len());
            contents.extend(fs::read(&file)?);
            ranges += &format!(
                "    ({:?}, {start}..{}),\n",
                path.to_string_lossy(),
                contents.len()
            );
        }
    }
    Ok(format!(
        "/// The embedded crates, and their folders in a checkout.\npub static CRATES: &[(&str, &str)] = &[\n{crates}];\n\
         /// The files of the embedded crates by `<crate>/<path>`, and their bytes in the decompressed stream.\n\
         static RANGES: &[(&str, Range<usize>)] = &[\n{ranges}];\n"
    ))
}

/// Returns the embedded files of the crate in `folder`, which git tracks, and registers them with cargo.
fn crate_files(root: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for part in PARTS.map(|part| folder.join(part)) {
        println!("cargo::rerun-if-changed={}", part.display());
        match part.is_dir() {
            true => collect_all(&part, &mut files)?,
            false if part.is_file() => files.push(part),
            false => {}
        }
    }
    retain_tracked(root, &mut files)?;
    keep_newest_snapshots(&mut files);
    files.sort();
    Ok(files)
}

/// Removes all snapshots but those of the newest final release, as which the test host of a plugin behaves.
fn keep_newest_snapshots(files: &mut Vec<PathBuf>) {
    files.retain(|file| !is_preview_snapshot(file));
    let newest = files.iter().filter_map(|file| snapshot_release(file)).max();
    files.retain(|file| snapshot_release(file).is_none_or(|release| Some(release) == newest));
}

/// Returns true for a snapshot of a release that is not final.
fn is_preview_snapshot(file: &Path) -> bool {
    let text = || fs::read_to_string(file).unwrap_or_default();
    snapshot_release(file).is_some() && text().contains("\n\"preview\":true,\n")
}

/// Returns the release of a snapshot: `(2, 21)` for `ir/<api>/2.21.json`.
fn snapshot_release(file: &Path) -> Option<(u32, u32)> {
    let (major, minor) = file
        .file_name()?
        .to_str()?
        .strip_suffix(".json")?
        .split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Adds the files below `folder` that are not hidden.
fn collect_all(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => collect_all(&entry.path(), found)?,
            false => found.push(entry.path()),
        }
    }
    Ok(())
}
