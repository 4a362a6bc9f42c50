//! A byte of a tensor may be neither 0 nor 1, so `bool` is not an element type.

use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

#[kernel(LogicalNot)]
fn logical_not(x: In<'_, bool>, y: Out<'_, bool>) -> Result<()> {
    y.set(x)
}

fn main() {}
