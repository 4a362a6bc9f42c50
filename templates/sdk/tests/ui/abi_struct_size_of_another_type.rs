//! `set_struct_size` writes a `usize`.

use sp_runtime::Abi;

#[derive(Clone, Copy, Abi)]
#[repr(C)]
#[abi(last = "flags")]
struct Mine {
    struct_size: u8,
    flags: u8,
}

fn main() {}
