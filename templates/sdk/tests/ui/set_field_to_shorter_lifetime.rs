//! The struct would have a reference to memory that is freed.

use sp_runtime::{Abi, PrefixMut};

#[derive(Clone, Copy, Abi)]
#[repr(C)]
#[abi(last = "text")]
struct Labelled {
    struct_size: usize,
    text: &'static str,
}

fn label(mut labelled: PrefixMut<'_, Labelled>) {
    let text = String::from("freed");
    labelled.set(Labelled::text, text.as_str());
}

fn main() {}
