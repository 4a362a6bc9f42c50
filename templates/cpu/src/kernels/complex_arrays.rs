//! Complex numbers of their parts, sums, products, running totals and transposition. Sums are those of the parts, which are an axis more.

use super::elementwise::{check_same, map_two};
use super::movement::{check_vector, write_view};
use super::prelude::*;
use super::running::plan_running;
use crate::compute::complex::{self as f, parts, parts_mut};
use crate::compute::map;
use crate::compute::movement::View;
use crate::compute::movement::resolve_axis;
use crate::compute::reduce::{Fold, Mean, Reduction, Sum, reduce};
use crate::compute::segment::running;
use crate::compute::strided::permute;
use crate::compute::workspace::zeroed;

/// The sum of tensors of one shape, from the first to the last.
#[kernel(AddN, T = [Complex64])]
fn add_n(inputs: InList<'_, Complex64>, sum: Out<'_, Complex64>) -> Result<()> {
    let inputs = inputs.fetch()?;
    let Some(first) = inputs.first() else {
        return invalid!("expected one input or more");
    };
    for input in inputs.iter().skip(1) {
        check_same((input.dims(), "an input"), (first.dims(), "the first one"))?;
    }
    let mut sum = sum.uninit(first.dims())?.copy_from_slice(first.data())?;
    for input in inputs.iter().skip(1) {
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

/// Mean of complex numbers; 0 without elements, as in TensorFlow.
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
    let mut rows = zeroed(input.len());
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
            let plan = plan_running(x.dims(), &axis, [exclusive, reverse])?;
            let f: fn(Complex64, Complex64) -> Complex64 = $f;
            running(plan, $start, f, x.data(), &mut out.zeroed(x.dims())?);
            Ok(())
        }
    )*};
}

totals! {
    cumprod: Cumprod => Complex64::ONE, f::mul;
    cumsum: Cumsum => Complex64::ZERO, f::add;
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

#[kernel(Complex, T = [f32], Tout = [Complex64])]
fn complex(real: In<'_, f32>, imag: In<'_, f32>, out: Out<'_, Complex64>) -> Result<()> {
    let f: fn(f32, f32) -> Complex64 = Complex64::new;
    map_two(cost::Cheap, real, imag, out, f)
}

table! { complex, add_n, sum, mean, prod, cumprod, cumsum, transpose, conjugate_transpose }
