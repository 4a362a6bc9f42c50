use sp_runtime::Abi;

#[derive(Clone, Copy, Abi)]
#[repr(C)]
#[abi(last = "ext", filled = "plugin")]
struct Mine {
    struct_size: usize,
    ext: *mut u8,
}

fn main() {}
