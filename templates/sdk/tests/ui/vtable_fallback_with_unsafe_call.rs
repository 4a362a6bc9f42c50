//! The fallback is an expression of the author's, not a part of the expansion's unsafe block.

use sp_runtime::vtable;

trait Table {
    /// # Safety
    /// `size` bytes may be copied.
    unsafe fn copy(&self, size: u64);
}

macro_rules! Table {
    ([$($forward:tt)*] $($rest:tt)*) => {
        $($forward)*! { { unsafe fn copy(&self, size: u64); } $($rest)* }
    };
}

struct Reference;

impl Table for Reference {
    unsafe fn copy(&self, _: u64) {}
}

struct Mine {
    reference: *const Reference,
}

unsafe fn reference<'a>(this: &'a Mine) -> &'a Reference {
    unsafe { &*this.reference }
}

#[vtable(fallback = reference(self): Reference)]
impl Table for Mine {}

fn main() {}
