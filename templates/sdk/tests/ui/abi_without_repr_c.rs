use sp_runtime::Abi;

#[derive(Clone, Copy, Abi)]
#[abi(last = "ext")]
struct Mine {
    struct_size: usize,
    ext: *mut u8,
}

fn main() {}
