//! The kernel would read the floats of the op that is registered as doubles.

use sp_plugin::Result;
use sp_plugin::kernel::{In, Out, kernel};

mod floats {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    #[op(Scale(x: f32) -> (y: f32))]
    pub fn scale(x: Shape) -> Result<Shape> {
        Ok(x)
    }
}

mod doubles {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    #[op(Scale(x: f64) -> (y: f64))]
    pub fn scale(x: Shape) -> Result<Shape> {
        Ok(x)
    }
}

mod ops {
    pub use super::doubles::*;
    pub type Scale = super::floats::Scale;
}

#[kernel(ops::Scale)]
fn scale(x: In<'_, f64>, y: Out<'_, f64>) -> Result<()> {
    y.set(x)
}

fn main() {}
