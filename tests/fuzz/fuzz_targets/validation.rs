//! Searches any bytes for validation messages of required fields, without a panic.

#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use sp_runtime::validation::required_fields;

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("sp-fuzz-{}", std::process::id()));
    let mut file = std::fs::File::create(&path).expect("a temporary file");
    file.write_all(bytes).expect("the file can be written");
    let required = required_fields(&path).expect("a file that was just written");
    assert!(
        required
            .iter()
            .all(|(name, field)| !name.is_empty() && !field.is_empty())
    );
});
