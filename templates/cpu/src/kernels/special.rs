//! Limits of values, cross products, half the sum of squares, and the incomplete beta function.

use super::elementwise::check_same;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::fold::L2Loss;
use crate::compute::incomplete;
use crate::compute::reduce::Fold;
use crate::compute::values;
use sp_plugin::Code;

#[kernel(ClipByValue, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn clip_by_value<T: Element + Precision<Compute: Number>>(
    t: In<'_, T>,
    clip_value_min: In<'_, T>,
    clip_value_max: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let is_limit = |it: &In<'_, T>| it.dims().is_empty() || it.dims() == t.dims();
    if !is_limit(&clip_value_min) || !is_limit(&clip_value_max) {
        return invalid!(
            "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. \
             input shape: {} clip_value_min shape: {} clip_value_max shape: {}",
            Dims(t.dims()),
            Dims(clip_value_min.dims()),
            Dims(clip_value_max.dims())
        );
    }
    let mut output = output.uninit(t.dims())?.copy_from_slice(t.data())?;
    let limits = [&clip_value_min, &clip_value_max].map(|it| T::widened(it.data()));
    T::update(&mut output, |out| values::clip(&limits[0], &limits[1], out));
    Ok(())
}

#[kernel(Cross, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn cross<T: Element + Precision<Compute: Number>>(
    a: In<'_, T>,
    b: In<'_, T>,
    product: Out<'_, T>,
) -> Result<()> {
    check_same((a.dims(), "a"), (b.dims(), "b"))?;
    match a.dims() {
        [] => return invalid!("a must not be a scalar"),
        [.., 3] => {}
        dims => {
            let message = format!(
                "Cross-products are only defined for 3-element vectors, not of shape {}",
                Dims(dims)
            );
            return Err(Error::new(Code::FAILED_PRECONDITION, message));
        }
    }
    let mut product = product.unspecified(a.dims())?;
    let (a, b) = (T::widened(a.data()), T::widened(b.data()));
    T::overwrite(&mut product, |out| values::cross(&a, &b, out));
    Ok(())
}

#[kernel(L2Loss, T = [F16, Bf16, f32, f64])]
fn l2_loss<T: Element + Precision<Compute: Elementary>>(
    t: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()>
where
    L2Loss: Fold<T::Compute>,
{
    let loss = values::l2_loss(&T::widened(t.data()));
    output.uninit(&[])?.fill(T::from_compute(loss));
    Ok(())
}

#[kernel(Betainc, T = [f32, f64])]
fn incomplete_beta<T: Element + Cast<f64>>(
    a: In<'_, T>,
    b: In<'_, T>,
    x: In<'_, T>,
    z: Out<'_, T>,
) -> Result<()>
where
    f64: Cast<T>,
{
    let operands = [&a, &b, &x];
    let largest = operands.iter().find(|it| !it.dims().is_empty());
    let dims = largest.map_or(&[][..], |it| it.dims());
    if operands
        .iter()
        .any(|it| !it.dims().is_empty() && it.dims() != dims)
    {
        let [a, b, x] = operands.map(|it| it.dims());
        return invalid!(
            "a, b and x must have one shape or be scalars, not {a:?}, {b:?} and {x:?}"
        );
    }
    z.uninit(dims)?.write_with(|at| {
        let [a, b, x] = operands.map(|it| -> f64 { it.data()[at.min(it.len() - 1)].cast() });
        incomplete::beta(a, b, x).cast()
    });
    Ok(())
}

table! { clip_by_value, cross, l2_loss, incomplete_beta }
