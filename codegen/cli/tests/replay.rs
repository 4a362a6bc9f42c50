//! A new release costs no hand-written line: with the lock, the snapshots and the sources of a release
//! removed, `import` and `generate` write the same bytes again. Runs if there is a libclang and the
//! store has the release; says so if not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A release: its minor, the version, the release before, and what its import says of its items.
struct Case {
    minor: &'static str,
    exact: &'static str,
    before: &'static str,
    words: &'static [&'static str],
}

const FINAL: Case = Case {
    minor: "2.21",
    exact: "2.21.0",
    before: "2.20",
    words: &["tf_tstring: "],
};

const PREVIEW: Case = Case {
    minor: "2.22",
    exact: "2.22.0rc0",
    before: "2.21",
    words: &[
        "stream_executor: 1 new (SP_StreamOptions), 1 changed (SP_StreamExecutor)",
        "new and in no note (PJRT_AbiVersion_Extension",
    ],
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => open.push(path),
                path => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
    }
    found
}

fn copy(name: &str, to: &Path, wanted: impl Fn(&Path) -> bool) {
    for (path, bytes) in files(&root().join(name)) {
        if wanted(&path) {
            let path = to.join(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// The lock without a release, and that release's left-out headers.
fn lock_without(release: &str) -> (String, Vec<String>) {
    let text = fs::read_to_string(root().join("headers/sources.toml")).unwrap();
    let starts = |line: &str| line.starts_with("[release.\"") && !line.contains("\".");
    let (mut kept, mut names, mut inside, mut left_out) = (String::new(), Vec::new(), false, false);
    for line in text.lines() {
        if starts(line) {
            inside = line == format!("[release.\"{release}\"]");
        }
        if line.starts_with('[') {
            left_out = inside && line.ends_with("left_out]");
        }
        match inside {
            false => kept += &format!("{line}\n"),
            true if left_out && line.starts_with('"') => {
                names.push(line.split('"').nth(1).unwrap().to_owned());
            }
            true => {}
        }
    }
    (kept.trim_end().to_owned() + "\n", names)
}

/// An installed TensorFlow made of the stored headers. Those that were left out declare nothing, as the
/// lock says of each.
fn installed(site: &Path, exact: &str, left_out: &[String]) {
    let include = site.join("tensorflow/include");
    let stored = files(&root().join("headers/store").join(exact).join("include"));
    let empty = left_out
        .iter()
        .map(|name| (PathBuf::from(name), Vec::new()));
    for (name, bytes) in stored.into_iter().chain(empty) {
        let path = include.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let about = site.join(format!("tensorflow_cpu-{exact}.dist-info"));
    fs::create_dir_all(&about).unwrap();
    let metadata = format!("Name: tensorflow_cpu\nVersion: {exact}\n");
    fs::write(about.join("METADATA"), metadata).unwrap();
    let tag = "Tag: cp311-cp311-manylinux_2_27_x86_64\n";
    fs::write(about.join("WHEEL"), tag).unwrap();
}

fn sp_gen(checkout: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command
        .args(arguments)
        .current_dir(checkout)
        .output()
        .unwrap()
}

#[test]
fn import_and_generate_restore_a_final_release() {
    restores(&FINAL);
}

#[test]
fn import_and_generate_restore_a_preview() {
    restores(&PREVIEW);
}

fn restores(case: &Case) {
    if !root().join("headers/store").join(case.exact).is_dir() {
        let exact = case.exact;
        return eprintln!("skipped: `sp-gen import tensorflow {exact}` has not been run");
    }
    if sp_parse::clang::Library::load().is_err() {
        return eprintln!("skipped: there is no libclang");
    }
    let scratch = tempfile::tempdir().unwrap();
    let (checkout, site) = (scratch.path().join("checkout"), scratch.path().join("site"));
    copy("headers/apis", &checkout, |_| true);
    copy("generated", &checkout, |_| true);
    fs::create_dir_all(checkout.join("codegen/cli")).unwrap();
    fs::write(checkout.join("codegen/cli/Cargo.toml"), "").unwrap();
    generate(&checkout);
    let before = files(&checkout.join("generated"));

    let left_out = take_away(&checkout, case);
    installed(&site, case.exact, &left_out);
    let from = ["--from", site.to_str().unwrap()];
    let what = ["import", "tensorflow", case.exact];
    let imported = sp_gen(&checkout, &[&what[..], &from[..]].concat());
    let told = String::from_utf8_lossy(&imported.stderr).into_owned();
    assert!(imported.status.success(), "{told}");
    let beside = format!("beside {}:", case.before);
    for part in ["new in the lock", &beside].iter().chain(case.words) {
        assert!(told.contains(part), "{part}: {told}");
    }
    generate(&checkout);

    let after = files(&checkout.join("generated"));
    for (path, bytes) in &before {
        assert!(after.get(path) == Some(bytes), "{} differs", path.display());
    }
    assert_eq!(before.len(), after.len());
    let lock = |place: &Path| fs::read_to_string(place.join("headers/sources.toml")).unwrap();
    assert_eq!(lock(&root()), lock(&checkout));
}

fn generate(checkout: &Path) {
    let done = sp_gen(checkout, &["generate"]);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{told}");
}

/// Removes the release's snapshots, the generated sources and the lock's entry, whose left-out headers
/// it returns.
fn take_away(checkout: &Path, case: &Case) -> Vec<String> {
    let generated = checkout.join("generated");
    for path in files(&generated).into_keys() {
        let is_snapshot =
            path.starts_with("ir") && path.file_stem().is_some_and(|name| name == case.minor);
        if is_snapshot || path.starts_with("src") {
            fs::remove_file(generated.join(path)).unwrap();
        }
    }
    let (lock, left_out) = lock_without(case.exact);
    assert!(!lock.contains(&format!("\"{}\"", case.exact)) && !left_out.is_empty());
    fs::write(checkout.join("headers/sources.toml"), lock).unwrap();
    left_out
}
