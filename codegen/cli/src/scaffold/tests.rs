//! Whole plugins: what is written, and what is left where nothing can be.

use super::*;

const ALL: Parts = Parts {
    kernels: true,
    optimizer: true,
    profiler: true,
};

fn names() -> Names {
    Names::new("my-accel2", None, None).unwrap()
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_template_is_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates/plugin");
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
        {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let file = path
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .trim_end_matches(".jinja");
            let listed = |made: &&&str| **made == file || made.trim_start_matches('.') == file;
            assert!(FILES.iter().any(|made| listed(&made)), "{file}");
        }
    }
}

#[test]
fn a_plugin_is_written_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("deep/er/plugin");
    let written = create(&target, &names(), ALL, &SpSource::Vendor).unwrap();
    for file in FILES.iter().chain(&[
        "Cargo.lock",
        "vendor/Cargo.toml",
        "vendor/sp-cpu/src/lib.rs",
    ]) {
        let text = fs::read_to_string(target.join(file)).unwrap();
        assert!(text.ends_with('\n') && !text.contains("{{"), "{file}");
    }
    assert_eq!(written.own, FILES.len() + 1, "Cargo.lock is no template");
    assert!(written.carried > 100);
    assert_eq!(entries(scratch.path()), ["deep"]);
    let manifest: toml::Table = fs::read_to_string(target.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("my-accel2"));
    assert_eq!(manifest["workspace"]["exclude"][0].as_str(), Some("vendor"));
}

#[test]
fn an_empty_folder_is_used_and_another_is_left_untouched() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    fs::create_dir(&target).unwrap();
    create(&target, &names(), ALL, &SpSource::Vendor).unwrap();
    let before = entries(&target);
    fs::write(target.join("README.md"), "mine").unwrap();
    let refused = create(&target, &names(), ALL, &SpSource::Vendor);
    assert!(matches!(refused, Err(ScaffoldError::Occupied { .. })));
    assert_eq!(
        fs::read_to_string(target.join("README.md")).unwrap(),
        "mine"
    );
    assert_eq!(entries(&target), before);
    let file = scratch.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert!(matches!(
        create(&file, &names(), ALL, &SpSource::Vendor),
        Err(ScaffoldError::Occupied { .. })
    ));
}

#[test]
fn a_failure_half_way_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let clash = [("a".to_owned(), Vec::new()), ("a/b".to_owned(), Vec::new())];
    assert!(place(&scratch.path().join("plugin"), &clash).is_err());
    assert!(entries(scratch.path()).is_empty());
}

#[test]
fn a_checkout_is_depended_on_by_path() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    create(&target, &names(), ALL, &SpSource::Checkout(root.clone())).unwrap();
    assert!(!target.join("vendor").exists());
    let manifest = fs::read_to_string(target.join("Cargo.toml")).unwrap();
    assert!(
        manifest.contains(root.join("templates/cpu").to_str().unwrap()),
        "{manifest}"
    );
    let elsewhere = SpSource::Checkout(scratch.path().to_owned());
    let refused = create(&scratch.path().join("other"), &names(), ALL, &elsewhere);
    assert!(matches!(refused, Err(ScaffoldError::NoCheckout { .. })));
}

/// Every set of parts that can be left out.
fn sets() -> impl Iterator<Item = Vec<Part>> {
    (0..1 << Part::ALL.len()).map(|set: usize| {
        let parts = Part::ALL.into_iter().enumerate();
        let chosen = parts.filter(|(bit, _)| set >> bit & 1 == 1);
        chosen.map(|(_, part)| part).collect()
    })
}

#[test]
fn the_optimizer_may_be_called_after_what_it_works_on() {
    use clap::ValueEnum;
    assert_eq!(Part::from_str("graph", false), Ok(Part::Optimizer));
    assert!(Part::from_str("device", false).is_err());
}

#[test]
fn what_is_left_out_is_named_nowhere() {
    for left_out in sets() {
        let parts = Parts::without(&left_out);
        let files = own_files(&names(), parts, &SpSource::Vendor).unwrap();
        let is_there = |path: &str| files.iter().any(|(found, _)| found == path);
        assert_eq!(is_there("src/kernels/mod.rs"), parts.kernels);
        assert_eq!(is_there("src/optimizer.rs"), parts.optimizer);
        assert_eq!(is_there("src/profiler.rs"), parts.profiler);
        for (path, bytes) in &files {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(!text.contains("{%"), "{path}: {text}");
            if path.ends_with(".py") || path == "Cargo.lock" {
                continue;
            }
            assert!(!text.contains("\n\n\n"), "{path}: {text}");
            let named = |words: &[&str]| words.iter().any(|word| text.contains(word));
            assert!(parts.optimizer || !named(&["ptimize"]), "{path}: {text}");
            assert!(parts.profiler || !named(&["rofiler"]), "{path}: {text}");
            let kernels = ["src/kernels", "mod kernels", "[kernels::table", "\"relu\""];
            assert!(parts.kernels || !named(&kernels), "{path}: {text}");
        }
    }
}
