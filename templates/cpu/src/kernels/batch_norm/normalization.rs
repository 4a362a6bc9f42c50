//! Batch normalization.

use super::super::elementwise::check_same;
use super::super::image::DataFormat;
use super::super::prelude::*;
use super::{BatchNormFormat, check_vector};
use crate::compute::map::update;
use crate::compute::nn::batch_norm::{Channels, moments, normalize};
use crate::compute::nn::relu::rectify;

/// The function that is applied to a normalized tensor.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
enum BatchNormActivation {
    /// None.
    #[value("Identity")]
    Identity,
    /// The larger of the number and 0.
    #[value("Relu")]
    Relu,
}

/// The attributes of a normalization.
struct BatchNormalization {
    /// The number that is added to a variance.
    epsilon: f32,
    /// The weight of new moments in averages.
    exponential_avg_factor: f32,
    /// The position of the channels.
    data_format: BatchNormFormat,
    /// True if the moments are those of the tensor.
    is_training: bool,
    /// The function that is applied to the result.
    activation: BatchNormActivation,
}

/// The vectors of a normalization: scale, offset, mean and variance.
type ParameterInputs<'a> = [In<'a, f32>; 4];

/// The outputs that have an element for each channel: mean and variance, and those that are reserved for the gradient.
type MomentOutputs<'a> = [Out<'a, f32>; 4];

/// The versions of the op: `name: Op(types), format, output that nobody reads`.
macro_rules! normalizations {
    ($($name:ident: $op:ident($($types:tt)*), $format:ty $(, $unread:ident)?;)*) => {
        $(
            #[kernel($op, $($types)*)]
            fn $name<T: Element + Precision<Compute = f32>>(
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
                $($unread: Out<'_, f32>,)?
                epsilon: f32,
                exponential_avg_factor: f32,
                data_format: $format,
                is_training: bool,
            ) -> Result<()> {
                $($unread.zeroed(&[])?;)?
                let normalization = BatchNormalization {
                    epsilon,
                    exponential_avg_factor,
                    data_format: data_format.into(),
                    is_training,
                    activation: BatchNormActivation::Identity,
                };
                let moments = [batch_mean, batch_variance, reserve_space_1, reserve_space_2];
                normalization.run(x, [scale, offset, mean, variance], None, y, moments)
            }
        )*

        table! { $($name,)* normalize_ex }
    };
}

normalizations! {
    normalize_v1: FusedBatchNorm(T = [f32]), DataFormat;
    normalize_v2: FusedBatchNormV2(T = [F16, Bf16, f32], U = [f32]), DataFormat;
    normalize_v3: FusedBatchNormV3(T = [F16, Bf16, f32], U = [f32]), BatchNormFormat, reserve_space_3;
}

/// A normalization with the activation after it, and a tensor that is added between them. TensorFlow's optimizer of graphs
/// writes it on a device of any type if oneDNN is on.
#[kernel(_FusedBatchNormEx, T = [F16, Bf16, f32], U = [f32])]
fn normalize_ex<T: Element + Precision<Compute = f32>>(
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
    data_format: DataFormat,
    is_training: bool,
    activation_mode: BatchNormActivation,
) -> Result<()> {
    reserve_space_3.zeroed(&[])?;
    let normalization = BatchNormalization {
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

impl BatchNormalization {
    /// Normalizes a tensor, and writes its moments.
    fn run<T: Element + Precision<Compute = f32>>(
        &self,
        x: In<'_, T>,
        vectors: ParameterInputs<'_>,
        side: Option<&In<'_, T>>,
        y: Out<'_, T>,
        moments: MomentOutputs<'_>,
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
    fn check(
        &self,
        [scale, offset, mean, variance]: &ParameterInputs<'_>,
        channels: usize,
    ) -> Result<()> {
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
        [_, _, mean, variance]: &ParameterInputs<'_>,
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
        if self.activation == BatchNormActivation::Relu {
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
