//! Kernels that apply one function on scalars; operands broadcast, integers wrap. They write every element of their
//! output, so they allocate it uninitialized: zeroing would be a further pass over memory.

mod classes;

use super::prelude::*;
use crate::compute::arith::Integer;
use crate::compute::division::{self, Divide};
use crate::compute::elementary::Elementary;
use crate::compute::map::{TINY, map2, update, update_each};
use crate::compute::nn::epilogue::Activation;
use crate::compute::nn::{activation as f, relu};
use crate::compute::ops::elementwise::elementwise_ops;
use crate::compute::special::Special;
use crate::compute::steps::{Body, Function};
use crate::compute::workspace::AnyBits;
use crate::compute::{
    Broadcast, bessel, bits, complex as c, incomplete, integrals, precision, relation,
};
use sp_plugin::kernel::{Forwarded, Kernel, StepOperands};
use std::mem::MaybeUninit;

/// Returns the kernels of the table of elementwise ops.
pub fn table() -> Vec<&'static Kernel> {
    elementwise_ops!([crate::elementwise_kernels] [])
}

/// States the uses of kernels in fused nodes: as a step by one of these functions, and as an activation.
#[doc(hidden)]
pub fn state_fused_uses(kernels: &[&'static Kernel], step: impl Fn(&str) -> Option<Function>) {
    for kernel in kernels {
        let op = kernel.op().to_string_lossy();
        if let Some(function) = step(&op) {
            kernel.with_step(operands(function.body), function);
        }
        if Activation::of_op(&op, 0.0).is_some() {
            kernel.with_activation();
        }
    }
}

fn operands(body: Body) -> StepOperands {
    match body {
        Body::One(_) => StepOperands::One,
        Body::Two(_) => StepOperands::Broadcasting,
        Body::TwoOfOneShape(_) => StepOperands::OfOneShape,
    }
}

/// Returns the kernels of rows, as those of sp-cpu's table of elementwise ops, for ops that the plugin defines in a module:
///
/// ```text
/// fn softcap<T: Elementary>(x: T) -> T { .. }
///
/// let kernels = sp_cpu::elementwise! {
///     ops: One { Softcap(x) -> y: Moderate, step(f32) { floats => softcap } }
/// };
/// ```
///
/// With `step(f32)` trees with the op are one node, if the table with these kernels has sp-cpu's too. The classes after the
/// cost are in `compute/ops/elementwise.rs`. Activations of products are ops of sp-cpu only.
#[macro_export]
macro_rules! elementwise {
    ($module:ident: $($rows:tt)+) => {{
        let kernels = $crate::elementwise_kernels!([$module::] $($rows)+);
        let functions = $crate::elementwise_functions!($($rows)+);
        let step = |op: &str| functions.iter().find(|it| it.op == op).copied();
        $crate::kernels::elementwise::state_fused_uses(&kernels, step);
        $crate::kernels::known_shapes::state_unchecked(&kernels);
        kernels
    }};
}

/// Writes `f` of each element; its cost decides how finely the work is divided.
pub fn map_one<T: Element + Precision, U: Element + Precision>(
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

/// Calls `write` for operands that broadcast, and writes `other` if they do not.
///
/// # Errors
/// Returns an error if the operands do not broadcast, and `other` is `None`.
pub fn write_unless_incompatible<'a, T: Element>(
    x: In<'a, T>,
    y: In<'a, T>,
    z: Out<'a, Bool>,
    other: Option<bool>,
    write: impl FnOnce(In<'a, T>, In<'a, T>, Out<'a, Bool>) -> Result<()>,
) -> Result<()> {
    match other {
        Some(other) if Broadcast::new([x.dims(), y.dims()]).is_err() => {
            z.uninit(&[])?.fill(Bool::from(other));
            Ok(())
        }
        _ => write(x, y, z),
    }
}

/// Writes the gradient of a complex result `y` from the gradient `dy` of it.
pub fn map_gradient(
    y: In<'_, Complex64>,
    dy: In<'_, Complex64>,
    z: Out<'_, Complex64>,
    f: fn(Complex64, Complex64) -> Complex64,
) -> Result<()> {
    // TensorFlow compares the shapes only if there is a gradient to compute.
    if y.is_empty() {
        z.uninit(y.dims())?.fill(Complex64::ZERO);
        return Ok(());
    }
    check_same((y.dims(), "y"), (dy.dims(), "dy"))?;
    map_two(cost::Expensive, y, dy, z, f)
}

/// Checks that two inputs have one shape.
pub fn check_same((x, x_name): (&[usize], &str), (y, y_name): (&[usize], &str)) -> Result<()> {
    match x == y {
        true => Ok(()),
        false => invalid!(
            "{x_name} and {y_name} must have the same size and shape: {} != {}",
            Dims(x),
            Dims(y)
        ),
    }
}

/// Checks that no divisor of an integer is 0, if the result has elements: TensorFlow compares the shapes first.
pub fn check_divisors<T>(x: &In<'_, T>, y: &In<'_, T>) -> Result<()>
where
    T: Element + Precision<Compute: Divide>,
{
    if T::Compute::IS_INTEGER && !is_result_empty(x, y)? {
        division::check_divisors(y.data())?;
    }
    Ok(())
}

/// Checks that no exponent of an integer is negative, as [`check_divisors`].
pub fn check_exponents<T>(x: &In<'_, T>, y: &In<'_, T>) -> Result<()>
where
    T: Element + Precision<Compute = i64>,
{
    if !is_result_empty(x, y)? {
        arith::check_exponents(&T::widened(y.data()))?;
    }
    Ok(())
}

/// Returns true if the result of two operands that broadcast has no elements.
fn is_result_empty<T: Element>(x: &In<'_, T>, y: &In<'_, T>) -> Result<bool> {
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
