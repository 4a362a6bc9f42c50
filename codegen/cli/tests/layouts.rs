//! Every size, offset, `struct_size` and value in the snapshots, compared with those of a C++ compiler: clang for
//! all targets, any other compiler for that of this machine. Releases that are not in the store are skipped.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use sp_data::embedded::BUILTIN_HEADERS;
use sp_ir::{Api, Field, Item, Struct, TargetDifference, Value};
use sp_parse::extract::TARGETS;
use sp_tests::root;

/// Returns the first compiler that runs, and true if it supports all targets.
fn compiler() -> Option<(&'static str, bool)> {
    let all = [
        ("clang++", true),
        ("clang", true),
        ("clang-14", true),
        ("c++", false),
    ];
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok();
    all.into_iter().find(|(name, _)| runs(name))
}

fn snapshots(minor: &str) -> Vec<Api> {
    let folders = fs::read_dir(root().join("generated/ir")).unwrap();
    let paths = folders.map(|entry| entry.unwrap().path().join(format!("{minor}.json")));
    let texts = paths.filter_map(|path| fs::read_to_string(path).ok());
    texts.map(|text| Api::from_json(&text).unwrap()).collect()
}

/// Returns the probe for one target, and the number of its assertions.
fn probe(apis: &[Api], target: &str) -> (String, usize) {
    let items = apis.iter().flat_map(|api| api.items.values());
    let headers: BTreeSet<&str> = items.map(|item| item.loc().file.as_str()).collect();
    let includes = headers
        .iter()
        .map(|header| format!("#include \"{header}\"\n"));
    let mut claims = Vec::new();
    for api in apis {
        let differing = api.targets.get(target);
        // A nested type has no name in C.
        for (name, item) in api.items.iter().filter(|(name, _)| !name.contains("__")) {
            let differs = differing.and_then(|all| all.get(name)).cloned();
            claims.extend(assertions_about(name, item, &differs.unwrap_or_default()));
        }
    }
    let asserts = claims
        .iter()
        .map(|claim| format!("static_assert({claim}, \"\");\n"));
    (includes.chain(asserts).collect(), claims.len())
}

fn assertions_about(name: &str, item: &Item, differs: &TargetDifference) -> Vec<String> {
    match item {
        Item::Struct(item) => structure(name, item, differs),
        Item::Union(item) => {
            let layout = differs.layout.unwrap_or(item.layout);
            vec![format!("sizeof({name}) == {}", layout.size)]
        }
        Item::Constant(item) => match item.value {
            Value::Int(value) => vec![format!("({name}) == {}", differs.value.unwrap_or(value))],
            _ => Vec::new(),
        },
        Item::Enum(item) => {
            let variants = item.variants.iter();
            variants
                // An enumerator of a scoped enumeration has no other name.
                .map(|one| format!("(long long){name}::{} == {}", one.name, one.value))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn structure(name: &str, item: &Struct, differs: &TargetDifference) -> Vec<String> {
    let layout = differs.layout.unwrap_or(item.layout);
    let mut claims = vec![
        format!("sizeof({name}) == {}", layout.size),
        format!("alignof({name}) == {}", layout.align),
    ];
    let is_named = |field: &Field| !field.name.starts_with("anonymous");
    for (index, field) in item
        .fields
        .iter()
        .enumerate()
        .filter(|(_, one)| is_named(one))
    {
        let offset = differs.offsets.get(index).unwrap_or(&field.offset);
        claims.push(format!(
            "__builtin_offsetof({name}, {}) == {offset}",
            field.name
        ));
    }
    if let Some(size) = &item.struct_size {
        let value = differs.struct_size.unwrap_or(size.value);
        claims.push(format!("{} == {value}", size.symbol));
    }
    claims
}

fn compile(
    compiler: &str,
    arguments: &[&str],
    source: &Path,
    include: &Path,
) -> Result<(), String> {
    let done = Command::new(compiler)
        .args(["-x", "c++", "-std=c++17", "-fsyntax-only", "-w", "-I"])
        .arg(include)
        .args(arguments)
        .arg(source)
        .output()
        .unwrap();
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr)
            .chars()
            .take(2000)
            .collect()),
    }
}

#[test]
fn layouts_match_compiler() {
    let Some((compiler, knows_all)) = compiler() else {
        return eprintln!("skipped: no C++ compiler");
    };
    let scratch = tempfile::tempdir().unwrap();
    let builtin = scratch.path().join("builtin");
    fs::create_dir(&builtin).unwrap();
    for (name, text) in BUILTIN_HEADERS {
        fs::write(builtin.join(name), text).unwrap();
        let cpp = format!("c{}", name.trim_end_matches(".h"));
        fs::write(builtin.join(cpp), format!("#include <{name}>\n")).unwrap();
    }
    let Ok(stored) = fs::read_dir(root().join("headers/store")) else {
        return eprintln!("skipped: no headers in the store");
    };
    let targets = if knows_all {
        &TARGETS[..]
    } else {
        eprintln!("skipped: layouts of other targets than this machine's: no clang");
        &TARGETS[..1]
    };
    let (source, mut claims) = (scratch.path().join("probe.cc"), 0);
    for release in stored.map(|entry| entry.unwrap().path()) {
        let name = release.file_name().unwrap().to_string_lossy().into_owned();
        let minor: Vec<&str> = name.split('.').take(2).collect();
        let apis = snapshots(&minor.join("."));
        for target in targets {
            let (text, count) = probe(&apis, target);
            fs::write(&source, text).unwrap();
            let builtin = builtin.to_string_lossy();
            let arguments = ["-nostdinc", "-isystem", &builtin, "-target", target];
            let arguments = if knows_all { &arguments[..] } else { &[] };
            compile(compiler, arguments, &source, &release.join("include"))
                .unwrap_or_else(|errors| panic!("{name} for {target}: {errors}"));
            claims += count;
        }
    }
    eprintln!("{claims} sizes, offsets and values are those of {compiler}");
}
