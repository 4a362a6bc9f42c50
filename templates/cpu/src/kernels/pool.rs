//! Pools and their gradients.

use super::image::{DataFormat, PaddingKind, dims4, paddings, shape, slides, spatial};
use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::Slide;
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

/// The checked attributes.
struct Pooling {
    format: DataFormat,
    size: [usize; 2],
    slides: [Slide; 2],
}

#[derive(Attributes)]
struct AverageAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: DataFormat,
}

impl AverageAttributes {
    fn pooling(self, explicit_paddings: &[i64]) -> Result<Pooling> {
        let format = self.data_format;
        let size = spatial("ksize", &self.ksize, format)?;
        let strides = spatial("strides", &self.strides, format)?;
        let paddings = paddings(self.padding, explicit_paddings, format)?;
        Ok(Pooling {
            format,
            size,
            slides: slides(strides, [1, 1], paddings),
        })
    }
}

/// The pooling of averages, whose ops have no explicit paddings.
struct Average(Pooling);

impl Prepare for Average {
    type Attributes = AverageAttributes;

    fn prepare(it: AverageAttributes) -> Result<Self> {
        it.pooling(&[]).map(Self)
    }
}

#[derive(Attributes)]
struct MaxAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    explicit_paddings: Vec<i64>,
    data_format: DataFormat,
}

/// The pooling of maxima.
struct Max(Pooling);

impl Prepare for Max {
    type Attributes = MaxAttributes;

    fn prepare(it: MaxAttributes) -> Result<Self> {
        let MaxAttributes {
            ksize,
            strides,
            padding,
            explicit_paddings,
            data_format,
        } = it;
        AverageAttributes {
            ksize,
            strides,
            padding,
            data_format,
        }
        .pooling(&explicit_paddings)
        .map(Self)
    }
}

impl Pooling {
    /// Returns the plan for an input with the dims of its tensor.
    fn plan(&self, input: &[usize]) -> Result<Pool> {
        let input = self.format.to_channels_last(dims4("the input", input)?);
        Ok(Pool::new(input, self.size, self.slides)?)
    }

    /// Checks the shape of a tensor with an element for each window.
    fn check_output(&self, name: &str, plan: &Pool, found: &[usize]) -> Result<()> {
        let expected = self.format.dims(plan.output());
        match found == expected {
            true => Ok(()),
            false => Err(Error::invalid_argument(format!(
                "{name} must have shape {expected:?}, not {found:?}"
            ))),
        }
    }
}

#[kernel(MaxPool, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn max_pool<T: Element + Precision<Compute: Number>>(
    #[state] Max(it): &Max,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims())?;
    it.format.write(plan.output(), output, |y| {
        it.format
            .read(plan.input(), &T::widened(input.data()), |x| {
                pool::max_pool(&plan, x, y)
            })
    })
}

#[kernel(MaxPoolGrad, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn max_pool_grad<T: Element + Precision<Compute: Number>>(
    #[state] Max(it): &Max,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(orig_input.dims())?;
    it.check_output("orig_output", &plan, orig_output.dims())?;
    it.check_output("grad", &plan, grad.dims())?;
    it.format.write(plan.input(), output, |dx| {
        it.format
            .read(plan.output(), &T::widened(grad.data()), |dy| {
                it.format
                    .read(plan.input(), &T::widened(orig_input.data()), |x| {
                        pool::max_pool_grad(&plan, x, dy, dx)
                    });
            });
    })
}

#[kernel(AvgPool, T = [F16, Bf16, f32, f64])]
fn average_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] Average(it): &Average,
    value: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(value.dims())?;
    it.format.write(plan.output(), output, |y| {
        it.format
            .read(plan.input(), &T::widened(value.data()), |x| {
                pool::average_pool(&plan, x, y)
            })
    })
}

#[kernel(AvgPoolGrad, T = [F16, Bf16, f32, f64])]
fn average_pool_grad<T: Element + Precision<Compute: Elementary>>(
    #[state] Average(it): &Average,
    orig_input_shape: HostIn<'_, i32>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(&shape("orig_input_shape", &orig_input_shape)?)?;
    it.check_output("grad", &plan, grad.dims())?;
    it.format.write(plan.input(), output, |dx| {
        it.format
            .read(plan.output(), &T::widened(grad.data()), |dy| {
                pool::average_pool_grad(&plan, dy, dx)
            });
    })
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![max_pool, max_pool_grad, average_pool, average_pool_grad]
}
