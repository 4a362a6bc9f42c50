//! Reads any bytes as a wheel: headers and symbols are read or rejected, and no header's path is outside of the store.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_parse::source::{Source, stays_inside};
use sp_fetch::wheel::Wheel;
use sp_parse::closure;
use sp_fetch::symbols;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut wheel) = Wheel::from_reader("fuzzed.whl", Cursor::new(bytes)) else {
        return;
    };
    let _ = wheel.identity();
    if let Ok(found) = closure::of(&mut wheel, &mut |_| {}) {
        assert!(found.headers.keys().all(|name| stays_inside(name)));
    }
    for member in wheel.libraries() {
        if let Ok(mut library) = wheel.library(&member) {
            let _ = symbols::exports(&mut library);
        }
    }
});
