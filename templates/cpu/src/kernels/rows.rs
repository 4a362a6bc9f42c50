//! Kernels that read or change rows of a variable.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute;
use crate::compute::rows::{Selection, Updates};
use sp_plugin::kernel::{BytesIn, Kernel, Variable, kernels};

#[kernel(
    ResourceGather,
    dtype: T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64],
    Tindices = [i32, i64]
)]
fn gather<T: Element>(
    resource: Variable<'_, T>,
    indices: BytesIn<'_>,
    output: Out<'_, T>,
    batch_dims: usize,
) -> Result<()> {
    let mut lock = resource.lock()?;
    let table = lock.value()?;
    let selection = Selection::new(table.dims(), indices.dims(), batch_dims)?;
    let mut output = output.zeroed(selection.dims())?;
    Ok(selection.gather(&table, to_indices(&indices)?, &mut output)?)
}

/// Kernels that change rows: `name: Op, bound in [types] => f(old, new)`.
macro_rules! scatters {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*] => $f:expr;)*) => {
        $(
            #[kernel($op, dtype: T = [$($ty),*], Tindices = [i32, i64])]
            fn $name<T: Element + $bound>(
                resource: Variable<'_, T>,
                indices: BytesIn<'_>,
                updates: In<'_, T>,
            ) -> Result<()> {
                scatter(resource, &indices, &updates, $f)
            }
        )*

        /// Returns the kernels of this file.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![gather, scatter_div, $($name),*]
        }
    };
}

scatters! {
    scatter_add: ResourceScatterAdd, Number in [f32, f64, i32, i64] => arith::add;
    scatter_sub: ResourceScatterSub, Number in [f32, f64, i32, i64] => arith::sub;
    scatter_mul: ResourceScatterMul, Number in [f32, f64, i32, i64] => arith::mul;
    scatter_min: ResourceScatterMin, Number in [f32, f64, i32, i64] => |old, new| if new < old { new } else { old };
    scatter_max: ResourceScatterMax, Number in [f32, f64, i32, i64] => |old, new| if new > old { new } else { old };
    scatter_update: ResourceScatterUpdate, Element in [Bool, u8, i8, i16, u16, i32, u32, i64, u64, f32, f64] => |_, new| new;
}

#[kernel(ResourceScatterDiv, dtype: T = [f32, f64], Tindices = [i32, i64])]
fn scatter_div<T: Element + Float>(
    resource: Variable<'_, T>,
    indices: BytesIn<'_>,
    updates: In<'_, T>,
) -> Result<()> {
    if updates.data().contains(&T::ZERO) {
        return Err(compute::Error::Invalid("updates must not contain 0".into()).into());
    }
    scatter(resource, &indices, &updates, arith::real_div)
}

/// Changes the rows of a variable by `f(old, new)`.
fn scatter<T: Element>(
    resource: Variable<'_, T>,
    indices: &BytesIn<'_>,
    updates: &In<'_, T>,
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let mut lock = resource.lock()?;
    let mut table = lock.value()?;
    let selection = Selection::new(table.dims(), indices.dims(), 0)?;
    let updates = match updates.dims() {
        [] => Updates::One(updates.scalar()?),
        dims if dims == selection.dims() => Updates::Rows(updates.data()),
        dims => {
            let (updates, expected) = (dims.to_vec(), selection.dims().to_vec());
            return Err(compute::Error::UpdatesMismatch { updates, expected }.into());
        }
    };
    Ok(selection.scatter(&mut table, to_indices(indices)?, updates, f)?)
}
