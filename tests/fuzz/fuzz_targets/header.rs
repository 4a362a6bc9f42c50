//! Scans any text as a host's header: each struct, enumeration, typedef and function is read or rejected, and
//! the offsets of a layout are below its size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_runtime::c_header::Header;

const NAMES: [&str; 4] = ["SP_Platform", "SP_StreamExecutor", "SE_EventStatus", "X"];

fuzz_target!(|text: &str| {
    let Ok(header) = Header::scan([text]) else {
        return;
    };
    for name in NAMES {
        if let Ok(members) = header.members(name)
            && let Ok(layout) = header.layout(&members)
        {
            assert!(layout.offsets.values().all(|offset| *offset < layout.size));
        }
        let _ = (
            header.enumerators(name),
            header.typedef(name),
            header.function(name),
        );
    }
});
