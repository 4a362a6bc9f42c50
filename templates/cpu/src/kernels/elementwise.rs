//! Kernels that apply one function on scalars. They write every element of their output, so they allocate it
//! uninitialized: zeroing would be a further pass over memory.

use std::mem::MaybeUninit;

use sp_plugin::kernel::Host;
use sp_plugin::{Element, Result};

use crate::compute::map::{map1, map2_with_cost};
use crate::compute::{Broadcast, Cost};

/// Writes `f` of each element of input 0 to output 0.
///
/// # Errors
/// Returns an error if an input or output is not what the op says.
pub fn unary<T: Element, U: Element>(cx: &Host<'_>, f: impl Fn(T) -> U + Sync) -> Result<()> {
    let x = cx.input::<T>(0)?;
    map1(
        x.data(),
        cx.output_uninit(0, x.dims())?,
        #[inline(always)]
        |x| MaybeUninit::new(f(x)),
    );
    Ok(())
}

/// Writes `f` of inputs 0 and 1, broadcast, to output 0.
///
/// # Errors
/// Returns an error if the shapes do not broadcast, or an input or output is not what the op says.
pub fn binary<T: Element, U: Element>(cx: &Host<'_>, f: impl Fn(T, T) -> U + Sync) -> Result<()> {
    binary_with_cost(Cost::Cheap, cx, f)
}

/// [`binary`] with a function of this cost, which decides how finely the work is divided.
///
/// # Errors
/// As [`binary`].
pub fn binary_with_cost<T: Element, U: Element>(
    cost: Cost,
    cx: &Host<'_>,
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    let (x, y) = (cx.input::<T>(0)?, cx.input::<T>(1)?);
    let plan = Broadcast::new([x.dims(), y.dims()])?;
    broadcast(cost, cx, &plan, [x.data(), y.data()], f)
}

/// Writes `f` of two operands, broadcast by `plan`, to output 0.
///
/// # Errors
/// Returns an error if the output is not what the op says.
pub fn broadcast<T: Element, U: Element>(
    cost: Cost,
    cx: &Host<'_>,
    plan: &Broadcast<2>,
    [x, y]: [&[T]; 2],
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    map2_with_cost(
        cost,
        plan,
        x,
        y,
        cx.output_uninit(0, plan.dims())?,
        #[inline(always)]
        |x, y| MaybeUninit::new(f(x, y)),
    );
    Ok(())
}
