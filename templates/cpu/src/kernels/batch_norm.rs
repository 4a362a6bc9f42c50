//! Batch normalization and its gradient.
//!
//! Outputs that TensorFlow reserves for the gradient are those of its CPU kernels without oneDNN: mean, variance, and a
//! zero that nobody reads. So a gradient may be computed on another device than its result.

use super::activation::check_same;
use super::image::DataFormat as ImageFormat;
use super::prelude::*;
use crate::compute::nn::batch_norm::{Channels, moments, normalize, normalize_gradients};
use crate::compute::nn::relu::rectify;
use crate::compute::{len, map::update};
use sp_plugin::kernel::{InList, Kernel, kernels};

/// The position of the channels, and the number of dims.
#[derive(Clone, Copy, AttributeValue)]
pub enum DataFormat {
    /// Images, channels last.
    #[value("NHWC")]
    ChannelsLast,
    /// Images, channels first.
    #[value("NCHW")]
    ChannelsFirst,
    /// Volumes, channels last.
    #[value("NDHWC")]
    VolumeChannelsLast,
    /// Volumes, channels first.
    #[value("NCDHW")]
    VolumeChannelsFirst,
}

impl From<ImageFormat> for DataFormat {
    fn from(format: ImageFormat) -> Self {
        match format {
            ImageFormat::ChannelsLast => Self::ChannelsLast,
            ImageFormat::ChannelsFirst => Self::ChannelsFirst,
        }
    }
}

impl DataFormat {
    fn layout(self) -> ImageFormat {
        match self {
            Self::ChannelsLast | Self::VolumeChannelsLast => ImageFormat::ChannelsLast,
            Self::ChannelsFirst | Self::VolumeChannelsFirst => ImageFormat::ChannelsFirst,
        }
    }

    /// Returns how a tensor is divided into channels.
    ///
    /// # Errors
    /// Returns an error if the tensor has another number of dims.
    fn channels(self, name: &str, dims: &[usize]) -> Result<Channels> {
        let rank = match self {
            Self::ChannelsLast | Self::ChannelsFirst => 4,
            Self::VolumeChannelsLast | Self::VolumeChannelsFirst => 5,
        };
        // TensorFlow takes images as volumes of unknown depth.
        if dims.len() != rank && (dims.len() != 4 || rank != 5) {
            let message = format!("{name} must have {rank} dimensions, not shape {dims:?}");
            return Err(Error::invalid_argument(message));
        }
        let axis = crate::compute::nn::bias::ChannelLayout::from(self.layout()).axis(dims.len());
        let inner = len(&dims[axis + 1..]);
        let count = len(&dims[..axis]).saturating_mul(inner);
        Ok(Channels {
            channels: dims[axis],
            inner,
            count,
        })
    }
}

/// Checks that a parameter is a vector with an element for each channel.
fn check_vector(name: &str, found: &[usize], channels: usize) -> Result<()> {
    match *found == [channels] {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "{name} must be a vector of {channels} channels, not of shape {found:?}"
        ))),
    }
}

/// The function that is applied to a normalized tensor.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum Activation {
    /// None.
    #[value("Identity")]
    Identity,
    /// The larger of the number and 0.
    #[value("Relu")]
    Relu,
}

/// The attributes of a normalization.
pub struct Normalization {
    /// The number that is added to a variance.
    pub epsilon: f32,
    /// The weight of new moments in averages.
    pub exponential_avg_factor: f32,
    /// The position of the channels.
    pub data_format: DataFormat,
    /// True if the moments are those of the tensor.
    pub is_training: bool,
    /// The function that is applied to the result.
    pub activation: Activation,
}

/// The vectors of a normalization: scale, offset, mean and variance.
pub type Vectors<'a> = [In<'a, f32>; 4];

/// The outputs that have an element for each channel: mean and variance, and those that are reserved for the gradient.
pub type Moments<'a> = [Out<'a, f32>; 4];

#[kernel(FusedBatchNormV3, T = [F16, Bf16, f32], U = [f32])]
fn fused_batch_norm<T: Element + Precision<Compute = f32>>(
    x: In<'_, T>,
    scale: In<'_, f32>,
    offset: In<'_, f32>,
    mean: In<'_, f32>,
    variance: In<'_, f32>,
    y: Out<'_, T>,
    batch_mean: Out<'_, f32>,
    batch_variance: Out<'_, f32>,
    reserve_space_1: Out<'_, f32>,
    reserve_space_2: Out<'_, f32>,
    reserve_space_3: Out<'_, f32>,
    epsilon: f32,
    exponential_avg_factor: f32,
    data_format: DataFormat,
    is_training: bool,
) -> Result<()> {
    reserve_space_3.zeroed(&[])?;
    let normalization = Normalization {
        epsilon,
        exponential_avg_factor,
        data_format,
        is_training,
        activation: Activation::Identity,
    };
    let moments = [batch_mean, batch_variance, reserve_space_1, reserve_space_2];
    normalization.run(x, [scale, offset, mean, variance], None, y, moments)
}

