//! Cast: from one element type to another.

use super::prelude::*;
use crate::compute::cast::Cast;

#[kernel(
    op = "Cast",
    SrcT = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    DstT = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64]
)]
fn cast<S: Element + Cast<D>, D: Element>(cx: &Host<'_>) -> Result<()> {
    let x = cx.input::<S>(0)?;
    S::cast_slice(x.data(), cx.output_uninit(0, x.dims())?);
    Ok(())
}
