//! Tests that write whole plugins.

mod formatted;

use super::*;
use sp_tests::assert_contains;

const ALL: Parts = Parts {
    kernels: true,
    optimizer: true,
    profiler: true,
    ops: true,
};

fn names() -> PluginNames {
    PluginNames::new("my-accel2", None, None).unwrap()
}

fn plugin<'a>(names: &'a PluginNames, parts: Parts, source: &'a SpSource) -> Plugin<'a> {
    Plugin {
        names,
        parts,
        source,
        driver: None,
        backend: None,
    }
}

fn create_plugin(target: &Path, source: &SpSource) -> Result<FileCounts, ScaffoldError> {
    create(target, &plugin(&names(), ALL, source))
}

fn file_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the files below a folder of `templates/`, as they are named in a plugin.
fn templates_in(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates");
    let files = sp_tests::read_files(&root.join(folder)).into_keys();
    let names = files.map(|file| file.display().to_string());
    names
        .map(|name| name.trim_end_matches(".jinja").to_owned())
        .collect()
}

#[test]
fn every_template_is_listed() {
    for (folder, listed) in [("plugin", FILES), ("opencl", OPENCL_FILES)] {
        let templates = templates_in(folder);
        assert!(!templates.is_empty());
        for file in templates {
            let is_listed =
                |rendered: &&&str| **rendered == file || rendered.trim_start_matches('.') == file;
            assert!(listed.iter().any(|it| is_listed(&it)), "{folder}/{file}");
        }
    }
}

#[test]
fn files_of_a_backend_replace_those_of_the_same_name() {
    let (names, source, scratch) = (names(), SpSource::Vendor, tempfile::tempdir().unwrap());
    let target = scratch.path().join("plugin");
    let plugin = Plugin {
        driver: Some("// the bindings"),
        backend: Some(Backend::OpenCl),
        ..plugin(&names, ALL, &source)
    };
    create(&target, &plugin).unwrap();
    let read = |file: &str| fs::read_to_string(target.join(file)).unwrap();
    for file in OPENCL_FILES {
        assert!(!read(file).contains("{{ "), "{file}");
    }
    assert!(read("src/device.rs").contains("pub type MyAccel2 = AcceleratorDevice<OpenCl>;"));
    assert!(read("src/lib.rs").contains("mod driver;\nmod icd;\nmod kernels;\nmod opencl;\n"));
    assert!(read("src/kernels/mod.rs").contains("mod fused_bias_relu;"));
    assert!(!target.join("src/kernels/relu.rs").exists());
}

#[test]
fn backend_without_kernels_is_an_error() {
    let (names, source, scratch) = (names(), SpSource::Vendor, tempfile::tempdir().unwrap());
    let parts = Parts {
        kernels: false,
        ops: false,
        ..ALL
    };
    let plugin = Plugin {
        backend: Some(Backend::OpenCl),
        ..plugin(&names, parts, &source)
    };
    let result = create(&scratch.path().join("plugin"), &plugin);
    assert!(matches!(result, Err(ScaffoldError::BackendWithoutKernels)));
    assert!(file_names(scratch.path()).is_empty());
}

#[test]
fn writes_all_files_of_a_plugin() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("deep/er/plugin");
    let written = create_plugin(&target, &SpSource::Vendor).unwrap();
    for file in FILES.iter().chain(&[
        "Cargo.lock",
        "vendor/Cargo.toml",
        "vendor/sp-cpu/src/lib.rs",
    ]) {
        let text = fs::read_to_string(target.join(file)).unwrap();
        assert!(text.ends_with('\n') && !text.contains("{{"), "{file}");
    }
    assert_eq!(
        written.author_files,
        FILES.len() + 1,
        "Cargo.lock has no template"
    );
    assert!(written.vendored_files > 100);
    assert_eq!(file_names(scratch.path()), ["deep"]);
    let manifest: toml::Table = fs::read_to_string(target.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("my-accel2"));
    assert_eq!(manifest["workspace"]["exclude"][0].as_str(), Some("vendor"));
}

#[test]
fn accepts_empty_folder_and_rejects_others_unchanged() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    fs::create_dir(&target).unwrap();
    create_plugin(&target, &SpSource::Vendor).unwrap();
    let before = file_names(&target);
    fs::write(target.join("README.md"), "own").unwrap();
    let result = create_plugin(&target, &SpSource::Vendor);
    assert!(matches!(result, Err(ScaffoldError::TargetNotEmpty(..))));
    assert_eq!(fs::read_to_string(target.join("README.md")).unwrap(), "own");
    assert_eq!(file_names(&target), before);
    let file = scratch.path().join("file");
    fs::write(&file, "own").unwrap();
    assert!(matches!(
        create_plugin(&file, &SpSource::Vendor),
        Err(ScaffoldError::TargetNotEmpty(..))
    ));
}

