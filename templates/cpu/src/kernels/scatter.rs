//! Kernels that change slices of a tensor, or of zeros.

use super::gather::to_indices;
use super::movement::{check_vector, shape_of};
use super::prelude::*;
use crate::compute::scatter_nd::{Accumulate, Deduct, Slices};
use sp_plugin::kernel::Forwarded;

#[kernel(ScatterNd, T = [..], Tindices = [i32, i64])]
fn scatter_nd<T: Element + Accumulate>(
    indices: BytesIn<'_>,
    updates: In<'_, T>,
    shape: HostIn<'_, Index>,
    output: Out<'_, T>,
    bad_indices_policy: &str, // since 2.18
) -> Result<()> {
    check_vector("shape", shape.dims())?;
    let dims = shape_of(&shape)?;
    let plan = Slices::new(&dims, indices.dims(), updates.dims())?
        .with_policy(bad_indices_policy)? // since 2.18
        .checked(to_indices(&indices)?)?;
    let mut output = output.zeroed(&dims)?;
    plan.scatter(
        &mut output,
        to_indices(&indices)?,
        updates.data(),
        T::accumulate,
    );
    Ok(())
}

/// Kernels of a changed copy: `name: Op(tensor), bound in [types] => f(old, new)`.
macro_rules! scatters {
    ($($name:ident: $op:ident($tensor:ident), $bound:ident in [$($ty:tt)*] => $f:expr;)*) => {
        $(
            #[kernel($op, T = [$($ty)*], Tindices = [i32, i64])]
            fn $name<T: Element + $bound>(
                $tensor: In<'_, T>,
                indices: BytesIn<'_>,
                updates: In<'_, T>,
                output: Out<'_, T>,
                bad_indices_policy: &str, // since 2.18
            ) -> Result<()> {
                let plan = Slices::new($tensor.dims(), indices.dims(), updates.dims())?
                    .with_policy(bad_indices_policy)? // since 2.18
                    .checked(to_indices(&indices)?)?;
                change(&plan, $tensor, &indices, &updates, $f, output)
            }
        )*

        table! { scatter_nd, $($name),* }
    };
}

scatters! {
    update: TensorScatterUpdate(tensor), Element in [..] => |_, new| new;
    add: TensorScatterAdd(tensor), Accumulate in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => T::accumulate;
    sub: TensorScatterSub(tensor), Deduct in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => T::deduct;
    min: TensorScatterMin(tensor), Number in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64] => arith::least;
    max: TensorScatterMax(tensor), Number in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64] => arith::greatest;
    add_in_place: ScatterNdNonAliasingAdd(input), Accumulate in [..] => T::accumulate;
}

/// Writes the changed tensor, in the buffer of the input if nobody else uses it.
fn change<T: Element>(
    plan: &Slices,
    tensor: In<'_, T>,
    indices: &BytesIn<'_>,
    updates: &In<'_, T>,
    f: impl Fn(T, T) -> T,
    output: Out<'_, T>,
) -> Result<()> {
    let mut output = match output.forward(tensor)? {
        Forwarded::InPlace(output) => output,
        Forwarded::Fresh { input, output } => output.copy_from_slice(input.data())?,
    };
    plan.scatter(&mut output, to_indices(indices)?, updates.data(), f);
    Ok(())
}
