//! Kernels that apply one function on scalars; operands broadcast, integers wrap. They write every element of their
//! output, so they allocate it uninitialized: zeroing would be a further pass over memory.

use super::prelude::*;
use crate::compute::Broadcast;
use crate::compute::map::{TINY, map1_with_cost, map2_with_cost};
use crate::compute::nn::relu;
use sp_plugin::kernel::{Kernel, kernels};
use std::mem::MaybeUninit;

/// Kernels of one operand: `name: Op(input) -> output, bound in [types] => function`.
macro_rules! unary {
    ($($name:ident: $op:ident($x:ident) -> $y:ident, $bound:ident in [$($ty:ident),*] => $f:path;)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + $bound>($x: In<'_, T>, $y: Out<'_, T>) -> Result<()> {
            map_one($x, $y, $f)
        }
    )*};
}

/// Kernels of two operands: `name: Op, bound in [types], cost => function`.
macro_rules! binary {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*], $cost:ident => $f:path;)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + $bound>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
            map_two(Cost::$cost, x, y, z, $f)
        }
    )*};
}

unary! {
    neg: Neg(x) -> y, Number in [f32, f64, i64] => arith::neg;
    relu: Relu(features) -> activations, Number in [f32, f64, i64] => relu::relu;
    sqrt: Sqrt(x) -> y, Float in [f32, f64] => arith::sqrt;
    square: Square(x) -> y, Number in [f32, f64, i64] => arith::square;
}

binary! {
    add_v2: AddV2, Number in [f32, f64, i64], Cheap => arith::add;
    div_no_nan: DivNoNan, Float in [f32, f64], Cheap => arith::div_no_nan;
    mul: Mul, Number in [f32, f64, i64], Cheap => arith::mul;
    pow: Pow, Float in [f32, f64], Expensive => arith::pow;
    real_div: RealDiv, Float in [f32, f64], Cheap => arith::real_div;
    sub: Sub, Number in [f32, f64, i64], Cheap => arith::sub;
}

/// Has no negative powers.
#[kernel(Pow, T = [i64])]
fn pow_int<T: Element + Integer>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
    arith::check_exponents(y.data())?;
    map_two(Cost::Expensive, x, y, z, arith::pow_int)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        neg, relu, sqrt, square, add_v2, div_no_nan, mul, pow, pow_int, real_div, sub
    ]
}

/// Writes `f` of each element.
pub fn map_one<T: Element, U: Element>(
    x: In<'_, T>,
    y: Out<'_, U>,
    f: impl Fn(T) -> U + Sync,
) -> Result<()> {
    map_one_with_cost(Cost::Cheap, x, y, f)
}

/// Writes `f` of each element; its cost decides how finely the work is divided.
pub fn map_one_with_cost<T: Element, U: Element>(
    cost: Cost,
    x: In<'_, T>,
    y: Out<'_, U>,
    f: impl Fn(T) -> U + Sync,
) -> Result<()> {
    map1_with_cost(
        cost,
        x.data(),
        y.uninit(x.dims())?.as_uninit_slice(),
        #[inline(always)]
        |x| MaybeUninit::new(f(x)),
    );
    Ok(())
}

/// Writes `f` of the broadcast operands; its cost decides how finely the work is divided.
pub fn map_two<T: Element, U: Element>(
    cost: Cost,
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, U>,
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    if x.dims() == y.dims() && x.len() <= TINY {
        return map_tiny(&x, &y, z, f);
    }
    let plan = Broadcast::new([x.dims(), y.dims()])?;
    map_broadcast(cost, &plan, [x.data(), y.data()], z, f)
}

/// Writes `f` of a few elements of operands of one shape, without a plan.
fn map_tiny<T: Element, U: Element>(
    x: &In<'_, T>,
    y: &In<'_, T>,
    z: Out<'_, U>,
    f: impl Fn(T, T) -> U,
) -> Result<()> {
    let pairs = x.data().iter().zip(y.data());
    let mut output = z.uninit(x.dims())?;
    for (z, (x, y)) in output.as_uninit_slice().iter_mut().zip(pairs) {
        z.write(f(*x, *y));
    }
    Ok(())
}

/// Writes `f` of two operands that `plan` broadcasts.
pub fn map_broadcast<T: Element, U: Element>(
    cost: Cost,
    plan: &Broadcast<2>,
    [x, y]: [&[T]; 2],
    z: Out<'_, U>,
    f: impl Fn(T, T) -> U + Sync,
) -> Result<()> {
    map2_with_cost(
        cost,
        plan,
        x,
        y,
        z.uninit(plan.dims())?.as_uninit_slice(),
        #[inline(always)]
        |x, y| MaybeUninit::new(f(x, y)),
    );
    Ok(())
}
