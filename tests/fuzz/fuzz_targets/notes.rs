//! Parses any text as the notes of an API: returns notes or an error, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_parse::contract::notes::Notes;

fuzz_target!(|text: &str| {
    let _ = Notes::parse("fuzzed", text);
});
