//! The gradients of batch normalization.

use super::super::elementwise::check_same;
use super::super::image::DataFormat;
use super::super::prelude::*;
use super::{BatchNormFormat, check_vector};
use crate::compute::nn::batch_norm::normalize_gradients;

/// The versions of the gradient: `name: Op(types), format, outputs without elements`.
macro_rules! gradients {
    ($($name:ident: $op:ident($($types:tt)*), $format:ty, [$first:ident, $second:ident];)*) => {
        $(
            #[kernel($op, $($types)*)]
            fn $name<T: Element + Precision<Compute = f32>>(
                y_backprop: In<'_, T>,
                x: In<'_, T>,
                scale: In<'_, f32>,
                reserve_space_1: In<'_, f32>,
                reserve_space_2: In<'_, f32>,
                x_backprop: Out<'_, T>,
                scale_backprop: Out<'_, f32>,
                offset_backprop: Out<'_, f32>,
                $first: Out<'_, f32>,
                $second: Out<'_, f32>,
                epsilon: f32,
                data_format: $format,
                is_training: bool,
            ) -> Result<()> {
                let outputs = GradientOutputs {
                    x: x_backprop,
                    vectors: [scale_backprop, offset_backprop],
                    empty: [$first, $second],
                };
                let vectors = [scale, reserve_space_1, reserve_space_2];
                let mode = (epsilon, is_training);
                outputs.write([y_backprop, x], vectors, mode, data_format.into())
            }
        )*

        table! { $($name),* }
    };
}

gradients! {
    gradient_v1: FusedBatchNormGrad(T = [f32]), DataFormat, [reserve_space_3, reserve_space_4];
    gradient_v2: FusedBatchNormGradV2(T = [F16, Bf16, f32], U = [f32]), DataFormat,
        [reserve_space_3, reserve_space_4];
    gradient_v3: FusedBatchNormGradV3(T = [F16, Bf16, f32], U = [f32], ignore = [reserve_space_3]),
        BatchNormFormat, [reserve_space_4, reserve_space_5];
}

/// The outputs of a gradient.
struct GradientOutputs<'a, T> {
    /// The gradient of the tensor.
    x: Out<'a, T>,
    /// The gradients of scale and offset.
    vectors: [Out<'a, f32>; 2],
    /// The outputs without elements.
    empty: [Out<'a, f32>; 2],
}

impl<T: Element + Precision<Compute = f32>> GradientOutputs<'_, T> {
    /// Writes the gradients of a tensor from those of its normalization. The vectors are scale, mean and variance.
    fn write(
        self,
        [y_backprop, x]: [In<'_, T>; 2],
        [scale, mean, variance]: [In<'_, f32>; 3],
        mode: (f32, bool),
        data_format: BatchNormFormat,
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
