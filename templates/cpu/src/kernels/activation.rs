//! Elementary and activation functions, their gradients, sums of several tensors.

use super::elementwise::{map_one, map_one_with_cost, map_two, map_two_in_place};
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::activation as f;
use crate::compute::{Broadcast, precision};
use sp_plugin::kernel::{InList, Kernel, kernels};

/// Functions of one float: `name: Op(input) -> output, cost => function`.
macro_rules! unary {
    ($table:ident: $($name:ident: $op:ident($x:ident) -> $y:ident, $cost:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64])]
            fn $name<T: Element + Precision<Compute: Elementary>>($x: In<'_, T>, $y: Out<'_, T>) -> Result<()> {
                // A closure, since the compiler may not inline the call of a long function through `Fn`.
                map_one_with_cost(cost::$cost, $x, $y, #[inline(always)] |x| $f(x))
            }
        )*

        fn $table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Functions of one float that the C library computes: `name: Op => function`. They are called by a pointer, so that all
/// have one loop: they are no vector code.
macro_rules! library {
    ($table:ident: $($name:ident: $op:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64])]
            fn $name<T: Element + Precision<Compute: Elementary>>(x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
                let f: fn(T::Compute) -> T::Compute = $f;
                map_one_with_cost(cost::Expensive, x, y, f)
            }
        )*

        fn $table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Functions of two tensors that broadcast: `name: Op, bound in [types], cost => function`.
macro_rules! binary {
    ($table:ident: $($name:ident: $op:ident, $bound:ident in [$($ty:ident),*], $cost:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [$($ty),*])]
            fn $name<T: Element + Precision<Compute: $bound>>(x: In<'_, T>, y: In<'_, T>, z: Out<'_, T>) -> Result<()> {
                map_two(cost::$cost, x, y, z, $f)
            }
        )*

        fn $table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Gradients: `name: Op(first, second) -> output, cost => function`.
macro_rules! gradients {
    ($table:ident: $($name:ident: $op:ident($x:ident, $y:ident) -> $z:ident, $cost:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64])]
            fn $name<T: Element + Precision<Compute: Elementary>>($x: In<'_, T>, $y: In<'_, T>, $z: Out<'_, T>) -> Result<()> {
                check_same(($x.dims(), stringify!($x)), ($y.dims(), stringify!($y)))?;
                map_two(cost::$cost, $x, $y, $z, $f)
            }
        )*

        fn $table() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

unary! { functions:
    ceil: Ceil(x) -> y, Cheap => Elementary::round_up;
    elu: Elu(features) -> activations, Moderate => f::elu;
    erf: Erf(x) -> y, Moderate => Elementary::error_function;
    erfc: Erfc(x) -> y, Moderate => Elementary::error_complement;
    exp: Exp(x) -> y, Moderate => Float::exp;
    expm1: Expm1(x) -> y, Moderate => Elementary::exp_minus_one;
    floor: Floor(x) -> y, Cheap => Elementary::round_down;
    inv: Inv(x) -> y, Cheap => f::reciprocal;
    log: Log(x) -> y, Moderate => Elementary::natural_log;
    log1p: Log1p(x) -> y, Moderate => Elementary::ln_plus_one;
    reciprocal: Reciprocal(x) -> y, Cheap => f::reciprocal;
    relu6: Relu6(features) -> activations, Cheap => f::relu6;
    rint: Rint(x) -> y, Cheap => Elementary::round_even;
    round: Round(x) -> y, Cheap => Elementary::round_even;
    rsqrt: Rsqrt(x) -> y, Cheap => f::rsqrt;
    selu: Selu(features) -> activations, Moderate => f::selu;
    sigmoid: Sigmoid(x) -> y, Moderate => Elementary::logistic;
    softplus: Softplus(features) -> activations, Moderate => f::softplus;
    softsign: Softsign(features) -> activations, Cheap => f::softsign;
    tanh: Tanh(x) -> y, Moderate => Elementary::hyperbolic_tangent;
    abs: Abs(x) -> y, Cheap => f::abs;
    sign: Sign(x) -> y, Cheap => f::sign;
    acos: Acos(x) -> y, Moderate => Elementary::arc_cosine;
    asin: Asin(x) -> y, Moderate => Elementary::arc_sine;
    atan: Atan(x) -> y, Moderate => Elementary::arc_tangent;
    cos: Cos(x) -> y, Tabulated => Elementary::cosine;
    sin: Sin(x) -> y, Tabulated => Elementary::sine;
    tan: Tan(x) -> y, Tabulated => Elementary::tangent;
}

library! { scalars:
    cosh: Cosh => Elementary::hyperbolic_cosine;
    sinh: Sinh => Elementary::hyperbolic_sine;
}