/// A normalization with the activation after it, and a tensor that is added between them. TensorFlow's optimizer of graphs
/// writes it on a device of any type if oneDNN is on.
#[kernel(_FusedBatchNormEx, T = [F16, Bf16, f32], U = [f32])]
fn fused_batch_norm_ex<T: Element + Precision<Compute = f32>>(
    x: In<'_, T>,
    scale: In<'_, f32>,
    offset: In<'_, f32>,
    mean: In<'_, f32>,
    variance: In<'_, f32>,
    side_input: InList<'_, T>,
    y: Out<'_, T>,
    batch_mean: Out<'_, f32>,
    batch_variance: Out<'_, f32>,
    reserve_space_1: Out<'_, f32>,
    reserve_space_2: Out<'_, f32>,
    reserve_space_3: Out<'_, f32>,
    epsilon: f32,
    exponential_avg_factor: f32,
    data_format: ImageFormat,
    is_training: bool,
    activation_mode: Activation,
) -> Result<()> {
    reserve_space_3.zeroed(&[])?;
    let normalization = Normalization {
        epsilon,
        exponential_avg_factor,
        data_format: data_format.into(),
        is_training,
        activation: activation_mode,
    };
    let side = side_input.fetch()?;
    let moments = [batch_mean, batch_variance, reserve_space_1, reserve_space_2];
    normalization.run(x, [scale, offset, mean, variance], side.first(), y, moments)
}

impl Normalization {
    /// Normalizes a tensor, and writes its moments.
    ///
    /// # Errors
    /// Returns an error if a shape is wrong.
    pub fn run<T: Element + Precision<Compute = f32>>(
        &self,
        x: In<'_, T>,
        vectors: Vectors<'_>,
        side: Option<&In<'_, T>>,
        y: Out<'_, T>,
        moments: Moments<'_>,
    ) -> Result<()> {
        let shape = self.data_format.channels("x", x.dims())?;
        self.check(&vectors, shape.channels)?;
        if let Some(side) = side {
            check_same((side.dims(), "side_input"), (x.dims(), "x"))?;
        }
        let mut y = y.unspecified(x.dims())?;
        let [new_mean, new_variance, saved_mean, saved_variance] =
            moments.map(|it| it.zeroed(&[shape.channels]));
        let (mut new_mean, mut new_variance, mut saved_mean, mut saved_variance) =
            (new_mean?, new_variance?, saved_mean?, saved_variance?);
        if x.is_empty() {
            new_mean.fill(f32::NAN);
            new_variance.fill(f32::NAN);
            return Ok(());
        }
        let [new, saved] = [
            [&mut new_mean[..], &mut new_variance],
            [&mut saved_mean, &mut saved_variance],
        ];
        let x = T::widened(x.data());
        self.write_moments(shape, &x, &vectors, saved, new);
        let [scale, offset, ..] = &vectors;
        let parameters = [
            &saved_mean[..],
            &saved_variance,
            scale.data(),
            offset.data(),
        ];
        T::overwrite(&mut y, |y| {
            normalize(shape, &x, parameters, self.epsilon, y);
            self.activate(y, side);
        });
        Ok(())
    }

    /// Checks that each vector has an element for each channel. A mean and a variance that are not read may have any number.
    fn check(&self, [scale, offset, mean, variance]: &Vectors<'_>, channels: usize) -> Result<()> {
        check_vector("scale", scale.dims(), channels)?;
        check_vector("offset", offset.dims(), channels)?;
        let is_unread = self.is_training && self.exponential_avg_factor == 1.0;
        for (name, dims) in [("mean", mean.dims()), ("variance", variance.dims())] {
            if !is_unread || dims.len() != 1 {
                check_vector(name, dims, channels)?;
            }
        }
        Ok(())
    }

    /// Writes the moments by which a tensor is normalized, and the new averages.
    fn write_moments(
        &self,
        shape: Channels,
        x: &[f32],
        [_, _, mean, variance]: &Vectors<'_>,
        mut saved: [&mut [f32]; 2],
        mut new: [&mut [f32]; 2],
    ) {
        if self.is_training {
            batch_moments(shape, x, &mut saved, &mut new);
            average(mean, new[0], self.exponential_avg_factor);
            average(variance, new[1], self.exponential_avg_factor);
            return;
        }
        for [to_mean, to_variance] in [new, saved] {
            to_mean.copy_from_slice(mean.data());
            to_variance.copy_from_slice(variance.data());
        }
    }

