//! Kernels of neural networks.

use super::image::DataFormat;
use super::prelude::*;
use crate::compute::nn::bias::{self, ChannelLayout, bias_broadcast};
use crate::compute::nn::cross_entropy::{Label, sparse_softmax_cross_entropy as sparse};
use crate::compute::precision;
use crate::compute::reduce::{Fold, Sum};

#[kernel(BiasAdd, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn bias_add<T: Element + Precision<Compute: Number>>(
    value: In<'_, T>,
    bias: In<'_, T>,
    output: Out<'_, T>,
    data_format: DataFormat,
) -> Result<()> {
    add_bias(value, bias, output, data_format)
}

/// The version without an attribute for the position of the channels.
#[kernel(BiasAddV1, T = [F16, Bf16, f32, f64, i64])]
fn bias_add_v1<T: Element + Precision<Compute: Number>>(
    value: In<'_, T>,
    bias: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    add_bias(value, bias, output, DataFormat::ChannelsLast)
}

fn add_bias<T: Element + Precision<Compute: Number>>(
    value: In<'_, T>,
    bias: In<'_, T>,
    output: Out<'_, T>,
    data_format: DataFormat,
) -> Result<()> {
    let (dims, bias_dims) = (value.dims(), bias.dims());
    if dims.len() < 2 {
        return Err(too_few_dims(dims));
    }
    if bias_dims.len() != 1 {
        return invalid!("Biases must be 1D: {}", Dims(bias_dims));
    }
    let plan = bias_broadcast(dims, data_format.into(), bias.len())?;
    let mut output = output.uninit(dims)?;
    let (operands, output) = ([value.data(), bias.data()], output.as_uninit_slice());
    precision::map_two(cost::Cheap, &plan, operands, output, arith::add);
    Ok(())
}

fn too_few_dims(dims: &[usize]) -> Error {
    Error::invalid_argument(format!("Input tensor must be at least 2D: {}", Dims(dims)))
}

/// The sum over all dimensions but the channels.
#[kernel(BiasAddGrad, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn bias_add_grad<T: Element + Precision<Compute: Number>>(
    out_backprop: In<'_, T>,
    output: Out<'_, T>,
    data_format: DataFormat,
) -> Result<()>
where
    Sum: Fold<T::Compute>,
{
    let (dims, layout) = (out_backprop.dims(), ChannelLayout::from(data_format));
    if dims.len() < 2 {
        return Err(too_few_dims(dims));
    }
    let mut sums = output.zeroed(&[dims[layout.axis(dims.len())]])?;
    let gradient = T::widened(out_backprop.data());
    T::update(&mut sums, |sums| {
        bias::bias_add_grad(dims, layout, &gradient, sums)
    })?;
    Ok(())
}

#[kernel(SparseSoftmaxCrossEntropyWithLogits, T = [F16, Bf16, f32, f64], Tlabels: L = [i32, i64])]
fn sparse_softmax_cross_entropy<T: Element + Precision<Compute: Float>, L: Element + Label>(
    features: In<'_, T>,
    labels: In<'_, L>,
    loss: Out<'_, T>,
    backprop: Out<'_, T>,
) -> Result<()> {
    let &[rows, classes] = features.dims() else {
        return invalid!(
            "logits must be 2-D, but got shape {}",
            Dims(features.dims())
        );
    };
    if labels.dims() != [rows] {
        return invalid!(
            "logits and labels must have the same first dimension, got logits shape {} and labels shape {}: labels must be 1-D",
            Dims(features.dims()),
            Dims(labels.dims())
        );
    }
    if classes == 0 && rows > 0 {
        return invalid!("logits must have at least one class");
    }
    let (mut loss, mut gradient) = (loss.zeroed(&[rows])?, backprop.zeroed(&[rows, classes])?);
    if rows > 0 {
        let (logits, labels) = (T::widened(features.data()), labels.data());
        T::update(&mut loss, |loss| {
            T::update(&mut gradient, |gradient| {
                sparse(&logits, labels, classes, loss, gradient)
            })
        })?;
    }
    Ok(())
}
