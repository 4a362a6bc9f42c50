//! Every size and offset of the snapshots, beside what a C++ compiler says of the same headers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use sp_ir::{Api, Item};

const RELEASE: &str = "2.21";

#[test]
fn snapshots_agree_with_a_compiler() {
    let Some(headers) = sp_tests::headers(RELEASE) else {
        return println!(
            "skipped: no headers of {RELEASE}; `sp-gen import tensorflow {RELEASE}` brings them"
        );
    };
    let Some(compiler) = compiler() else {
        return println!("skipped: no C++ compiler called c++, g++ or clang++");
    };
    let apis = sp_tests::snapshots(RELEASE);
    let expected: BTreeMap<String, u64> = apis.iter().flat_map(facts).collect();
    assert!(
        expected.len() > 200,
        "only {} facts to check",
        expected.len()
    );
    let found = probe(&compiler, &headers, &apis, &expected);
    assert_eq!(found, expected);
}

/// Every C expression whose value the snapshot claims.
fn facts(api: &Api) -> Vec<(String, u64)> {
    let mut facts = Vec::new();
    for (name, item) in &api.items {
        let Item::Struct(item) = item else { continue };
        facts.push((format!("sizeof({name})"), item.layout.size));
        facts.push((format!("alignof({name})"), item.layout.align));
        for field in &item.fields {
            facts.push((format!("offsetof({name}, {})", field.name), field.offset));
            facts.push((format!("sizeof((({name}*)0)->{})", field.name), field.size));
        }
        if let Some(size) = &item.struct_size {
            facts.push((format!("(size_t)({})", size.symbol), size.value));
        }
    }
    facts
}

fn compiler() -> Option<String> {
    ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())
        .map(str::to_owned)
}

fn probe(
    compiler: &str,
    headers: &Path,
    apis: &[Api],
    facts: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("probe.cc"), folder.path().join("probe"));
    std::fs::write(&source, program_text(apis, facts)).unwrap();
    let built = Command::new(compiler)
        .args(["-std=c++17", "-w", "-Wno-invalid-offsetof", "-I"])
        .arg(headers)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let printed = Command::new(&program).output().unwrap();
    String::from_utf8(printed.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(value, fact)| (fact.to_owned(), value.parse().unwrap()))
        .collect()
}

fn program_text(apis: &[Api], facts: &BTreeMap<String, u64>) -> String {
    let mut text = String::from("#include <cstddef>\n#include <cstdint>\n#include <cstdio>\n");
    let mut headers: Vec<&str> = apis
        .iter()
        .flat_map(|api| api.items.values())
        .filter(|item| matches!(item, Item::Struct(_)))
        .map(|item| item.loc().file.as_str())
        .collect();
    headers.sort_unstable();
    headers.dedup();
    for header in headers {
        writeln!(text, "#include \"{header}\"").unwrap();
    }
    text.push_str("int main() {\n");
    for fact in facts.keys() {
        writeln!(
            text,
            "std::printf(\"%zu\\t%s\\n\", (size_t)({fact}), \"{fact}\");"
        )
        .unwrap();
    }
    text.push_str("}\n");
    text
}
