//! The Markdown pages: their links, the lists of README, and the code and tables of the guide for authors.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sp_tests::{read_files, root};

const GUIDE: &str = "codegen/docs/plugin.md";

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the Markdown files in `folder` of the checkout.
fn pages_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<_> = names.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    pages
}

/// Returns the targets of the links in a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let starts = text
        .match_indices("](")
        .map(|(start, _)| &text[start + 2..]);
    starts.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// Returns the parts of `text` between backticks.
fn code_spans(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    lines
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

/// Returns the anchor that a heading has on a web page of the repository.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let letters = text
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    letters.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_to_existing_files_and_headings() {
    let folders = [
        "",
        "codegen/docs",
        "generated/docs",
        "headers/apis",
        "tests",
        "tests/abi",
        "tests/rfc",
        "tests/virtaccel",
    ];
    for folder in folders {
        for page in pages_in(folder) {
            let text = read(format!("{folder}/{page}").trim_start_matches('/'));
            for link in links(&text).filter(|link| !link.contains("://")) {
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { &page } else { file };
                let path = root().join(folder).join(target);
                assert!(path.exists(), "{folder}/{page} links to {link}");
                let headings = fs::read_to_string(path).unwrap_or_default();
                let mut headings = headings.lines().filter(|line| line.starts_with('#'));
                assert!(
                    heading.is_empty() || headings.any(|line| anchor(line) == heading),
                    "{folder}/{page} links to {link}"
                );
            }
        }
    }
}

#[test]
fn readme_lists_each_page_once() {
    let readme = read("README.md");
    let (_, table) = readme
        .split_once("| page | question |")
        .expect("a table of pages");
    let table = table.split_once("\n\n").map_or(table, |(table, _)| table);
    let mut listed: Vec<_> = links(table)
        .filter_map(|link| link.strip_prefix("codegen/docs/"))
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, pages_in("codegen/docs"));
}

/// Writes a plugin with all parts and returns its folder.
fn scaffold(parent: &Path) -> PathBuf {
    let output = Command::new(env!("CARGO_BIN_EXE_sp-gen"))
        .args(["new", "myaccel", "--with", "ops", "--vcs", "none"])
        .current_dir(parent)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    parent.join("myaccel")
}

/// Returns the Rust blocks of a page: the file of the first line, `// FILE`, and the lines after it.
fn rust_blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let blocks = page.split("\n```rust\n// ").skip(1);
    blocks.map(|block| {
        let (code, _) = block.split_once("\n```").expect("the block ends");
        code.split_once('\n').expect("the block has code")
    })
}

