//! Elementwise functions of complex numbers. They are called by a pointer, so that all have one loop.

use super::activation::check_same;
use super::elementwise::{map_one_with_cost, map_two};
use super::prelude::*;
use super::relation::write_unless_incompatible;
use crate::compute::complex as f;
use crate::compute::relation;
use sp_plugin::Complex64;
use sp_plugin::kernel::{Kernel, kernels};

/// Functions of one number: `name: Op(input) -> output => function`.
macro_rules! unary {
    ($($name:ident: $op:ident($x:ident) -> $y:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64])]
            fn $name($x: In<'_, Complex64>, $y: Out<'_, Complex64>) -> Result<()> {
                let f: fn(Complex64) -> Complex64 = $f;
                map_one_with_cost(cost::Expensive, $x, $y, f)
            }
        )*

        fn functions() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Real functions of one number: `name: Op(input) -> output => function`.
macro_rules! real {
    ($($name:ident: $op:ident($x:ident) -> $y:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64], Tout = [f32])]
            fn $name($x: In<'_, Complex64>, $y: Out<'_, f32>) -> Result<()> {
                let f: fn(Complex64) -> f32 = $f;
                map_one_with_cost(cost::Expensive, $x, $y, f)
            }
        )*

        fn properties() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Functions of two numbers that broadcast: `name: Op => function`.
macro_rules! binary {
    ($($name:ident: $op:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64])]
            fn $name(x: In<'_, Complex64>, y: In<'_, Complex64>, z: Out<'_, Complex64>) -> Result<()> {
                let f: Operator = $f;
                map_two(cost::Expensive, x, y, z, f)
            }
        )*

        fn operators() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

fn map_gradient(
    y: In<'_, Complex64>,
    dy: In<'_, Complex64>,
    z: Out<'_, Complex64>,
    f: Operator,
) -> Result<()> {
    // TensorFlow compares the shapes only if there is a gradient to compute.
    if y.is_empty() {
        z.uninit(y.dims())?.fill(Complex64::ZERO);
        return Ok(());
    }
    check_same((y.dims(), "y"), (dy.dims(), "dy"))?;
    map_two(cost::Expensive, y, dy, z, f)
}

/// A function of two numbers.
type Operator = fn(Complex64, Complex64) -> Complex64;

/// Gradients of a result `y` and its gradient `dy`: `name: Op => function`.
macro_rules! gradients {
    ($($name:ident: $op:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64])]
            fn $name(y: In<'_, Complex64>, dy: In<'_, Complex64>, z: Out<'_, Complex64>) -> Result<()> {
                map_gradient(y, dy, z, $f)
            }
        )*

        fn slopes() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

/// Comparisons: `name: Op => function, result for shapes that do not broadcast`.
macro_rules! equalities {
    ($($name:ident: $op:ident => $f:path, $other:expr;)*) => {
        $(
            #[kernel($op, T = [Complex64])]
            fn $name(
                x: In<'_, Complex64>,
                y: In<'_, Complex64>,
                z: Out<'_, Bool>,
                incompatible_shape_error: bool,
            ) -> Result<()> {
                let f: fn(Complex64, Complex64) -> Bool = $f;
                let other = (!incompatible_shape_error).then_some($other);
                write_unless_incompatible(x, y, z, other, |x, y, z| map_two(cost::Cheap, x, y, z, f))
            }
        )*

        fn comparisons() -> Vec<&'static Kernel> {
            kernels![$($name),*]
        }
    };
}

unary! {
    conj: Conj(input) -> output => f::conj;
    cos: Cos(x) -> y => f::cos;
    cosh: Cosh(x) -> y => f::cosh;
    exp: Exp(x) -> y => f::exp;
    expm1: Expm1(x) -> y => f::exp_minus_one;
    inv: Inv(x) -> y => f::reciprocal;
    log: Log(x) -> y => f::ln;
    log1p: Log1p(x) -> y => f::ln_plus_one;
    neg: Neg(x) -> y => f::neg;
    reciprocal: Reciprocal(x) -> y => f::reciprocal;
    rsqrt: Rsqrt(x) -> y => f::rsqrt;
    sigmoid: Sigmoid(x) -> y => f::sigmoid;
    sign: Sign(x) -> y => f::sign;
    sin: Sin(x) -> y => f::sin;
    sinh: Sinh(x) -> y => f::sinh;
    sqrt: Sqrt(x) -> y => f::sqrt;
    square: Square(x) -> y => f::square;
    tan: Tan(x) -> y => f::tan;
    tanh: Tanh(x) -> y => f::tanh;
}

real! {
    angle: Angle(input) -> output => f::angle;
    complex_abs: ComplexAbs(x) -> y => f::abs;
    imag: Imag(input) -> output => f::imag;
    real: Real(input) -> output => f::real;
}

binary! {
    add: Add => f::add;
    add_v2: AddV2 => f::add;
    div: Div => f::div;
    div_no_nan: DivNoNan => f::div_no_nan;
    mul: Mul => f::mul;
    mul_no_nan: MulNoNan => f::mul_no_nan;
    pow: Pow => f::pow;
    real_div: RealDiv => f::div;
    squared_difference: SquaredDifference => f::squared_difference;
    sub: Sub => f::sub;
    xdivy: Xdivy => f::xdivy;
    xlogy: Xlogy => f::xlogy;
}

gradients! {
    inv_grad: InvGrad => f::reciprocal_grad;
    reciprocal_grad: ReciprocalGrad => f::reciprocal_grad;
    rsqrt_grad: RsqrtGrad => f::rsqrt_grad;
    sigmoid_grad: SigmoidGrad => f::sigmoid_grad;
    sqrt_grad: SqrtGrad => f::sqrt_grad;
    tanh_grad: TanhGrad => f::tanh_grad;
}

equalities! {
    equal: Equal => relation::equal, false;
    not_equal: NotEqual => relation::not_equal, true;
}

#[kernel(Complex, T = [f32], Tout = [Complex64])]
fn complex(real: In<'_, f32>, imag: In<'_, f32>, out: Out<'_, Complex64>) -> Result<()> {
    let f: fn(f32, f32) -> Complex64 = Complex64::new;
    map_two(cost::Cheap, real, imag, out, f)
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![complex];
    for family in [
        functions(),
        properties(),
        operators(),
        slopes(),
        comparisons(),
    ] {
        table.extend(family);
    }
    table
}
