//! Puts the crates that a scaffold vendors into the binary.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The crates that `new` lays down, and where they lie in the checkout.
const CRATES: [(&str, &str); 8] = [
    ("sp-abi", "generated"),
    ("sp-cpu", "templates/cpu"),
    ("sp-expand", "codegen/expand"),
    ("sp-host", "codegen/host"),
    ("sp-ir", "codegen/ir"),
    ("sp-macros", "macros/derive"),
    ("sp-plugin", "macros/plugin"),
    ("sp-runtime", "macros/runtime"),
];

/// What belongs to a crate: its manifest names targets in all but the last, which plugins' tests read.
const PARTS: [&str; 6] = ["Cargo.toml", "src", "tests", "benches", "examples", "ir"];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let source = crates(&root)?;
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("embedded.rs"), source)
}

fn crates(root: &Path) -> io::Result<String> {
    let (mut folders, mut rows) = (String::new(), String::new());
    for (name, folder) in CRATES {
        folders += &format!("    ({name:?}, {folder:?}),\n");
        for file in files_of(&root.join(folder))? {
            let inside = file.strip_prefix(root.join(folder)).unwrap_or(&file);
            let path = Path::new(name).join(inside);
            rows += &format!(
                "    ({:?}, include_bytes!({file:?})),\n",
                path.to_string_lossy()
            );
        }
    }
    Ok(format!(
        "/// The carried crates, and where they lie in a checkout.\npub static CRATES: &[(&str, &str)] = &[\n{folders}];\n\
         /// The files of the carried crates by `<crate>/<path>`.\npub static CRATE_FILES: &[(&str, &[u8])] = &[\n{rows}];\n"
    ))
}

fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for part in PARTS.map(|part| folder.join(part)) {
        println!("cargo::rerun-if-changed={}", part.display());
        match part.is_dir() {
            true => collect_all(&part, &mut files)?,
            false if part.is_file() => files.push(part),
            false => {}
        }
    }
    keep_newest_snapshots(&mut files);
    files.sort();
    Ok(files)
}

/// A plugin's tests play the newest final release; sp-gen itself carries the others.
fn keep_newest_snapshots(files: &mut Vec<PathBuf>) {
    files.retain(|file| !is_preview(file));
    let newest = files.iter().filter_map(|file| snapshot_release(file)).max();
    files.retain(|file| snapshot_release(file).is_none_or(|release| Some(release) == newest));
}

/// Returns true for a snapshot of a release that is not final.
fn is_preview(file: &Path) -> bool {
    let text = || fs::read_to_string(file).unwrap_or_default();
    snapshot_release(file).is_some() && text().contains("\n\"preview\":true,\n")
}

/// `(2, 21)` for `ir/<api>/2.21.json`.
fn snapshot_release(file: &Path) -> Option<(u32, u32)> {
    let (major, minor) = file
        .file_name()?
        .to_str()?
        .strip_suffix(".json")?
        .split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Every file that is not hidden.
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
