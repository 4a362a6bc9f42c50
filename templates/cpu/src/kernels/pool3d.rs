//! Pools of volumes and their gradients.

use super::image::{PaddingKind, shape};
use super::prelude::*;
use super::volume::{VolumeFormat, check_output, dims5, slides_3d, spatial_3d};
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::Slide;
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

#[derive(Attributes)]
struct PoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: VolumeFormat,
}

/// The checked attributes.
struct Pooling {
    size: [usize; 3],
    slides: [Slide; 3],
}

impl Prepare for Pooling {
    type Attributes = PoolAttributes;

    fn prepare(it: PoolAttributes) -> Result<Self> {
        it.data_format.check()?;
        let unsupported = |message: String| Error::unimplemented(message);
        let size = spatial_3d("ksize", &it.ksize, unsupported)?;
        let strides = spatial_3d("strides", &it.strides, unsupported)?;
        Ok(Self {
            size,
            slides: slides_3d(strides, [1; 3], it.padding)?,
        })
    }
}

impl Pooling {
    /// Returns the plan for an input.
    fn plan(&self, input: &[usize]) -> Result<Pool> {
        let input = dims5("the input", input)?;
        Ok(Pool::new_3d(input, self.size, self.slides)?)
    }
}

#[kernel(MaxPool3D, T = [F16, Bf16, f32])]
fn max_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Pooling,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims())?;
    let mut output = output.unspecified(&plan.output_3d())?;
    let input = T::widened(input.data());
    T::overwrite(&mut output, |y| pool::max_pool(&plan, &input, y));
    Ok(())
}

#[kernel(MaxPool3DGrad, T = [F16, Bf16, f32], TInput: U = [F16, Bf16, f32])]
fn max_pool_grad<T: Element + Precision<Compute = f32>, U: Element + Precision<Compute = f32>>(
    #[state] it: &Pooling,
    orig_input: In<'_, U>,
    orig_output: In<'_, U>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(orig_input.dims())?;
    check_output("orig_output", orig_output.dims(), plan.output_3d())?;
    check_output("grad", grad.dims(), plan.output_3d())?;
    let mut output = output.unspecified(&plan.input_3d())?;
    let (x, y) = (
        U::widened(orig_input.data()),
        U::widened(orig_output.data()),
    );
    let gradient = T::widened(grad.data());
    T::overwrite(&mut output, |dx| {
        pool::max_pool_3d_grad(&plan, [&x, &y], &gradient, dx)
    });
    Ok(())
}

#[kernel(AvgPool3D, T = [F16, Bf16, f32, f64])]
fn average_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Pooling,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims())?;
    let mut output = output.unspecified(&plan.output_3d())?;
    let input = T::widened(input.data());
    T::overwrite(&mut output, |y| pool::average_pool(&plan, &input, y));
    Ok(())
}

#[kernel(AvgPool3DGrad, T = [F16, Bf16, f32, f64])]
fn average_pool_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Pooling,
    orig_input_shape: HostIn<'_, i32>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(&shape("orig_input_shape", &orig_input_shape)?)?;
    check_output("grad", grad.dims(), plan.output_3d())?;
    let mut output = output.unspecified(&plan.input_3d())?;
    let gradient = T::widened(grad.data());
    T::overwrite(&mut output, |dx| {
        pool::average_pool_grad(&plan, &gradient, dx)
    });
    Ok(())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![max_pool, max_pool_grad, average_pool, average_pool_grad]
}