    /// Adds the tensor that the op adds to the normalized one, and applies the activation.
    fn activate<T: Element + Precision<Compute = f32>>(
        &self,
        y: &mut [f32],
        side: Option<&In<'_, T>>,
    ) {
        if let Some(side) = side {
            update(y, &T::widened(side.data()), arith::add);
        }
        if self.activation == Activation::Relu {
            rectify(y);
        }
    }
}

/// Writes mean and variance of each channel; `new` gets the variance with Bessel's correction.
fn batch_moments(
    shape: Channels,
    x: &[f32],
    [saved_mean, saved_variance]: &mut [&mut [f32]; 2],
    [new_mean, new_variance]: &mut [&mut [f32]; 2],
) {
    let found = moments(shape, x);
    saved_mean.copy_from_slice(&found.mean);
    saved_variance.copy_from_slice(&found.variance);
    new_mean.copy_from_slice(&found.mean);
    let correction = shape.count as f32 / (shape.count.max(2) - 1) as f32;
    for (new, found) in new_variance.iter_mut().zip(&found.variance) {
        *new = found * correction;
    }
}

/// Averages old values with new ones, of which `factor` is the weight. With the factor 1 the old ones are not read.
fn average(old: &In<'_, f32>, new: &mut [f32], factor: f32) {
    if factor == 1.0 {
        return;
    }
    for (new, old) in new.iter_mut().zip(old.data()) {
        *new = (1.0 - factor) * old + factor * *new;
    }
}

#[kernel(FusedBatchNormGradV3, T = [F16, Bf16, f32], U = [f32], ignore = [reserve_space_3])]
fn fused_batch_norm_grad<T: Element + Precision<Compute = f32>>(
    y_backprop: In<'_, T>,
    x: In<'_, T>,
    scale: In<'_, f32>,
    reserve_space_1: In<'_, f32>,
    reserve_space_2: In<'_, f32>,
    x_backprop: Out<'_, T>,
    scale_backprop: Out<'_, f32>,
    offset_backprop: Out<'_, f32>,
    reserve_space_4: Out<'_, f32>,
    reserve_space_5: Out<'_, f32>,
    epsilon: f32,
    data_format: DataFormat,
    is_training: bool,
) -> Result<()> {
    let outputs = Gradients {
        x: x_backprop,
        vectors: [scale_backprop, offset_backprop],
        empty: [reserve_space_4, reserve_space_5],
    };
    let inputs = [scale, reserve_space_1, reserve_space_2];
    outputs.write([y_backprop, x], inputs, (epsilon, is_training), data_format)
}

/// The outputs of a gradient.
pub struct Gradients<'a, T> {
    /// The gradient of the tensor.
    pub x: Out<'a, T>,
    /// The gradients of scale and offset.
    pub vectors: [Out<'a, f32>; 2],
    /// The outputs without elements.
    pub empty: [Out<'a, f32>; 2],
}

impl<T: Element + Precision<Compute = f32>> Gradients<'_, T> {
    /// Writes the gradients of a tensor from those of its normalization. The vectors are scale, mean and variance.
    ///
    /// # Errors
    /// Returns an error if a shape is wrong.
    pub fn write(
        self,
        [y_backprop, x]: [In<'_, T>; 2],
        [scale, mean, variance]: [In<'_, f32>; 3],
        mode: (f32, bool),
        data_format: DataFormat,
    ) -> Result<()> {
        let shape = data_format.channels("x", x.dims())?;
        check_same((y_backprop.dims(), "y_backprop"), (x.dims(), "x"))?;
        check_vector("scale", scale.dims(), shape.channels)?;
        check_vector("reserve_space_1", mean.dims(), shape.channels)?;
        check_vector("reserve_space_2", variance.dims(), shape.channels)?;
        let [scale_backprop, offset_backprop] = self.vectors;
        self.empty.into_iter().try_for_each(|it| it.empty())?;
        let mut dx = self.x.unspecified(x.dims())?;
        let (mut d_scale, mut d_offset) = (
            scale_backprop.zeroed(&[shape.channels])?,
            offset_backprop.zeroed(&[shape.channels])?,
        );
        if x.is_empty() {
            return Ok(());
        }
        let parameters = [mean.data(), variance.data(), scale.data()];
        let (dy, x) = (T::widened(y_backprop.data()), T::widened(x.data()));
        let gradients = T::overwrite(&mut dx, |dx| {
            normalize_gradients(shape, [&dy, &x], parameters, mode, dx)
        });
        d_scale.copy_from_slice(&gradients.scale);
        d_offset.copy_from_slice(&gradients.offset);
        Ok(())
    }
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![fused_batch_norm, fused_batch_norm_ex, fused_batch_norm_grad]
}
