//! Reads any bytes as a wheel: headers and symbols are read or rejected, and no header's path is outside of the store.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_fetch::symbols;
use sp_fetch::wheel::Wheel;
use sp_parse::api_headers;
use sp_parse::source::{Source, is_safe_relative_path};
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut wheel) = Wheel::from_reader("fuzzed.whl", Cursor::new(bytes)) else {
        return;
    };
    let _ = wheel.identity();
    if let Ok(found) = api_headers::find(&mut wheel, &mut |_| {}) {
        assert!(found.headers.keys().all(|name| is_safe_relative_path(name)));
    }
    for member in wheel.libraries().unwrap_or_default() {
        if let Ok(mut library) = wheel.library(&member) {
            let _ = symbols::exports(&mut library);
        }
    }
});
