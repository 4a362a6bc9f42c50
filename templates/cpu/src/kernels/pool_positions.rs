//! Pools that return the positions of maxima, and their gradients.

use super::gather::to_indices;
use super::image::{DataFormat, PaddingKind, check_dims};
use super::pool::ImagePooling;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::find_largest;
use crate::compute::search::write_indices;
use crate::compute::workspace::zeroed;

#[derive(Attributes)]
struct PositionAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    include_batch_in_index: bool,
}

/// The pooling of an op with positions, whose channels are last.
struct Positions {
    pooling: ImagePooling,
    includes_batch: bool,
}

impl Prepare for Positions {
    type Attributes = PositionAttributes;

    fn prepare(it: PositionAttributes) -> Result<Self> {
        let format = DataFormat::ChannelsLast;
        Ok(Self {
            pooling: ImagePooling::new([&it.ksize, &it.strides], it.padding, &[], format)?,
            includes_batch: it.include_batch_in_index,
        })
    }
}

#[kernel(MaxPoolWithArgmax, T = [F16, Bf16, f32, f64], Targmax = [i32, i64])]
fn max_pool_with_argmax<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Positions,
    input: In<'_, T>,
    output: Out<'_, T>,
    argmax: BytesOut<'_>,
) -> Result<()> {
    let plan = it.pooling.plan(input.dims())?;
    let dims = plan.output();
    let (mut output, mut argmax) = (output.uninit(&dims)?, argmax.uninit(&dims)?);
    let (x, mut positions) = (input.data(), zeroed(len(&dims)));
    find_largest(&plan, &T::widened(x), &mut positions);
    for (output, at) in output.as_uninit_slice().iter_mut().zip(&positions) {
        output.write(x[*at]);
    }
    let image = if it.includes_batch {
        x.len()
    } else {
        plan.image()
    };
    let (width, indices) = (argmax.width(), positions.iter().map(|at| at % image));
    write_indices(argmax.as_uninit_slice(), width, indices);
    Ok(())
}

impl Positions {
    /// Returns, for each window, the index in the input that `argmax` states. Checks the shapes.
    fn positions(
        &self,
        input: &[usize],
        argmax: &BytesIn<'_>,
        gradient: (&[usize], bool),
    ) -> Result<Vec<usize>> {
        let plan = self.pooling.plan(input)?;
        let (found, is_of_windows) = gradient;
        let expected = if is_of_windows {
            plan.output()
        } else {
            plan.input()
        };
        check_dims("grad", found, &expected)?;
        check_dims("argmax", argmax.dims(), &plan.output())?;
        let (dims, indices) = (plan.output(), to_indices(argmax)?);
        let (window, image) = (len(&dims[1..]), len(&input[1..]));
        let limit = if self.includes_batch {
            len(input)
        } else {
            image
        };
        indices.check(limit)?;
        let first = |at: usize| {
            if self.includes_batch {
                0
            } else {
                at / window * image
            }
        };
        let count = len(&dims);
        let positions = (0..count).map(|at| first(at) + indices.get(at) as usize);
        Ok(allocation::collect(positions))
    }
}

#[kernel(MaxPoolGradWithArgmax, T = [F16, Bf16, f32, f64], Targmax = [i32, i64])]
fn max_pool_grad_with_argmax<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Positions,
    input: In<'_, T>,
    grad: In<'_, T>,
    argmax: BytesIn<'_>,
    output: Out<'_, T>,
) -> Result<()> {
    let positions = it.positions(input.dims(), &argmax, (grad.dims(), true))?;
    let mut output = output.zeroed(input.dims())?;
    let gradient = T::widened(grad.data());
    T::update(&mut output, |dx| {
        for (at, dy) in positions.iter().zip(gradient.iter()) {
            dx[*at] = dx[*at].plus(*dy);
        }
    });
    Ok(())
}

#[kernel(MaxPoolGradGradWithArgmax, T = [F16, Bf16, f32, f64], Targmax = [i32, i64])]
fn max_pool_grad_grad_with_argmax<T: Element>(
    #[state] it: &Positions,
    input: In<'_, T>,
    grad: In<'_, T>,
    argmax: BytesIn<'_>,
    output: Out<'_, T>,
) -> Result<()> {
    let positions = it.positions(input.dims(), &argmax, (grad.dims(), false))?;
    let gradient = grad.data();
    let output = output.uninit(argmax.dims())?;
    output.write_with(|at| gradient[positions[at]]);
    Ok(())
}

table! { max_pool_with_argmax, max_pool_grad_with_argmax, max_pool_grad_grad_with_argmax }
