//! Pools whose windows are inputs, and derivatives of the gradients of pools.

use super::image::{DataFormat, PaddingKind, dims4};
use super::layout::ChannelFormat;
use super::pool::Pooling;
use super::prelude::*;
use super::volume::{VolumeFormat, check_output, dims5, slides_3d, spatial_3d};
use crate::compute::elementary::Elementary;
use crate::compute::nn::positions::{Grid, select_equal};
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

/// The attributes of an op whose windows are inputs.
#[derive(Attributes)]
struct InputWindows {
    padding: PaddingKind,
    data_format: DataFormat,
}

impl InputWindows {
    fn pooling(&self, ksize: &HostIn<'_, i32>, strides: &HostIn<'_, i32>) -> Result<Pooling> {
        let list = |it: &HostIn<'_, i32>| it.data().iter().copied().map(i64::from).collect();
        let [ksize, strides]: [Vec<i64>; 2] = [list(ksize), list(strides)];
        Pooling::new([&ksize, &strides], self.padding, &[], self.data_format)
    }
}

#[kernel(MaxPoolV2, T = [F16, Bf16, f32, f64])]
fn max_pool_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    input: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.pooling(&ksize, &strides)?.maxima(input, output)
}

#[kernel(MaxPoolGradV2, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.pooling(&ksize, &strides)?
        .gradient_of_maxima([orig_input, orig_output, grad], output)
}

#[derive(Attributes)]
struct ImageAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: DataFormat,
}

/// The pooling of an op without explicit paddings.
struct Images(Pooling);

impl Prepare for Images {
    type Attributes = ImageAttributes;

    fn prepare(it: ImageAttributes) -> Result<Self> {
        Pooling::new([&it.ksize, &it.strides], it.padding, &[], it.data_format).map(Self)
    }
}

impl Pooling {
    /// Returns the windows over an input with the dims of its tensor.
    ///
    /// # Errors
    /// Returns an error if the tensor is not of images, or they are smaller than a window.
    pub fn grid(&self, input: &[usize]) -> Result<Grid> {
        let input = self.format.to_channels_last(dims4("the input", input)?);
        Ok(Grid::of_images(input, self.size, self.slides)?)
    }

    /// Writes the element of `grad` where the input has the largest element of a window.
    fn second_gradient<T: Element + Precision<Compute: Elementary>>(
        &self,
        [input, result, grad]: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        let (grid, plan) = (self.grid(input.dims())?, self.plan(input.dims())?);
        self.check_output("orig_output", &plan, result.dims())?;
        check_dims("grad", grad.dims(), input.dims())?;
        let [x, y, dx] = [&input, &result, &grad].map(|it| T::widened(it.data()));
        let (format, dims) = (self.format, plan.input());
        format.write(plan.output(), output, |out| {
            format.read(dims, &x, |x| {
                format.read(dims, &dx, |dx| {
                    format.read(plan.output(), &y, |y| {
                        select_equal(&grid, [x, dx], y, out);
                    })
                })
            })
        })
    }
}

/// Checks that a tensor has the shape of another one.
///
/// # Errors
/// Returns an error if it has not.
pub fn check_dims(name: &str, found: &[usize], expected: &[usize]) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "{name} must have shape {expected:?}, not {found:?}"
        ))),
    }
}

#[kernel(MaxPoolGradGrad, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] Images(it): &Images,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.second_gradient([orig_input, orig_output, grad], output)
}

#[kernel(MaxPoolGradGradV2, T = [F16, Bf16, f32, f64])]
fn max_pool_grad_grad_v2<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &InputWindows,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    ksize: HostIn<'_, i32>,
    strides: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    it.pooling(&ksize, &strides)?
        .second_gradient([orig_input, orig_output, grad], output)
}

#[derive(Attributes)]
struct VolumeAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: VolumeFormat,
}

impl VolumeAttributes {
    /// Returns the windows over an input with the dims of its tensor.
    fn grid(&self, input: &[usize]) -> Result<Grid> {
        let unsupported = |message: String| Error::unimplemented(message);
        let size = spatial_3d("ksize", &self.ksize, self.data_format, unsupported)?;
        let strides = spatial_3d("strides", &self.strides, self.data_format, unsupported)?;
        let input = self
            .data_format
            .to_channels_last(dims5("orig_input", input)?);
        Ok(Grid::new(
            input,
            size,
            slides_3d(strides, [1; 3], self.padding)?,
        )?)
    }
}

#[kernel(MaxPool3DGradGrad, T = [F16, Bf16, f32])]
fn max_pool_3d_grad_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &VolumeAttributes,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let (grid, format) = (it.grid(orig_input.dims())?, it.data_format);
    check_output(
        "orig_output",
        orig_output.dims(),
        format.dims(grid.output()),
    )?;
    check_dims("grad", grad.dims(), orig_input.dims())?;
    let [x, y, dx] = [&orig_input, &orig_output, &grad].map(|it| T::widened(it.data()));
    format.write(grid.output(), output, |out| {
        format.read(grid.input(), &x, |x| {
            format.read(grid.input(), &dx, |dx| {
                format.read(grid.output(), &y, |y| select_equal(&grid, [x, dx], y, out))
            })
        })
    })
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        max_pool_v2,
        max_pool_grad_v2,
        max_pool_grad_grad,
        max_pool_grad_grad_v2,
        max_pool_3d_grad_grad,
    ]
}
