//! A plugin in Rust that panics where TensorFlow calls it. Compiled by rustc alone.
#![allow(non_snake_case)]

#[unsafe(no_mangle)]
extern "C" fn SE_InitPlugin(_params: *mut u8, _status: *mut u8) {
    panic!("no device today");
}
