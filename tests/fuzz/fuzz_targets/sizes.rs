//! Parses long input of repeated patterns by every parser of untrusted input: each ends in time and takes memory in
//! proportion to the input. libFuzzer reports an input that takes 10 seconds.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use sp_data::symbols::table::Table;
use sp_fetch::lock::Lock;
use sp_fetch::symbols;
use sp_fetch::wheel::Wheel;
use sp_fuzz::sized::{Counting, expand, most_taken};
use sp_ir::Api;
use sp_library::elf;
use sp_library::names::LibraryNames;
use sp_library::sample::MemoryLibrary;
use sp_parse::api_headers;
use sp_parse::contract::notes::Notes;
use sp_runtime::c_header::Header;

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory for an input without a byte, and for each byte: `sp_system::budget` has 16 MiB and 16 bytes for the
/// parsers of libraries, which have the input several times.
const BASE: usize = 64 << 20;
const PROPORTION: usize = 512;

/// The starts of a library in ELF and in Mach-O, which no mutation would find.
const STARTS: [&[u8]; 3] = [b"", b"\x7fELF\x02\x01\x01", b"\xcf\xfa\xed\xfe"];

fuzz_target!(|bytes: &[u8]| {
    let Some((start, runs)) = bytes.split_first() else {
        return;
    };
    let start = STARTS[usize::from(*start) % STARTS.len()];
    let input = [start, &expand(runs)].concat();
    let taken = most_taken(|| read(&input));
    let limit = BASE + PROPORTION * input.len();
    assert!(taken <= limit, "{taken} bytes for {}", input.len());
});

fn read(input: &[u8]) {
    let wanted = |name: &str| name.len() % 2 == 0;
    let library = || MemoryLibrary::new(input.to_vec());
    let _ = symbols::exports(&mut library());
    let _ = symbols::messages::scan(&mut library());
    let _ = LibraryNames::read("fuzzed", input, &wanted);
    let _ = elf::read_dependencies(input);
    if let Ok(mut wheel) = Wheel::from_reader("fuzzed.whl", Cursor::new(input)) {
        let _ = api_headers::find(&mut wheel, &mut |_| {});
    }
    if let Ok(text) = std::str::from_utf8(input) {
        read_text(text);
    }
}

fn read_text(text: &str) {
    let _ = Api::from_json(text);
    let _ = Table::parse(text, "fuzzed");
    let _ = Lock::parse(text, "fuzzed");
    let _ = Notes::parse("fuzzed", text);
    if let Ok(header) = Header::scan([text]) {
        let _ = (
            header.members("S"),
            header.typedef("S"),
            header.function("S"),
        );
    }
}