binary! { operators:
    maximum: Maximum, Number in [F16, Bf16, f32, f64, i64], Cheap => f::maximum;
    minimum: Minimum, Number in [F16, Bf16, f32, f64, i64], Cheap => f::minimum;
    mul_no_nan: MulNoNan, Elementary in [F16, Bf16, f32, f64], Cheap => f::mul_no_nan;
    squared_difference: SquaredDifference, Number in [F16, Bf16, f32, f64, i64], Cheap => f::squared_difference;
    xdivy: Xdivy, Elementary in [F16, Bf16, f32, f64], Cheap => f::xdivy;
    xlog1py: Xlog1py, Elementary in [F16, Bf16, f32, f64], Expensive => f::xlog1py;
    xlogy: Xlogy, Elementary in [F16, Bf16, f32, f64], Expensive => f::xlogy;
}

gradients! { slopes:
    elu_grad: EluGrad(gradients, outputs) -> backprops, Cheap => f::elu_grad;
    inv_grad: InvGrad(y, dy) -> z, Cheap => f::reciprocal_grad;
    reciprocal_grad: ReciprocalGrad(y, dy) -> z, Cheap => f::reciprocal_grad;
    relu6_grad: Relu6Grad(gradients, features) -> backprops, Cheap => f::relu6_grad;
    rsqrt_grad: RsqrtGrad(y, dy) -> z, Cheap => f::rsqrt_grad;
    selu_grad: SeluGrad(gradients, outputs) -> backprops, Cheap => f::selu_grad;
    sigmoid_grad: SigmoidGrad(y, dy) -> z, Cheap => f::sigmoid_grad;
    softplus_grad: SoftplusGrad(gradients, features) -> backprops, Expensive => f::softplus_grad;
    softsign_grad: SoftsignGrad(gradients, features) -> backprops, Cheap => f::softsign_grad;
    sqrt_grad: SqrtGrad(y, dy) -> z, Cheap => f::sqrt_grad;
    tanh_grad: TanhGrad(y, dy) -> z, Cheap => f::tanh_grad;
}

#[kernel(LeakyRelu, T = [F16, Bf16, f32, f64])]
fn leaky_relu<T: Element + Precision<Compute: Elementary>>(
    features: In<'_, T>,
    activations: Out<'_, T>,
    alpha: f32,
) -> Result<()> {
    map_one(features, activations, f::leaky_relu(constant::<T>(alpha)))
}

#[kernel(LeakyReluGrad, T = [F16, Bf16, f32, f64])]
fn leaky_relu_grad<T: Element + Precision<Compute: Elementary>>(
    gradients: In<'_, T>,
    features: In<'_, T>,
    backprops: Out<'_, T>,
    alpha: f32,
) -> Result<()> {
    check_same(
        (gradients.dims(), "gradients"),
        (features.dims(), "features"),
    )?;
    let slope = f::leaky_relu_grad(constant::<T>(alpha));
    map_two(cost::Cheap, gradients, features, backprops, slope)
}

/// Converts an attribute, which TensorFlow rounds to `T`.
fn constant<T: Precision<Compute: Elementary>>(value: f32) -> T::Compute {
    T::from_compute(T::Compute::constant(value.into())).to_compute()
}

/// The sum of tensors of one shape, from the first to the last.
#[kernel(AddN, T = [F16, Bf16, f32, f64, u8, i8, i64])]
fn add_n<T: Element + Precision<Compute: Number>>(
    inputs: InList<'_, T>,
    sum: Out<'_, T>,
) -> Result<()> {
    let inputs = inputs.fetch()?;
    let Some(first) = inputs.first() else {
        return Err(Error::invalid_argument("expected one input or more"));
    };
    for (index, input) in inputs.iter().enumerate().skip(1) {
        if input.dims() != first.dims() {
            return invalid!(
                "Inputs to operation AddN must have the same size and shape. Input 0: {} != input {index}: {}",
                Dims(first.dims()),
                Dims(input.dims())
            );
        }
    }
    let mut output = sum.uninit(first.dims())?;
    let operands: InlineList<&[T]> = inputs.iter().map(|it| it.data()).collect();
    match &operands[..] {
        [only] => {
            output.copy_from_slice(only)?;
        }
        [x, y] => precision::map_two(
            cost::Cheap,
            &Broadcast::of_equal_shapes(first.dims()),
            [x, y],
            output.as_uninit_slice(),
            arith::add,
        ),
        all => precision::map_all(cost::Cheap, all, output.as_uninit_slice(), arith::add),
    }
    Ok(())
}

#[kernel(Add, T = [F16, Bf16, f32, f64, i64])]
fn add<T: Element + Precision<Compute: Number>>(
    x: In<'_, T>,
    y: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()> {
    map_two_in_place(x, y, z, arith::add)
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

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![leaky_relu, leaky_relu_grad, add, add_n];
    for family in [functions(), scalars(), operators(), slopes()] {
        table.extend(family);
    }
    table
}