#[test]
fn guide_shows_code_of_the_scaffold() {
    let page = read(GUIDE);
    let folder = tempfile::tempdir().unwrap();
    let plugin = scaffold(folder.path());
    let expected = page.matches("\n```rust").count();
    assert_eq!(rust_blocks(&page).count(), expected);
    for (file, code) in rust_blocks(&page) {
        let source =
            fs::read_to_string(plugin.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut rest = source.as_str();
        for part in code.split("\n// ...\n") {
            let (_, after) = rest
                .split_once(part)
                .unwrap_or_else(|| panic!("{file} of a new plugin does not contain:\n{part}"));
            rest = after;
        }
    }
}

#[test]
fn bring_up_page_has_the_files_of_the_plugin_over_virtaccel() {
    let page = read("codegen/docs/bring-up.md");
    let joined = |start: &str| {
        let blocks = page.split(start).skip(1);
        let blocks = blocks.map(|block| block.split_once("\n```").expect("the block ends").0);
        format!("{}\n", blocks.collect::<Vec<_>>().join("\n\n"))
    };
    for (block, file) in [
        ("\n```toml\n# virtaccel.toml\n", "virtaccel.toml"),
        ("\n```rust\n// src/device.rs\n", "plugin/layer/device.rs"),
        ("\n```rust\n// src/kernels.rs\n", "plugin/kernels.rs"),
    ] {
        let expected = read(&format!("tests/virtaccel/{file}"));
        assert!(joined(block) == expected, "{file} differs from the page");
    }
}

#[test]
fn device_over_the_layer_is_short_and_has_no_unsafe() {
    let device = read("tests/virtaccel/plugin/layer/device.rs");
    let kernels = read("tests/virtaccel/plugin/kernels.rs");
    assert!(!device.contains("unsafe") && !kernels.contains("unsafe"));
    assert!(device.lines().count() < 200);
}

#[test]
fn guide_lists_the_files_of_the_scaffold() {
    let page = read(GUIDE);
    let (_, section) = page.split_once("## 1. Write the plugin").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (author_files, crates) = section.split_once("| crate in").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plugin = scaffold(folder.path());
    let names = code_spans(author_files);
    for file in sp_gen::scaffold::FILES.iter().chain(&["Cargo.lock"]) {
        assert!(names.contains(file), "{file}");
    }
    let vendored = fs::read_dir(plugin.join("vendor")).unwrap();
    let vendored = vendored.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = code_spans(crates);
    for name in vendored.filter(|name| name.starts_with("sp-")) {
        assert!(names.contains(name.as_str()), "{name}");
    }
}

/// Returns the methods of a generated trait, each with true if it is optional.
fn methods(source: &str, name: &str) -> Vec<(String, bool)> {
    let (_, body) = source
        .split_once(&format!("pub trait {name}:"))
        .expect("the trait");
    let body = body.split_once("\n}\n").map_or(body, |(body, _)| body);
    let heads = body.lines().filter_map(|line| {
        line.trim_start_matches("    unsafe")
            .trim()
            .strip_prefix("fn ")
    });
    let names = heads.filter_map(|head| head.split_once('(').map(|(name, _)| name.to_owned()));
    names
        .map(|name| {
            let is_optional = body.contains(&format!("const HAS_{}:", name.to_uppercase()));
            (name, is_optional)
        })
        .collect()
}

#[test]
fn device_of_a_new_plugin_lists_each_slot_in_one_group() {
    let folder = tempfile::tempdir().unwrap();
    let device = fs::read_to_string(scaffold(folder.path()).join("src/device.rs")).unwrap();
    let source = read("generated/src/stream_executor/traits.rs");
    let comments = device.lines().filter_map(|line| line.strip_prefix("// "));
    let words = comments.flat_map(|line| line.split([' ', ',', '.', ':']));
    let words: Vec<_> = words.collect();
    for (method, _) in methods(&source, "StreamExecutor") {
        let count = words.iter().filter(|word| **word == method).count();
        assert_eq!(
            count, 1,
            "{method}: one group of comments in templates/plugin/src/device.rs.jinja has to name it"
        );
    }
}

#[test]
fn guide_lists_each_slot_as_required_or_optional() {
    let page = read(GUIDE);
    let source = read("generated/src/stream_executor/traits.rs");
    let mut found = 0;
    for (method, is_optional) in ["StreamExecutor", "DeviceFns", "TimerFns"]
        .iter()
        .flat_map(|name| methods(&source, name))
    {
        let name = format!("`{method}`");
        let row = page
            .lines()
            .find(|line| line.starts_with("| ") && line.contains(&name));
        let row = row.unwrap_or_else(|| panic!("{method} is in no row of {GUIDE}"));
        let kind = if is_optional {
            "| optional"
        } else {
            "| required"
        };
        assert!(row.contains(kind), "{method}: {row}");
        found += 1;
    }
    assert!(found > 30, "{found}");
}

/// Returns the Rust sources below `folder` of the checkout.
fn sources(folder: &str) -> impl Iterator<Item = String> {
    let files = read_files(&root().join(folder)).into_iter();
    let rust = files.filter(|(path, _)| path.extension().is_some_and(|it| it == "rs"));
    rust.map(|(_, bytes)| String::from_utf8(bytes).unwrap())
}

/// Returns the names `SP_NAME` among the string literals of a source that reads environment variables.
fn variables(source: &str) -> BTreeSet<String> {
    let is_upper = |c: char| c == '_' || c.is_ascii_uppercase();
    let is_variable = |text: &&str| text.starts_with("SP_") && text.chars().all(is_upper);
    if !["env::var", "variable::is_on"]
        .iter()
        .any(|it| source.contains(it))
    {
        return BTreeSet::new();
    }
    source
        .split('"')
        .filter(is_variable)
        .map(str::to_owned)
        .collect()
}

/// Variables that sp-host sets for its child processes, and the one of the tests on an emulated machine.
const INTERNAL: [&str; 5] = [
    "SP_EMULATED",
    "SP_HOST_CHECK",
    "SP_HOST_HUNG_CALLS",
    "SP_HOST_PLUGIN",
    "SP_HOST_RELEASE",
];

#[test]
fn guide_lists_each_environment_variable_of_a_plugin() {
    let page = read(GUIDE);
    let (_, table) = page.split_once("## Environment variables").unwrap();
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    let crates = [
        "macros/runtime/src",
        "templates/sdk/src",
        "templates/cpu/src",
        "codegen/host/src",
    ];
    let sources = crates.into_iter().flat_map(sources);
    let mut used: BTreeSet<String> = sources.flat_map(|text| variables(&text)).collect();
    used.retain(|name| !INTERNAL.contains(&name.as_str()));
    assert_eq!(listed, used);
}

#[test]
fn architecture_names_existing_files() {
    let text = read("ARCHITECTURE.md");
    let (_, section) = text
        .split_once("## Where to change what")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").unwrap();
    let is_path = |span: &&str| {
        span.contains('/') && !span.starts_with("target/") && !span.contains([' ', '<', '*'])
    };
    let paths: Vec<_> = code_spans(section).into_iter().filter(is_path).collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        assert!(root().join(path).exists(), "{path}");
    }
}
