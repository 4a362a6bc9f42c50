//! Casts from one element type to another.

use super::prelude::*;
use crate::compute::cast::Cast;

#[kernel(
    Cast,
    SrcT: S = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    DstT: D = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64]
)]
fn cast<S: Element + Cast<D>, D: Element>(x: In<'_, S>, y: Out<'_, D>) -> Result<()> {
    S::cast_slice(x.data(), y.uninit(x.dims())?.as_uninit_slice());
    Ok(())
}
