//! The rectifier whose slope is an attribute, its gradient, and sums of several tensors.

use super::elementwise::{check_same, map_one, map_two};
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::activation as f;
use crate::compute::{Broadcast, precision};

#[kernel(LeakyRelu, T = [F16, Bf16, f32, f64])]
fn leaky_relu<T: Element + Precision<Compute: Elementary>>(
    features: In<'_, T>,
    activations: Out<'_, T>,
    alpha: f32,
) -> Result<()> {
    let f = f::leaky_relu(constant::<T>(alpha));
    map_one(cost::Cheap, features, activations, f)
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
        return invalid!("expected one input or more");
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

table! { leaky_relu, leaky_relu_grad, add_n }
