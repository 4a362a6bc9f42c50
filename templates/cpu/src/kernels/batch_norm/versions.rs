//! Earlier versions of batch normalization, which have one reserved output less.

use super::super::image::DataFormat;
use super::super::prelude::*;
use super::gradient::GradientOutputs;
use super::normalization::{BatchNormActivation, BatchNormalization};
use sp_plugin::kernel::{Attributes, Kernel, kernels};

#[derive(Attributes)]
struct NormalizationAttributes {
    epsilon: f32,
    exponential_avg_factor: f32,
    data_format: DataFormat,
    is_training: bool,
}

impl NormalizationAttributes {
    fn normalization(&self) -> BatchNormalization {
        BatchNormalization {
            epsilon: self.epsilon,
            exponential_avg_factor: self.exponential_avg_factor,
            data_format: self.data_format.into(),
            is_training: self.is_training,
            activation: BatchNormActivation::Identity,
        }
    }
}

#[derive(Attributes)]
struct GradientAttributes {
    epsilon: f32,
    data_format: DataFormat,
    is_training: bool,
}

/// Kernels of normalization: `name: Op(types)`.
macro_rules! normalizations {
    ($($name:ident: $op:ident($($types:tt)*);)*) => {$(
        #[kernel($op, $($types)*)]
        fn $name<T: Element + Precision<Compute = f32>>(
            #[state] it: &NormalizationAttributes,
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
        ) -> Result<()> {
            let moments = [batch_mean, batch_variance, reserve_space_1, reserve_space_2];
            it.normalization().run(x, [scale, offset, mean, variance], None, y, moments)
        }
    )*};
}

/// Kernels of gradients: `name: Op(types)`.
macro_rules! gradients {
    ($($name:ident: $op:ident($($types:tt)*);)*) => {$(
        #[kernel($op, $($types)*)]
        fn $name<T: Element + Precision<Compute = f32>>(
            #[state] it: &GradientAttributes,
            y_backprop: In<'_, T>,
            x: In<'_, T>,
            scale: In<'_, f32>,
            reserve_space_1: In<'_, f32>,
            reserve_space_2: In<'_, f32>,
            x_backprop: Out<'_, T>,
            scale_backprop: Out<'_, f32>,
            offset_backprop: Out<'_, f32>,
            reserve_space_3: Out<'_, f32>,
            reserve_space_4: Out<'_, f32>,
        ) -> Result<()> {
            let outputs = GradientOutputs {
                x: x_backprop,
                vectors: [scale_backprop, offset_backprop],
                empty: [reserve_space_3, reserve_space_4],
            };
            let vectors = [scale, reserve_space_1, reserve_space_2];
            let mode = (it.epsilon, it.is_training);
            outputs.write([y_backprop, x], vectors, mode, it.data_format.into())
        }
    )*};
}

normalizations! {
    normalize_v1: FusedBatchNorm(T = [f32]);
    normalize_v2: FusedBatchNormV2(T = [F16, Bf16, f32], U = [f32]);
}

gradients! {
    gradient_v1: FusedBatchNormGrad(T = [f32]);
    gradient_v2: FusedBatchNormGradV2(T = [F16, Bf16, f32], U = [f32]);
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![normalize_v1, normalize_v2, gradient_v1, gradient_v2]
}
