//! Reads any text as C++ sources: their registrations are read or named, and the skeletons are a file in Rust without another
//! character than printable ASCII.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_port::{Options, Plan, Source, print, scan};

fuzz_target!(|texts: (String, String)| {
    let source = |path: &str, text| Source {
        path: path.to_owned(),
        text,
    };
    let sources = [source("macros.h", texts.0), source("kernels.cc", texts.1)];
    let found = scan(&sources);
    for device in [None, syn::parse_str("crate::device::Demo").ok()] {
        let options = Options {
            device,
            device_type: None,
        };
        let plan = Plan::new(&found, &options);
        let text = print(&sources, &found, &plan, &options);
        assert!(
            text.bytes().all(|it| matches!(it, b'\n' | b' '..=b'~')),
            "{text:?}"
        );
        assert!(syn::parse_file(&text).is_ok(), "{text}");
    }
});
