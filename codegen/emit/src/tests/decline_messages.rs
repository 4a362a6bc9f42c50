//! The messages about declined hosts. sp-runtime and the C headers implement the same decision in two
//! languages; this table has each message once, and both must contain it.

use std::fs;
use std::path::Path;

/// The messages, with `{}` for each value.
const MESSAGES: &[&str] = &[
    "plugins are loaded from TensorFlow {} on",
    "the plugin is for TensorFlow {} or later",
    "a TensorFlow that does not state its release ({})",
    "its {} is {} bytes, expected {} (SP_ASSUME_APPEND=1 takes a longer one for these with fields added at the end)",
];

const RUST_FILES: &[&str] = &["host.rs", "prefix.rs"];

const C_TEXTS: &[&str] = &[
    include_str!("../c/text/host.h"),
    include_str!("../c/text/structs.h"),
];

/// Replaces arguments such as `{size}` of format strings by `{}`.
fn without_argument_names(text: &str) -> String {
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |name: &str| name.chars().all(|it| it.is_alphanumeric() || it == '_');
        let rest = part.split_once('}').filter(|(name, _)| is_name(name));
        result.extend(["{", rest.map_or(part, |_| "}"), rest.map_or("", |it| it.1)]);
    }
    result
}

fn rust_text() -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../macros/runtime/src");
    let files = RUST_FILES.iter();
    let texts = files.map(|file| fs::read_to_string(sources.join(file)).unwrap());
    without_argument_names(&texts.collect::<String>())
}

/// Joins adjacent string literals, and replaces format specifications by `{}`. `%u.%u` formats a release.
fn c_text() -> String {
    let text = C_TEXTS.concat();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let text = lines.join("").replace("\"\"", "");
    let specifications = ["%u.%u", "%zu", "%s"].iter();
    specifications.fold(text, |text, it| text.replace(it, "{}"))
}

#[test]
fn decline_messages_are_equal_in_rust_and_c() {
    let (rust, c) = (rust_text(), c_text());
    for message in MESSAGES {
        assert!(rust.contains(message), "sp-runtime has no `{message}`");
        assert!(c.contains(message), "the C headers have no `{message}`");
    }
}