#[test]
fn failed_write_leaves_no_files() {
    let scratch = tempfile::tempdir().unwrap();
    let conflicting = [("a".to_owned(), Vec::new()), ("a/b".to_owned(), Vec::new())];
    assert!(write_folder(&scratch.path().join("plugin"), conflicting.into()).is_err());
    assert!(file_names(scratch.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn fills_empty_folder_that_a_shell_may_be_in() {
    use std::os::unix::fs::MetadataExt;
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    fs::create_dir(&target).unwrap();
    let inode = || fs::metadata(&target).unwrap().ino();
    let before = inode();
    create_plugin(&target, &SpSource::Vendor).unwrap();
    assert_eq!(inode(), before);
    assert!(target.join("vendor/sp-abi/Cargo.toml").is_file());
    let has_staged = file_names(&target)
        .iter()
        .any(|name| name.starts_with(".sp-gen-staged-"));
    assert!(!has_staged);
}

#[test]
fn depends_on_checkout_by_path() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    create_plugin(&target, &SpSource::Checkout(root.clone())).unwrap();
    assert!(!target.join("vendor").exists());
    let manifest = fs::read_to_string(target.join("Cargo.toml")).unwrap();
    assert_contains(&manifest, root.join("templates/cpu").to_str().unwrap());
    let elsewhere = SpSource::Checkout(scratch.path().to_owned());
    let result = create_plugin(&scratch.path().join("other"), &elsewhere);
    assert!(matches!(result, Err(ScaffoldError::NoCheckout(..))));
}

/// Returns every set of optional parts.
fn part_sets() -> impl Iterator<Item = Vec<Part>> {
    (0..1 << Part::ALL.len()).map(|set: usize| {
        let parts = Part::ALL.into_iter().enumerate();
        let chosen = parts.filter(|(bit, _)| set >> bit & 1 == 1);
        chosen.map(|(_, part)| part).collect()
    })
}

#[test]
fn plugin_with_ops_has_python_package_of_its_name() {
    let parts = Parts::without(&[Part::Optimizer]).with(&[ExtraPart::Ops]);
    let files = author_files(&plugin(&names(), parts, &SpSource::Vendor)).unwrap();
    let text = |path: &str| {
        let (_, bytes) = files.iter().find(|(found, _)| found == path).unwrap();
        std::str::from_utf8(bytes).unwrap()
    };
    assert!(text("pyproject.toml").contains("packages = [\"my_accel2\"]"));
    assert!(text("python/__init__.py").contains("from my_accel2 import ops"));
    assert!(text("MANIFEST.in").contains("graft src\ngraft python\n"));
    assert!(text("src/lib.rs").contains("mod kernels;\nmod ops;\n"));
    for (path, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        assert!(
            !text.contains("{%") && !text.contains("{{"),
            "{path}: {text}"
        );
    }
}

#[test]
fn rejects_ops_without_kernels() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("plugin");
    let parts = Parts::without(&[Part::Kernels]).with(&[ExtraPart::Ops]);
    let result = create(&target, &plugin(&names(), parts, &SpSource::Vendor));
    assert!(matches!(result, Err(ScaffoldError::OpsWithoutKernels)));
    assert!(!target.exists());
}

#[test]
fn accepts_graph_as_name_of_the_optimizer() {
    use clap::ValueEnum;
    assert_eq!(Part::from_str("graph", false), Ok(Part::Optimizer));
    assert!(Part::from_str("device", false).is_err());
}

#[test]
fn no_file_mentions_excluded_parts() {
    for excluded in part_sets() {
        let parts = Parts::without(&excluded);
        let files = author_files(&plugin(&names(), parts, &SpSource::Vendor)).unwrap();
        let is_present = |path: &str| files.iter().any(|(found, _)| found == path);
        assert_eq!(is_present("src/kernels/mod.rs"), parts.kernels);
        assert_eq!(is_present("src/optimizer.rs"), parts.optimizer);
        assert_eq!(is_present("src/profiler.rs"), parts.profiler);
        assert!(!is_present("src/ops.rs") && !is_present("python/ops.py"));
        for (path, bytes) in &files {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(!text.contains("{%"), "{path}: {text}");
            if path.ends_with(".py") || path == "Cargo.lock" {
                continue;
            }
            assert!(!text.contains("\n\n\n"), "{path}: {text}");
            let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
            assert!(parts.optimizer || !has_any(&["ptimize"]), "{path}: {text}");
            assert!(parts.profiler || !has_any(&["rofiler"]), "{path}: {text}");
            let ops = ["FusedBiasRelu", "mod ops", "python/", "graft python"];
            assert!(!has_any(&ops), "{path}: {text}");
            let kernels = ["src/kernels", "mod kernels", "[kernels::table", "\"relu\""];
            assert!(parts.kernels || !has_any(&kernels), "{path}: {text}");
        }
    }
}
