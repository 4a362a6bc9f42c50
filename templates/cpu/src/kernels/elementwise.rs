//! Kernels that apply one function on scalars; operands broadcast, integers wrap. They write every element of their
//! output, so they allocate it uninitialized: zeroing would be a further pass over memory.

use super::prelude::*;
use crate::compute::map::{TINY, map2, update, update_each};
use crate::compute::nn::relu;
use crate::compute::workspace::AnyBits;
use crate::compute::{Broadcast, precision};
use sp_plugin::kernel::{Forwarded, Kernel, kernels};
use std::mem::MaybeUninit;

/// Kernels of one operand: `name: Op(input) -> output, bound in [types] => function`.
macro_rules! unary {
    ($($name:ident: $op:ident($x:ident) -> $y:ident, $bound:ident in [$($ty:ident),*] => $f:path;)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + Precision<Compute: $bound>>($x: In<'_, T>, $y: Out<'_, T>) -> Result<()> {
            map_one($x, $y, $f)
        }
    )*};
}

/// Kernels of two operands: `name: Op, bound in [types], cost => function`.
macro_rules! binary {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*], $cost:ident => $f:path;)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + Precision<Compute: $bound>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
            map_two(cost::$cost, x, y, z, $f)
        }
    )*};
}

unary! {
    neg: Neg(x) -> y, Number in [F16, Bf16, f32, f64, i64] => arith::neg;
    relu: Relu(features) -> activations, Number in [F16, Bf16, f32, f64, i64] => relu::relu;
    sqrt: Sqrt(x) -> y, Float in [F16, Bf16, f32, f64] => arith::sqrt;
    square: Square(x) -> y, Number in [F16, Bf16, f32, f64, i64] => arith::square;
}

binary! {
    add_v2: AddV2, Number in [F16, Bf16, f32, f64, i64], Cheap => arith::add;
    div_no_nan: DivNoNan, Float in [F16, Bf16, f32, f64], Cheap => arith::div_no_nan;
    mul: Mul, Number in [F16, Bf16, f32, f64, i64], Cheap => arith::mul;
    pow: Pow, Float in [F16, Bf16, f32, f64], Expensive => arith::pow;
    real_div: RealDiv, Float in [F16, Bf16, f32, f64], Cheap => arith::real_div;
    sub: Sub, Number in [F16, Bf16, f32, f64, i64], Cheap => arith::sub;
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        neg, relu, sqrt, square, add_v2, div_no_nan, mul, pow, real_div, sub
    ]
}

/// Writes `f` of each element.
pub fn map_one<T: Element + Precision, U: Element + Precision>(
    x: In<'_, T>,
    y: Out<'_, U>,
    f: impl Fn(T::Compute) -> U::Compute + Sync + Copy,
) -> Result<()> {
    map_one_with_cost(cost::Cheap, x, y, f)
}

/// Writes `f` of each element; its cost decides how finely the work is divided.
pub fn map_one_with_cost<T: Element + Precision, U: Element + Precision>(
    cost: impl Cost,
    x: In<'_, T>,
    y: Out<'_, U>,
    f: impl Fn(T::Compute) -> U::Compute + Sync + Copy,
) -> Result<()> {
    let mut output = y.uninit(x.dims())?;
    precision::map_one(cost, x.data(), output.as_uninit_slice(), f);
    Ok(())
}

/// Writes `f` of the broadcast operands; its cost decides how finely the work is divided.
pub fn map_two<T: Element + Precision, U: Element + Precision>(
    cost: impl Cost,
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, U>,
    f: impl Fn(T::Compute, T::Compute) -> U::Compute + Sync + Copy,
) -> Result<()> {
    write_two(x, y, z, &|plan, operands, out| match plan {
        Some(plan) => precision::map_two(cost, plan, operands, out, f),
        None => precision::map_few(operands, out, f),
    })
}

/// Writes `f` of two operands in the buffer of the first one, if the result has its shape and no other tensor shares the buffer.
///
/// Core's collective ops, such as the all-reduce of `MirroredStrategy`, require it of the kernels of `Add` and `Div`: with them an
/// allocated output is an error.
pub fn map_two_in_place<T: Element + Precision>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, T>,
    f: impl Fn(T::Compute, T::Compute) -> T::Compute + Sync + Copy,
) -> Result<()> {
    let plan = Broadcast::new([x.dims(), y.dims()])?;
    let is_scalar = y.data().len() == 1 && y.dims().len() <= x.dims().len();
    if x.dims() != y.dims() && !is_scalar {
        return map_two(cost::Cheap, x, y, z, f);
    }
    match z.forward(x)? {
        Forwarded::InPlace(mut out) => T::update(&mut out, |out| match &*T::widened(y.data()) {
            &[y] => update_each(out, |x| f(x, y)),
            y => update(out, y, f),
        }),
        Forwarded::Fresh { input, mut output } => {
            let operands = [input.data(), y.data()];
            precision::map_two(cost::Cheap, &plan, operands, output.as_uninit_slice(), f);
        }
    }
    Ok(())
}

/// Writes `f` of the broadcast operands, in a loop for these types.
pub fn map_two_unconverted<T: Element + AnyBits, U: Element>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, U>,
    f: impl Fn(T, T) -> U + Sync + Copy,
) -> Result<()> {
    write_two(x, y, z, &|plan, [x, y], out| match plan {
        Some(plan) => map2(
            plan,
            x,
            y,
            out,
            #[inline(always)]
            |x, y| MaybeUninit::new(f(x, y)),
        ),
        None => out
            .iter_mut()
            .zip(x.iter().zip(y))
            .for_each(|(out, (x, y))| {
                out.write(f(*x, *y));
            }),
    })
}

/// Returns true if the result of two operands that broadcast has no elements. Kernels that reject values of an operand
/// compare the shapes first.
///
/// # Errors
/// Returns an error if the shapes do not broadcast.
pub fn is_result_empty<T: Element>(x: &In<'_, T>, y: &In<'_, T>) -> Result<bool> {
    Ok(Broadcast::new([x.dims(), y.dims()])?.is_empty())
}

/// A function that writes a result of two operands. Without a plan they have the result's shape.
type WriteTwo<'a, T, U> = dyn Fn(Option<&Broadcast<2>>, [&[T]; 2], &mut [MaybeUninit<U>]) + 'a;

/// Allocates the result of two operands that broadcast, and calls `write`: without a plan for a few elements of one
/// shape. It is compiled once for the types, not once for each function.
fn write_two<T: Element, U: Element>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, U>,
    write: &WriteTwo<'_, T, U>,
) -> Result<()> {
    let operands = [x.data(), y.data()];
    if x.dims() == y.dims() && x.len() <= TINY {
        write(None, operands, z.uninit(x.dims())?.as_uninit_slice());
        return Ok(());
    }
    let plan = Broadcast::new([x.dims(), y.dims()])?;
    let mut output = z.uninit(plan.dims())?;
    write(Some(&plan), operands, output.as_uninit_slice());
    Ok(())
}
