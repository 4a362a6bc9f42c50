//! Kernels of complex numbers. Elementwise functions are called by a pointer, so that all have one loop; sums are
//! those of the parts, which are an axis more.

use super::activation::check_same;
use super::elementwise::{map_one_with_cost, map_two};
use super::movement::{check_vector, write_view};
use super::prelude::*;
use super::relation::map_equality;
use crate::compute::complex::{self as f, parts, parts_mut};
use crate::compute::movement::resolve_axis;
use crate::compute::movement::view::View;
use crate::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};
use crate::compute::segment::{Running, running};
use crate::compute::shape::len;
use crate::compute::strided::permute;
use crate::compute::{map, relation};
use sp_plugin::Complex64;
use sp_plugin::kernel::{BytesIn, BytesOut, InList, Kernel, kernels};

/// Functions of one number: `name: Op(input) -> output => function`.
macro_rules! unary {
    ($($name:ident: $op:ident($x:ident) -> $y:ident => $f:path;)*) => {
        $(
            #[kernel($op, T = [Complex64])]
            fn $name($x: In<'_, Complex64>, $y: Out<'_, Complex64>) -> Result<()> {
                let f: fn(Complex64) -> Complex64 = $f;
                map_one_with_cost(Cost::Expensive, $x, $y, f)
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
                map_one_with_cost(Cost::Expensive, $x, $y, f)
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
                map_two(Cost::Expensive, x, y, z, f)
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
    map_two(Cost::Expensive, y, dy, z, f)
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
                map_equality(x, y, z, (!incompatible_shape_error).then_some($other), f)
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
    map_two(Cost::Cheap, real, imag, out, f)
}

/// The sum of tensors of one shape, from the first to the last.
#[kernel(AddN, T = [Complex64])]
fn add_n(inputs: InList<'_, Complex64>, sum: Out<'_, Complex64>) -> Result<()> {
    let inputs = inputs.fetch()?;
    let Some(first) = inputs.first() else {
        return Err(Error::invalid_argument("expected one input or more"));
    };
    let mut sum = sum.uninit(first.dims())?.copy_from_slice(first.data())?;
    for input in inputs.iter().skip(1) {
        check_same((input.dims(), "an input"), (first.dims(), "the first one"))?;
        map::update(parts_mut(&mut sum), parts(input.data()), arith::add);
    }
    Ok(())
}

#[kernel(Sum, T = [Complex64])]
fn sum(
    input: In<'_, Complex64>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, Complex64>,
    keep_dims: bool,
) -> Result<()> {
    fold_parts::<Sum>(input, reduction_indices, output, keep_dims)
}

/// Without elements the mean is 0, as TensorFlow's of complex numbers.
#[kernel(Mean, T = [Complex64])]
fn mean(
    input: In<'_, Complex64>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, Complex64>,
    keep_dims: bool,
) -> Result<()> {
    match input.is_empty() {
        true => fold_parts::<Sum>(input, reduction_indices, output, keep_dims),
        false => fold_parts::<Mean>(input, reduction_indices, output, keep_dims),
    }
}

/// Folds the real and the imaginary parts.
fn fold_parts<F: Fold<f32>>(
    input: In<'_, Complex64>,
    axes: HostIn<'_, Index>,
    output: Out<'_, Complex64>,
    keep_dims: bool,
) -> Result<()> {
    let (dims, axes) = (input.dims(), axes.to_dims());
    let plan = Reduction::new(dims, &axes)?;
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    let from_first = |axis: &i64| axis + if *axis < 0 { dims.len() as i64 } else { 0 };
    let axes: InlineList<i64> = axes.iter().map(from_first).collect();
    let of_parts = Reduction::new(&[dims, &[2]].concat(), &axes)?;
    reduce::<f32, F>(&of_parts, parts(input.data()), parts_mut(&mut output));
    Ok(())
}

/// The product, from the first to the last element.
#[kernel(Prod, T = [Complex64])]
fn prod(
    input: In<'_, Complex64>,
    reduction_indices: HostIn<'_, Index>,
    output: Out<'_, Complex64>,
    keep_dims: bool,
) -> Result<()> {
    let plan = Reduction::new(input.dims(), &reduction_indices.to_dims())?;
    let mut output = output.zeroed(&plan.dims(keep_dims))?;
    let mut rows = vec![Complex64::ZERO; input.len()];
    permute(input.dims(), &plan.order(), input.data(), &mut rows);
    let count = plan.count();
    for (at, product) in output.iter_mut().enumerate() {
        let row = &rows[at * count..][..count];
        *product = row.iter().copied().fold(Complex64::ONE, f::mul);
    }
    Ok(())
}

/// Kernels of running totals: `name: Op => start, function`.
macro_rules! totals {
    ($($name:ident: $op:ident => $start:expr, $f:path;)*) => {$(
        #[kernel($op, T = [Complex64])]
        fn $name(
            x: In<'_, Complex64>,
            axis: HostIn<'_, Index>,
            out: Out<'_, Complex64>,
            exclusive: bool,
            reverse: bool,
        ) -> Result<()> {
            write_totals((x, axis, out), [exclusive, reverse], $start, $f)
        }
    )*};
}

totals! {
    cumprod: Cumprod => Complex64::ONE, f::mul;
    cumsum: Cumsum => Complex64::ZERO, f::add;
}

fn write_totals(
    (x, axis, out): (In<'_, Complex64>, HostIn<'_, Index>, Out<'_, Complex64>),
    [is_exclusive, is_reverse]: [bool; 2],
    start: Complex64,
    f: Operator,
) -> Result<()> {
    let axis = resolve_axis(axis.scalar()?, x.dims().len())?;
    let (outer, rest) = x.dims().split_at(axis);
    let plan = Running {
        shape: [len(outer), rest[0], len(&rest[1..])],
        is_exclusive,
        is_reverse,
    };
    let mut out = out.zeroed(x.dims())?;
    running(plan, start, f, x.data(), &mut out);
    Ok(())
}

#[kernel(
    ConjugateTranspose,
    T = [Bool, u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64]
)]
fn transpose(x: BytesIn<'_>, perm: HostIn<'_, Index>, y: BytesOut<'_>) -> Result<()> {
    check_vector("perm", perm.dims())?;
    let (view, dims) = View::transposed(x.dims(), perm.iter())?;
    write_view(x, &view, &dims, y)
}

#[kernel(ConjugateTranspose, T = [Complex64])]
fn conjugate_transpose(
    x: In<'_, Complex64>,
    perm: HostIn<'_, Index>,
    y: Out<'_, Complex64>,
) -> Result<()> {
    check_vector("perm", perm.dims())?;
    let (_, dims) = View::transposed(x.dims(), perm.iter())?;
    let mut order = InlineList::new(0);
    for axis in perm.iter() {
        order.push(resolve_axis(axis, x.dims().len())?);
    }
    let mut y = y.zeroed(&dims)?;
    permute(x.dims(), &order, x.data(), &mut y);
    y.iter_mut().for_each(|y| *y = y.conjugate());
    Ok(())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = kernels![
        complex,
        add_n,
        sum,
        mean,
        prod,
        cumprod,
        cumsum,
        transpose,
        conjugate_transpose
    ];
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
