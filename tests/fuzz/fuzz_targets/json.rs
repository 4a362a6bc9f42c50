//! Parses any text as a snapshot, a table of symbols or a lock: it is read or rejected, and a value that is written
//! and parsed again is unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_data::symbols::table::Table;
use sp_fetch::lock::Lock;
use sp_ir::Api;

fuzz_target!(|text: &str| {
    if let Ok(api) = Api::from_json(text) {
        assert_eq!(Api::from_json(&api.to_json()).ok().as_ref(), Some(&api));
    }
    if let Ok(table) = Table::parse(text, "fuzzed") {
        assert_eq!(
            Table::parse(&table.to_json(), "fuzzed").ok().as_ref(),
            Some(&table)
        );
    }
    if let Ok(lock) = Lock::parse(text, "fuzzed") {
        assert!(Lock::parse(&lock.to_toml(), "fuzzed").is_ok());
    }
});
