//! `Memory` is sealed: only sp-plugin's implementations may access addresses of device memory.

use std::ffi::c_void;

use sp_plugin::{Memory, Result};

struct Anywhere;

impl Memory for Anywhere {
    const STAGED: bool = false;

    unsafe fn fetch(&self, _: *mut c_void, _: *const c_void, _: usize) -> Result<()> {
        Ok(())
    }

    unsafe fn store(&self, _: *mut c_void, _: *const c_void, _: usize) -> Result<()> {
        Ok(())
    }
}

fn main() {}
