//! Elementwise kernels, with broadcasting of two operands.

use sp_cpu::compute::arith::{self, Float, Number};
use sp_cpu::compute::map::{map1, map2};
use sp_cpu::compute::{Broadcast, cast, nn::relu};

use super::call::{Element, Type};
use super::{Call, Kernel, Role};
use crate::abi::{Result, Status};

/// A kernel of numbers or of real numbers, over one operand or two.
macro_rules! kernel {
    ($compute:ident, $name:literal, numbers, $function:expr) => {
        kernel!(@ $compute, $name, $function, F32 f32, F64 f64, I32 i32, I64 i64)
    };
    ($compute:ident, $name:literal, reals, $function:expr) => {
        kernel!(@ $compute, $name, $function, F32 f32, F64 f64)
    };
    (@ $compute:ident, $name:literal, $function:expr, $($tag:ident $ty:ty),*) => {
        Kernel {
            name: $name,
            arguments: kernel!(@ $compute),
            #[allow(unreachable_patterns, reason = "some kernels are for all types")]
            run: |call| match call.element_type(0)? {
                $(Type::$tag => $compute::<$ty>(call, $function),)*
                _ => Err(Status::INVALID_VALUE),
            },
        }
    };
    (@ unary) => { &[Role::In, Role::Out] };
    (@ binary) => { &[Role::In, Role::In, Role::Out] };
}

/// The kernels of this file.
pub const KERNELS: &[Kernel] = &[
    kernel!(binary, "add", numbers, arith::add),
    kernel!(binary, "sub", numbers, arith::sub),
    kernel!(binary, "mul", numbers, arith::mul),
    kernel!(binary, "maximum", numbers, maximum),
    kernel!(binary, "squared_difference", numbers, |x, y| arith::square(
        arith::sub(x, y)
    )),
    kernel!(binary, "relu_grad", numbers, relu::relu_grad),
    kernel!(binary, "div", reals, arith::real_div),
    kernel!(binary, "div_no_nan", reals, arith::div_no_nan),
    kernel!(binary, "pow", reals, arith::pow),
    kernel!(unary, "neg", numbers, arith::neg),
    kernel!(unary, "square", numbers, arith::square),
    kernel!(unary, "relu", numbers, relu::relu),
    kernel!(unary, "sqrt", reals, arith::sqrt),
    kernel!(unary, "rsqrt", reals, rsqrt),
    kernel!(unary, "exp", reals, Float::exp),
    kernel!(unary, "log", reals, Float::ln),
    Kernel {
        name: "cast",
        arguments: &[Role::In, Role::Out],
        run: |call| match call.element_type(0)? {
            Type::F32 => cast_from::<f32>(call),
            Type::F64 => cast_from::<f64>(call),
            Type::I32 => cast_from::<i32>(call),
            Type::I64 => cast_from::<i64>(call),
        },
    },
];

/// Returns the larger operand; NaN of either one is the result.
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn maximum<T: Number>(x: T, y: T) -> T {
    if x > y || x != x { x } else { y }
}

fn rsqrt<T: Float>(x: T) -> T {
    T::ONE.over(x.root())
}

fn unary<T: Element + Number>(call: &Call, function: impl Fn(T) -> T + Sync + Copy) -> Result {
    let x = call.input::<T>(0)?;
    let out = call.output::<T>(1)?;
    check(x.len() == out.len())?;
    map1(&x, out, function);
    Ok(())
}

fn binary<T: Element + Number>(call: &Call, function: impl Fn(T, T) -> T + Sync + Copy) -> Result {
    let plan = Broadcast::new([call.dims(0)?, call.dims(1)?]).map_err(|_| Status::INVALID_VALUE)?;
    let (x, y) = (call.input::<T>(0)?, call.input::<T>(1)?);
    let out = call.output::<T>(2)?;
    check(plan.len() == out.len())?;
    map2(&plan, &x, &y, out, function);
    Ok(())
}

fn cast_from<T>(call: &Call) -> Result
where
    T: Element + Sync + cast::Cast<f32> + cast::Cast<f64> + cast::Cast<i32> + cast::Cast<i64>,
{
    let x = call.input::<T>(0)?;
    check(call.dims(0)? == call.dims(1)?)?;
    match call.element_type(1)? {
        Type::F32 => cast::cast(&x, call.output::<f32>(1)?),
        Type::F64 => cast::cast(&x, call.output::<f64>(1)?),
        Type::I32 => cast::cast(&x, call.output::<i32>(1)?),
        Type::I64 => cast::cast(&x, call.output::<i64>(1)?),
    }
    Ok(())
}

/// Returns an error unless a shape is right.
pub fn check(is_valid: bool) -> Result {
    match is_valid {
        true => Ok(()),
        false => Err(Status::INVALID_VALUE),
    }
}
