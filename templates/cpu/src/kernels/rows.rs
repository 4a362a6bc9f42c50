//! Kernels that read or change rows of a variable.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute;
use crate::compute::complex::Complex;
use crate::compute::division::Divide;
use crate::compute::rows::{Selection, Updates};
use crate::compute::scatter_nd::{Accumulate, Deduct};
use sp_plugin::kernel::{Kernel, Variable, kernels};

#[kernel(
    ResourceGather,
    dtype: T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128],
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
    ($table:ident: $($name:ident: $op:ident, $bound:ident in [$($ty:ident),*] => $f:expr;)*) => {
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

        fn $table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

scatters! { common:
    scatter_add: ResourceScatterAdd, Number in [f32, f64, i32, i64] => arith::add;
    scatter_sub: ResourceScatterSub, Number in [f32, f64, i32, i64] => arith::sub;
    scatter_mul: ResourceScatterMul, Number in [f32, f64, i32, i64] => arith::mul;
    scatter_min: ResourceScatterMin, Number in [f32, f64, i32, i64] => arith::least;
    scatter_max: ResourceScatterMax, Number in [f32, f64, i32, i64] => arith::greatest;
    scatter_update: ResourceScatterUpdate, Element in [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64, Complex64, Complex128] => |_, new| new;
}

// The functions of rare types are called by a pointer, so that all have one loop.
scatters! { rare:
    scatter_add_rare: ResourceScatterAdd, Number in [F16, Bf16, u8, i8, i16, u16, u32, u64] => arith::add as fn(T, T) -> T;
    scatter_sub_rare: ResourceScatterSub, Number in [F16, Bf16, u8, i8, i16, u16, u32, u64] => arith::sub as fn(T, T) -> T;
    scatter_mul_rare: ResourceScatterMul, Number in [F16, Bf16, u8, i8, i16, u16, u32, u64] => arith::mul as fn(T, T) -> T;
    scatter_min_rare: ResourceScatterMin, Number in [F16, Bf16, u8, i8, i16, u16, u32, u64] => arith::least as fn(T, T) -> T;
    scatter_max_rare: ResourceScatterMax, Number in [F16, Bf16, u8, i8, i16, u16, u32, u64] => arith::greatest as fn(T, T) -> T;
}

scatters! { complex:
    scatter_add_complex: ResourceScatterAdd, Accumulate in [Complex64, Complex128] => T::accumulate as fn(T, T) -> T;
    scatter_sub_complex: ResourceScatterSub, Deduct in [Complex64, Complex128] => T::deduct as fn(T, T) -> T;
    scatter_mul_complex: ResourceScatterMul, Complex in [Complex64, Complex128] => T::mul as fn(T, T) -> T;
}

#[kernel(ResourceScatterDiv, dtype: T = [F16, Bf16, f32, f64, u8, i8, u16, i16, u32, i32, u64, i64], Tindices = [i32, i64])]
fn scatter_div<T: Element + Precision<Compute: Divide>>(
    resource: Variable<'_, T>,
    indices: BytesIn<'_>,
    updates: In<'_, T>,
) -> Result<()> {
    check_divisors(&updates, |it| it.to_compute() == T::Compute::ZERO)?;
    let f: fn(T, T) -> T = |old, new| T::from_compute(old.to_compute().div(new.to_compute()));
    scatter(resource, &indices, &updates, f)
}

#[kernel(ResourceScatterDiv, dtype: T = [Complex64, Complex128], Tindices = [i32, i64])]
fn scatter_div_complex<T: Element + Complex>(
    resource: Variable<'_, T>,
    indices: BytesIn<'_>,
    updates: In<'_, T>,
) -> Result<()> {
    check_divisors(&updates, |it| it == T::default())?;
    scatter(resource, &indices, &updates, T::quotient as fn(T, T) -> T)
}

/// Checks that no update is 0.
fn check_divisors<T: Element>(updates: &In<'_, T>, is_zero: fn(T) -> bool) -> Result<()> {
    match updates.data().iter().any(|it| is_zero(*it)) {
        true => Err(compute::Error::Invalid("updates must not contain 0".into()).into()),
        false => Ok(()),
    }
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![gather, scatter_div, scatter_div_complex];
    for family in [common(), rare(), complex()] {
        table.extend(family);
    }
    table
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
