//! A parameter of one type of elements is none of another type, which may be smaller.

use sp_plugin::Element;
use sp_plugin::__private::OutputTarget;
use sp_plugin::kernel::{DataType, FromOutput, Out};

#[derive(Clone, Copy)]
#[repr(transparent)]
struct Small(f32);

// SAFETY: an `f32` in a transparent struct.
unsafe impl Element for Small {
    const DTYPE: DataType = DataType::TF_FLOAT;
}

impl<'c> FromOutput<'c, Small> for Out<'c, f64> {
    const HOST: bool = false;
    const HAS_HOST_ACCESS: bool = true;

    fn from_output(target: OutputTarget<'c>) -> Self {
        <Self as FromOutput<'c, f64>>::from_output(target)
    }
}

fn main() {}
