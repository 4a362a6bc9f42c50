//! A type with the call could fetch inputs as any type.

use sp_plugin::Result;
use sp_plugin::__private::Call;
use sp_plugin::kernel::{In, Out, kernel};

struct Mine<'c>(&'c Call<'c>);

impl<'c> Mine<'c> {
    fn from_call(call: &'c Call<'c>) -> Result<Self> {
        Ok(Self(call))
    }
}

#[kernel(Relu, T = [f32])]
fn relu(#[context] mine: &Mine<'_>, features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    let _ = mine.0.input(0);
    activations.set(features)
}

fn main() {}
