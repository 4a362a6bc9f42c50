//! Kernels that read or change slices of a variable.

use super::gather::to_indices;
use super::prelude::*;
use super::strided_slice::MaskAttributes;
use crate::compute::movement::gather::Index as GatherIndex;
use crate::compute::movement::gather_nd::GatherNd;
use crate::compute::scatter_nd::{Accumulate, Deduct, Slices};
use sp_plugin::kernel::Variable;

#[kernel(
    ResourceGatherNd,
    dtype: T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128],
    Tindices: I = [i32, i64]
)]
fn gather<T: Element + Default, I: Element + GatherIndex>(
    resource: Variable<'_, T>,
    indices: In<'_, I>,
    output: Out<'_, T>,
) -> Result<()> {
    let mut lock = resource.lock()?;
    let table = lock.value()?;
    let plan = GatherNd::new(table.dims(), indices.dims())?;
    let mut output = output.zeroed(plan.output_dims())?;
    plan.gather(&table, indices.data(), T::default(), &mut output)?;
    Ok(())
}

#[kernel(
    ResourceStridedSliceAssign,
    T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128]
)]
fn assign_strided<T: Element>(
    r#ref: Variable<'_, T>,
    begin: HostIn<'_, Index>,
    end: HostIn<'_, Index>,
    strides: HostIn<'_, Index>,
    value: In<'_, T>,
    #[state] masks: &MaskAttributes,
) -> Result<()> {
    let mut lock = r#ref.lock()?;
    let mut variable = lock.value()?;
    let slice = masks.slice(variable.dims(), &begin, &end, &strides)?;
    Ok(slice.assign(value.dims(), value.data(), &mut variable)?)
}

/// Kernels that change slices: `name: Op, bound in [types] => f(old, new)`.
macro_rules! scatters {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*] => $f:expr;)*) => {
        $(
            #[kernel($op, T = [$($ty),*], Tindices = [i32, i64])]
            fn $name<T: Element + $bound>(
                r#ref: Variable<'_, T>,
                indices: BytesIn<'_>,
                updates: In<'_, T>,
                bad_indices_policy: &str, // since 2.18
            ) -> Result<()> {
                let mut lock = r#ref.lock()?;
                let mut table = lock.value()?;
                let plan = Slices::new(table.dims(), indices.dims(), updates.dims())?
                    .with_policy(bad_indices_policy)? // since 2.18
                    .checked(to_indices(&indices)?)?;
                plan.scatter(&mut table, to_indices(&indices)?, updates.data(), $f);
                Ok(())
            }
        )*

        table! { gather, assign_strided, $($name),* }
    };
}

scatters! {
    scatter_update: ResourceScatterNdUpdate, Element in [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => |_, new| new;
    scatter_add: ResourceScatterNdAdd, Accumulate in [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => T::accumulate;
    scatter_sub: ResourceScatterNdSub, Deduct in [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => T::deduct;
    scatter_min: ResourceScatterNdMin, Number in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64] => arith::least;
    scatter_max: ResourceScatterNdMax, Number in [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64] => arith::greatest;
}
