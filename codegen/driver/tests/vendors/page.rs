//! The page of the results.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use sp_driver::LeftOut;

use crate::HEADERS;
use crate::check::{Found, find, made};
use crate::compilers::has_libclang;
use crate::headers::Vendor;

/// Reasons as the page has them, by a part of the text.
const REASONS: [(&str, &str); 12] = [
    ("is inline", "inline"),
    ("variable number of arguments", "variadic"),
    ("`va_list`", "`va_list`"),
    ("by value", "passes a type without bound fields"),
    ("with parameters", "macro with parameters"),
    ("macro without a value", "macro of no constant expression"),
    ("is a macro for", "macro for a function that is left out"),
    ("is a variable", "variable"),
    ("wide characters", "wide text"),
    ("cannot express", "layout that Rust cannot express"),
    ("is a value of the type", "constant of another type"),
    (
        "function pointer with the value",
        "function pointer that is no function",
    ),
];

#[test]
#[ignore = "tests/driver-headers runs it: it installs the headers"]
fn writes_page() {
    if !has_libclang() {
        return;
    }
    let mut page = HEAD.to_owned();
    let mut failed = Vec::new();
    for vendor in HEADERS {
        let found = find(vendor);
        let is_good =
            |it: &Found| it.missing.is_empty() && it.compiled.is_ok() && it.layouts.is_ok();
        if !found.as_ref().is_some_and(is_good) {
            failed.push(vendor.name);
        }
        page += &row(vendor, found.as_ref());
    }
    page += "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/driver-headers.md");
    std::fs::write(path, page).unwrap();
    assert!(failed.is_empty(), "not installed or not bound: {failed:?}");
}

const HEAD: &str = "\
# Which drivers' headers were tried?

`tests/driver-headers` binds each header by the code of `sp-gen new --driver`, and writes this page. \"Compiled\": rustc accepts the
bindings and evaluates their asserts of clang's sizes, alignments and offsets. \"Layouts\": the number of these that gcc computes too,
each with the same result. Every function that gcc sees is bound or named as left out.

| header | package | functions bound | macros that name one | functions left out | other declarations left out | compiled | layouts |
|---|---|---|---|---|---|---|---|
";

fn row(vendor: &Vendor, found: Option<&Found>) -> String {
    let mut row = format!(
        "| {}, `{}` | {} {} |",
        vendor.name,
        file_name(vendor),
        vendor.package,
        version(vendor.package).unwrap_or_default()
    );
    let Some(found) = found else {
        return row + " not installed | | | | | |\n";
    };
    let bindings = &found.bindings;
    let aliases = bindings.functions.len() - bindings.symbols.len();
    let bound = bindings.symbols.len();
    let functions = reasons(bindings.left_out.iter().filter(|it| it.is_function));
    let others = reasons(bindings.left_out.iter().filter(|it| !it.is_function));
    let compiled = match &found.compiled {
        Ok(()) => "yes".to_owned(),
        Err(message) => format!("no: {}", message.replace('\n', " ")),
    };
    let layouts = match &found.layouts {
        Ok(count) => format!("{count} equal"),
        Err(_) => "differ".to_owned(),
    };
    let _ = writeln!(
        row,
        " {bound} | {aliases} | {functions} | {others} | {compiled} | {layouts} |"
    );
    row
}

/// Returns the version of a package, which `tests/driver-headers` notes.
fn version(package: &str) -> Option<String> {
    let versions = std::fs::read_to_string(made().join("versions.txt")).ok()?;
    let mut versions = versions.lines().filter_map(|line| line.split_once(' '));
    let found = versions.find(|(name, _)| *name == package);
    found.map(|(_, version)| version.to_owned())
}

fn file_name(vendor: &Vendor) -> &str {
    vendor.header.rsplit('/').next().unwrap_or_default()
}

/// Returns the number of declarations with each reason.
fn reasons<'a>(left_out: impl Iterator<Item = &'a LeftOut>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for it in left_out {
        let known = REASONS.iter().find(|(part, _)| it.reason.contains(part));
        let reason = known.map_or("type that Rust does not have", |(_, text)| text);
        *counts.entry(reason).or_default() += 1;
    }
    if counts.is_empty() {
        return "0".to_owned();
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    counts.join(", ")
}
