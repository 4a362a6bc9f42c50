//! Views read and write a field in each layout by a pointer: an offset that is not aligned is not accepted.

#![forbid(unsafe_code)]

use sp_runtime::Abi;

#[derive(Clone, Copy, Abi)]
#[abi(last = "second", epochs = "2.5..2.6 = 17, 2.7.. = 24")]
#[repr(C)]
struct Misaligned {
    struct_size: usize,
    first: u64,
    #[abi(offsets = "17 = 9, 24 = 16")]
    second: u64,
}

fn main() {}
