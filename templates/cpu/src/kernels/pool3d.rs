//! Pools of volumes and their gradients.

use super::image::{PaddingKind, check_dims, shape};
use super::layout::ChannelFormat;
use super::prelude::*;
use super::volume::{VolumeFormat, dims5, slides_3d, spatial_3d};
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::Slide;
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

#[derive(Attributes)]
struct VolumePoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: VolumeFormat,
}

/// The checked attributes.
struct VolumePooling {
    format: VolumeFormat,
    size: [usize; 3],
    slides: [Slide; 3],
}

impl Prepare for VolumePooling {
    type Attributes = VolumePoolAttributes;

    fn prepare(it: VolumePoolAttributes) -> Result<Self> {
        let format = it.data_format;
        let unsupported = |message: String| Error::unimplemented(message);
        let size = spatial_3d("ksize", &it.ksize, format, unsupported)?;
        let strides = spatial_3d("strides", &it.strides, format, unsupported)?;
        Ok(Self {
            format,
            size,
            slides: slides_3d(strides, [1; 3], it.padding)?,
        })
    }
}

impl VolumePooling {
    /// Returns the plan for an input, with the dims of its tensor.
    fn plan(&self, input: &[usize]) -> Result<Pool> {
        let input = self.format.to_channels_last(dims5("the input", input)?);
        Ok(Pool::new_3d(input, self.size, self.slides)?)
    }

    /// Checks that a tensor has the shape of the result.
    fn check_output(&self, name: &str, found: &[usize], plan: &Pool) -> Result<()> {
        check_dims(name, found, &self.format.dims(plan.output_3d()))
    }
}

#[kernel(MaxPool3D, T = [F16, Bf16, f32])]
fn max_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumePooling,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims())?;
    it.format.write(plan.output_3d(), output, |y| {
        let input = T::widened(input.data());
        it.format
            .read(plan.input_3d(), &input, |x| pool::max_pool(&plan, x, y));
    })
}

#[kernel(MaxPool3DGrad, T = [F16, Bf16, f32], TInput: U = [F16, Bf16, f32])]
fn max_pool_grad<T: Element + Precision<Compute = f32>, U: Element + Precision<Compute = f32>>(
    #[state] it: &VolumePooling,
    orig_input: In<'_, U>,
    orig_output: In<'_, U>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(orig_input.dims())?;
    it.check_output("orig_output", orig_output.dims(), &plan)?;
    it.check_output("grad", grad.dims(), &plan)?;
    let [input, result] = [&orig_input, &orig_output].map(|it| U::widened(it.data()));
    let (gradient, format) = (T::widened(grad.data()), it.format);
    format.write(plan.input_3d(), output, |dx| {
        format.read(plan.input_3d(), &input, |x| {
            format.read(plan.output_3d(), &result, |y| {
                format.read(plan.output_3d(), &gradient, |dy| {
                    pool::max_pool_3d_grad(&plan, [x, y], dy, dx)
                });
            });
        });
    })
}

#[kernel(MaxPool3DGradGrad, T = [F16, Bf16, f32])]
fn max_pool_grad_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumePooling,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let (plan, format) = (it.plan(orig_input.dims())?, it.format);
    it.check_output("orig_output", orig_output.dims(), &plan)?;
    check_dims("grad", grad.dims(), orig_input.dims())?;
    let [x, y, dx] = [&orig_input, &orig_output, &grad].map(|it| T::widened(it.data()));
    let (input, result) = (plan.input_3d(), plan.output_3d());
    format.write(result, output, |out| {
        format.read(input, &x, |x| {
            format.read(input, &dx, |dx| {
                format.read(result, &y, |y| pool::select_equal(&plan, [x, dx], y, out))
            })
        })
    })
}

#[kernel(AvgPool3D, T = [F16, Bf16, f32, f64])]
fn average_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumePooling,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims())?;
    it.format.write(plan.output_3d(), output, |y| {
        let input = T::widened(input.data());
        it.format
            .read(plan.input_3d(), &input, |x| pool::average_pool(&plan, x, y));
    })
}

#[kernel(AvgPool3DGrad, T = [F16, Bf16, f32, f64])]
fn average_pool_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumePooling,
    orig_input_shape: HostIn<'_, i32>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(&shape("orig_input_shape", &orig_input_shape)?)?;
    it.check_output("grad", grad.dims(), &plan)?;
    it.format.write(plan.input_3d(), output, |dx| {
        let gradient = T::widened(grad.data());
        it.format.read(plan.output_3d(), &gradient, |dy| {
            pool::average_pool_grad(&plan, dy, dx)
        });
    })
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        max_pool,
        max_pool_grad,
        max_pool_grad_grad,
        average_pool,
        average_pool_grad
    ]
}
