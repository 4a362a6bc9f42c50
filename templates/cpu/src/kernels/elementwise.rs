//! Kernels that are one function on scalars. They write every element of their output, so they take it
//! uninitialised: zeros would be a third pass over memory.

use std::mem::MaybeUninit;

use sp_plugin::kernel::Host;
use sp_plugin::{Element, Result};

use crate::compute::map::{map1, map2_at};
use crate::compute::{Broadcast, Cost};

/// Output 0 is `f` of input 0, element by element.
///
/// # Errors
/// Where an input or output is not what the op says.
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

/// Output 0 is `f` of inputs 0 and 1, broadcast against each other.
///
/// # Errors
/// Where the shapes do not broadcast, or an input or output is not what the op says.
pub fn binary<T: Element, U: Element>(cx: &Host<'_>, f: impl Fn(T, T) -> U + Sync) -> Result<()> {
    binary_at(Cost::Cheap, cx, f)
}

/// [`binary`] with a function of this cost, which decides how finely the work is divided.
///
/// # Errors
/// As [`binary`].
pub fn binary_at<T: Element, U: Element>(
    cost: Cost,
    cx: &Host<'_>,
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    let (x, y) = (cx.input::<T>(0)?, cx.input::<T>(1)?);
    let plan = Broadcast::new([x.dims(), y.dims()])?;
    broadcast(cost, cx, &plan, [x.data(), y.data()], f)
}

/// Output 0 is `f` of two operands, broadcast as planned.
///
/// # Errors
/// If the output is not what the op says.
pub fn broadcast<T: Element, U: Element>(
    cost: Cost,
    cx: &Host<'_>,
    plan: &Broadcast<2>,
    [x, y]: [&[T]; 2],
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    map2_at(
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
