//! Sources that no compiler accepts: nothing panics, and each ends in a short time.

use proptest::prelude::*;
use sp_port::{Options, Plan, Registrations, Source, print, scan};
use std::time::{Duration, Instant};

/// The longest time for a source, without optimization on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

fn read(text: &str) -> (Registrations, String) {
    let start = Instant::now();
    let sources = [Source {
        path: "hostile.cc".to_owned(),
        text: text.to_owned(),
    }];
    let found = scan(&sources);
    let plan = Plan::new(&found, &Options::default());
    let text = print(&sources, &found, &plan, &Options::default());
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    (found, text)
}

fn reasons(text: &str) -> String {
    let reasons = read(text).0.unread.into_iter().map(|it| it.reason);
    reasons.collect::<Vec<_>>().join("; ")
}

#[test]
fn megabytes_of_parentheses_end() {
    const COUNT: usize = 1 << 20;
    for text in [
        "(".repeat(COUNT),
        ")".repeat(COUNT),
        "REGISTER_KERNEL_BUILDER(".repeat(COUNT / 16),
        "REGISTER_OP(\"A\").Input(".repeat(COUNT / 16),
        "# ".repeat(COUNT / 2),
        "\"".repeat(COUNT),
        "R\"(".repeat(COUNT / 4),
        "REGISTER_X()".repeat(COUNT / 64),
        "/*".repeat(COUNT / 2),
        "A<".repeat(COUNT / 2),
        "\\\n".repeat(COUNT / 2),
    ] {
        read(&text);
    }
}

#[test]
fn unclosed_calls_of_macros_end() {
    let text = format!("#define F(a) a\n{}", "F(".repeat(1 << 16));
    read(&text);
}

#[test]
fn recursive_and_growing_macros_are_named() {
    assert_eq!(reasons("#define A A A\nA"), "");
    let mut growing: String = (0..64)
        .map(|it| format!("#define M{it} M{0} M{0}\n", it + 1))
        .collect();
    growing += "M0 REGISTER_KERNEL_BUILDER(Name(\"Relu\"), R)\n";
    assert_eq!(
        reasons(&growing),
        "reading it takes more memory than any real file needs"
    );
    let mut deep: String = (0..100)
        .map(|it| format!("#define M{it}(x) M{}(x)\n", it + 1))
        .collect();
    deep += "M0(1)\n";
    assert_eq!(reasons(&deep), "macros are nested more than 64 deep");
}

#[test]
fn texts_that_grow_with_each_paste_are_named() {
    let pasted = format!("#define F(a) {}a\nF(x)", "a##".repeat(1 << 17));
    assert!(
        reasons(&pasted).contains("more steps"),
        "{}",
        reasons(&pasted)
    );
    let strings = format!(
        "#define F(a) {}\nF({})",
        "#a ".repeat(1 << 14),
        "x ".repeat(1 << 14)
    );
    assert!(
        reasons(&strings).contains("more steps"),
        "{}",
        reasons(&strings)
    );
}

#[test]
fn combinations_of_types_are_limited() {
    let types = "DT_FLOAT, DT_DOUBLE, DT_HALF, DT_INT32, DT_INT64, DT_INT8, DT_UINT8, DT_BOOL";
    let constraints: String = (0..8)
        .map(|it| format!(".TypeConstraint(\"T{it}\", {{{types}}})"))
        .collect();
    let attributes: String = (0..8).map(|it| format!(".Attr(\"T{it}: type\")")).collect();
    let text = format!(
        "REGISTER_OP(\"Many\"){attributes};\nREGISTER_KERNEL_BUILDER(Name(\"Many\"){constraints}, M)"
    );
    assert!(
        read(&text).1.contains("more than 4096 combinations"),
        "{}",
        read(&text).1
    );
}

#[test]
fn texts_of_a_source_are_printed_as_ascii_comments() {
    let (found, text) = read(
        "REGISTER_KERNEL_BUILDER(Name(\"Relu\").Device(\"*/\\n\u{202e}\u{e9}\"), R<\"\u{1b}[0m\n>)",
    );
    assert!(
        text.chars().all(|it| it == '\n' || matches!(it, ' '..='~')),
        "{text:?}"
    );
    assert_eq!(found.kernels.len() + found.unread.len(), 2);
    syn::parse_file(&text).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn any_sequence_of_parts_is_read(parts in prop::collection::vec(prop::sample::select(PARTS), 0..60)) {
        let (_, text) = read(&parts.concat());
        prop_assert!(syn::parse_file(&text).is_ok(), "{text}");
    }
}

/// Parts of sources.
const PARTS: &[&str] = &[
    "#define ",
    "#undef ",
    "#if 0\n",
    "#else\n",
    "#endif\n",
    "F",
    "G",
    "(",
    ")",
    ",",
    "a",
    "##",
    "#",
    "\n",
    "\\\n",
    "\r\n",
    "...",
    "__VA_ARGS__",
    "REGISTER_KERNEL_BUILDER(",
    "Name(",
    "\"Relu\"",
    ".Device(DEVICE_GPU)",
    ".TypeConstraint<",
    "float",
    ">(\"T\")",
    "{",
    "}",
    "DT_FLOAT",
    "TF_CALL_ALL_TYPES(",
    "REGISTER_OP(",
    "\"Own\"",
    ".Input(\"x: T\")",
    ".Attr(\"T: type\")",
    ";",
    "class ",
    "AsyncOpKernel",
    ": public ",
    "using ",
    "=",
    "R\"(",
    ")\"",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    " ",
    "::",
    "<",
    ".HostMemory(\"x\")",
];
