//! The gradient of batch normalization.

use super::super::elementwise::check_same;
use super::super::prelude::*;
use super::{BatchNormFormat, check_vector};
use crate::compute::nn::batch_norm::normalize_gradients;
use sp_plugin::kernel::{Kernel, kernels};

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
    data_format: BatchNormFormat,
    is_training: bool,
) -> Result<()> {
    let outputs = GradientOutputs {
        x: x_backprop,
        vectors: [scale_backprop, offset_backprop],
        empty: [reserve_space_4, reserve_space_5],
    };
    let inputs = [scale, reserve_space_1, reserve_space_2];
    outputs.write([y_backprop, x], inputs, (epsilon, is_training), data_format)
}

/// The outputs of a gradient.
pub struct GradientOutputs<'a, T> {
    /// The gradient of the tensor.
    pub x: Out<'a, T>,
    /// The gradients of scale and offset.
    pub vectors: [Out<'a, f32>; 2],
    /// The outputs without elements.
    pub empty: [Out<'a, f32>; 2],
}

impl<T: Element + Precision<Compute = f32>> GradientOutputs<'_, T> {
    /// Writes the gradients of a tensor from those of its normalization. The vectors are scale, mean and variance.
    ///
    /// # Errors
    /// Returns an error if a shape is wrong.
    pub fn write(
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

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![fused_batch_norm_grad]
}
