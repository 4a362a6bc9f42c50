//! The messages about declined hosts, which sp-expand has once for sp-runtime and the C headers.

use std::fs;
use std::path::Path;

const C_TEXTS: [&str; 2] = [
    include_str!("../c/text/host.h"),
    include_str!("../c/text/structs.h"),
];

/// A message that only one of both has shows that a decision was changed in one language only.
#[test]
fn rust_and_c_use_every_decline_message() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../macros/runtime/src");
    let files = ["host.rs", "host_headers.rs", "prefix/layout.rs"].iter();
    let rust: String = files
        .map(|file| fs::read_to_string(sources.join(file)).unwrap())
        .collect();
    let c = C_TEXTS.concat();
    let names = sp_expand::DECLINE_MESSAGES.iter().map(|(name, _)| name);
    for (name, (c_name, _)) in names.zip(sp_expand::c_decline_messages()) {
        let is_used = rust.contains(&format!("decline_message!({name},"));
        assert!(is_used, "sp-runtime does not use {name}");
        assert!(c.contains(&c_name), "the C headers do not use {c_name}");
    }
}
