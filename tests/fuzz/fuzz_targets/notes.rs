//! The notes of an API, from any text: an error or notes, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_parse::contract::notes::Notes;

fuzz_target!(|text: &str| {
    let _ = Notes::parse("fuzzed", text);
});
