//! Tensors without defined elements, copies, and changes of rows. A change is in the operand's buffer if nobody else uses
//! it.

use super::movement::fill_bytes;
use super::prelude::*;
use crate::compute::inplace::change_rows;
use sp_plugin::kernel::Forwarded;
use std::mem::MaybeUninit;

#[kernel(Empty, dtype = [..])]
fn empty(shape: HostIn<'_, i32>, output: BytesOut<'_>, init: bool) -> Result<()> {
    let dims = super::image::shape("shape", &shape)?;
    crate::compute::movement::checked_len(&dims)?;
    let mut output = output.uninit(&dims)?;
    if init {
        fill_bytes(output.as_uninit_slice(), &[MaybeUninit::new(0)], 1);
    }
    Ok(())
}

#[kernel(Snapshot, T = [..])]
fn snapshot(input: BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    copy(&input, output)
}

/// Copy of a tensor. Core has the kernel of int32.
#[kernel(DeepCopy, T = [Bool, u8, i8, u64, i64, F16, Bf16, f32, f64])]
fn deep_copy(x: BytesIn<'_>, y: BytesOut<'_>) -> Result<()> {
    copy(&x, y)
}

fn copy(input: &BytesIn<'_>, output: BytesOut<'_>) -> Result<()> {
    let mut output = output.uninit(input.dims())?;
    output
        .as_uninit_slice()
        .copy_from_slice(input.as_uninit_slice());
    Ok(())
}

/// Kernels that change rows: `name: Op in [types] => f(old, new)`. Core has those of int32.
macro_rules! changes {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*] => $f:expr;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + $bound>(
                x: In<'_, T>,
                i: In<'_, i32>,
                v: In<'_, T>,
                y: Out<'_, T>,
            ) -> Result<()> {
                change(x, i, v, y, $f)
            }
        )*

        table! { empty, snapshot, deep_copy, $($name),* }
    };
}

changes! {
    update: InplaceUpdate, Element in [Bool, u8, i8, u64, i64, F16, Bf16, f32, f64] => |_, new| new;
    add: InplaceAdd, Number in [u8, i8, u64, i64, F16, Bf16, f32, f64] => arith::add;
    sub: InplaceSub, Number in [u8, i8, u64, i64, F16, Bf16, f32, f64] => arith::sub;
}

fn change<T: Element>(
    x: In<'_, T>,
    indices: In<'_, i32>,
    v: In<'_, T>,
    y: Out<'_, T>,
    f: impl Fn(T, T) -> T,
) -> Result<()> {
    check_rows(x.dims(), indices.dims(), v.dims())?;
    let rows = x.dims().first().copied().unwrap_or(0);
    let write = |y: &mut [T]| change_rows(y, rows, indices.data(), v.data(), f);
    match y.forward(x)? {
        Forwarded::InPlace(mut y) => write(&mut y),
        Forwarded::Fresh { input, output } => write(&mut output.copy_from_slice(input.data())?),
    }
    Ok(())
}

/// Checks that there is a row of `v`, as long as those of `x`, for each index.
fn check_rows(x: &[usize], indices: &[usize], v: &[usize]) -> Result<()> {
    let invalid = |text: String| Err(Error::invalid_argument(text));
    match (x, indices, v) {
        (_, [] | [_, _, ..], _) => invalid(format!("i must be a vector, not of shape {indices:?}")),
        ([_, row @ ..], _, [_, new @ ..]) if row != new => invalid(format!(
            "rows of x of shape {x:?} and of v of shape {v:?} must have one shape"
        )),
        ([], ..) | (.., []) => invalid(format!(
            "rows of x of shape {x:?} and of v of shape {v:?} must have one shape"
        )),
        (_, [count], [rows, ..]) if count != rows => invalid(format!(
            "{count} indices need as many rows, not v of shape {v:?}"
        )),
        _ => Ok(()),
    }
}
