//! Normalizations of the rows or the channels of each image, which TensorFlow's optimizer of graphs writes on a device of any
//! type if oneDNN is on. On the CPU only oneDNN has kernels of them.

use super::super::prelude::*;
use super::check_vector;
use crate::compute::map::update_each;
use crate::compute::nn::activation::leaky_relu;
use crate::compute::nn::batch_norm::{Channels, Moments, moments, normalize};
use crate::compute::nn::relu::rectify;
use crate::compute::parallel::for_each_row_chunk;

/// Normalizes each row, and scales its elements.
#[kernel(
    _MklLayerNorm,
    T = [
        F16, // since 2.16
        Bf16,
        f32,
    ],
    releases = "2.8.."
)]
fn layer_norm<T: Element + Precision<Compute = f32>>(
    x: In<'_, T>,
    scale: In<'_, T>,
    offset: In<'_, T>,
    y: Out<'_, T>,
    epsilon: f32,
) -> Result<()> {
    let Some((depth, rows)) = x.dims().split_last() else {
        return invalid!("x must have rows to normalize, but is a scalar");
    };
    check_vector("scale", scale.dims(), *depth)?;
    check_vector("offset", offset.dims(), *depth)?;
    let mut y = y.unspecified(x.dims())?;
    if x.is_empty() {
        return Ok(());
    }
    let shape = channels(len(rows), *depth);
    let (x, scale, offset) = (
        T::widened(x.data()),
        T::widened(scale.data()),
        T::widened(offset.data()),
    );
    let [ones, zeros] = [1.0, 0.0].map(|it| allocation::repeated(&[it], shape.channels));
    T::overwrite(&mut y, |y| {
        normalize_by_moments(shape, &x, [&ones, &zeros], epsilon, y);
        scale_rows(y, &scale, &offset);
    });
    Ok(())
}

/// Returns the shape of channels of adjacent elements.
fn channels(channels: usize, inner: usize) -> Channels {
    Channels {
        channels,
        inner,
        count: inner,
    }
}

/// Normalizes a tensor by its own moments.
fn normalize_by_moments(
    shape: Channels,
    x: &[f32],
    [scale, offset]: [&[f32]; 2],
    epsilon: f32,
    y: &mut [f32],
) {
    let Moments { mean, variance } = moments(shape, x);
    normalize(shape, x, [&mean, &variance, scale, offset], epsilon, y);
}

/// Multiplies each element by the scale of its column, and adds the column's offset.
fn scale_rows(y: &mut [f32], scale: &[f32], offset: &[f32]) {
    let columns = scale.len();
    for_each_row_chunk(y, columns, cost::Cheap.grain(), |_, rows| {
        for row in rows.chunks_exact_mut(columns) {
            let parameters = scale.iter().zip(offset);
            for (y, (scale, offset)) in row.iter_mut().zip(parameters) {
                *y = *y * scale + offset;
            }
        }
    });
}

/// The attributes of a normalization of instances.
#[derive(Attributes)]
struct InstanceAttributes {
    fused_ops: Vec<String>,
    epsilon: f32,
    leakyrelu_alpha: f32,
    reduction_axes: Vec<i64>,
}

/// The function of the normalized elements.
enum Activation {
    Identity,
    Relu,
    /// With this slope below 0.
    LeakyRelu(f32),
}

/// The checked attributes.
struct InstanceNormalization {
    epsilon: f32,
    activation: Activation,
    axes: Vec<i64>,
}

impl Prepare for InstanceNormalization {
    type Attributes = InstanceAttributes;

    fn prepare(it: InstanceAttributes) -> Result<Self> {
        let names: Vec<&str> = it.fused_ops.iter().map(String::as_str).collect();
        let activation = match names[..] {
            [] => Activation::Identity,
            ["Relu"] => Activation::Relu,
            ["LeakyRelu"] => Activation::LeakyRelu(it.leakyrelu_alpha),
            _ => {
                let message = format!(
                    "fused_ops {names:?} is not supported: expected Relu, LeakyRelu or nothing"
                );
                return Err(Error::unimplemented(message));
            }
        };
        Ok(Self {
            epsilon: it.epsilon,
            activation,
            axes: it.reduction_axes,
        })
    }
}

/// Normalizes each channel of each image or volume, and applies a function.
#[kernel(
    _MklFusedInstanceNorm,
    T = [
        F16, // since 2.16
        Bf16,
        f32,
    ],
    releases = "2.14.."
)]
fn instance_norm<T: Element + Precision<Compute = f32>>(
    #[state] it: &InstanceNormalization,
    x: In<'_, T>,
    gamma: In<'_, T>,
    beta: In<'_, T>,
    y: Out<'_, T>,
) -> Result<()> {
    let instances = it.instances(x.dims())?;
    check_vector("gamma", &[gamma.len()], instances.channels)?;
    check_vector("beta", &[beta.len()], instances.channels)?;
    let mut y = y.unspecified(x.dims())?;
    if x.is_empty() {
        return Ok(());
    }
    let (x, gamma, beta) = (
        T::widened(x.data()),
        T::widened(gamma.data()),
        T::widened(beta.data()),
    );
    T::overwrite(&mut y, |y| {
        instances.normalize(&x, [&gamma, &beta], it.epsilon, y);
        match it.activation {
            Activation::Identity => {}
            Activation::Relu => rectify(y),
            Activation::LeakyRelu(slope) => update_each(y, leaky_relu(slope)),
        }
    });
    Ok(())
}

/// A tensor as images of channels with `len` elements each.
struct Instances {
    images: usize,
    channels: usize,
    len: usize,
    is_channels_last: bool,
}

impl InstanceNormalization {
    /// Returns the images of a tensor.
    ///
    /// # Errors
    /// Returns an error if the axes are not all but the batch's and the channels', which are the second or the last.
    fn instances(&self, dims: &[usize]) -> Result<Instances> {
        let rank = dims.len() as i64;
        let is_channels_last = self.axes.iter().copied().eq(1..rank - 1);
        if rank < 3 || !is_channels_last && !self.axes.iter().copied().eq(2..rank) {
            return Err(Error::unimplemented(format!(
                "reduction_axes {:?} of a tensor of shape {}: expected all but the first and the second or last",
                self.axes,
                Dims(dims)
            )));
        }
        let (channel, inner) = match is_channels_last {
            true => (dims.len() - 1, &dims[1..dims.len() - 1]),
            false => (1, &dims[2..]),
        };
        Ok(Instances {
            images: dims[0],
            channels: dims[channel],
            len: len(inner),
            is_channels_last,
        })
    }
}

impl Instances {
    /// Normalizes each channel of each image of a tensor that is not empty.
    fn normalize(&self, x: &[f32], [gamma, beta]: [&[f32]; 2], epsilon: f32, y: &mut [f32]) {
        if !self.is_channels_last {
            let [gamma, beta] = [gamma, beta].map(|it| allocation::repeated(it, self.images));
            let shape = channels(self.images * self.channels, self.len);
            return normalize_by_moments(shape, x, [&gamma, &beta], epsilon, y);
        }
        let shape = Channels {
            channels: self.channels,
            inner: 1,
            count: self.len,
        };
        let image = self.channels * self.len;
        for (x, y) in x.chunks_exact(image).zip(y.chunks_exact_mut(image)) {
            normalize_by_moments(shape, x, [gamma, beta], epsilon, y);
        }
    }
}

table! { layer_norm, instance_norm }
