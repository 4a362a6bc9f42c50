//! Pools and their gradients.

mod maxima;

pub use self::maxima::MaxPooling;
use super::image::{DataFormat, PaddingKind, check_dims, dims4, paddings, shape, slides, spatial};
use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::{Padding, Slide};
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

/// The checked attributes.
pub struct Pooling {
    /// The position of the channels.
    pub format: DataFormat,
    /// The rows and columns of a window.
    pub size: [usize; 2],
    /// The movement along rows and columns.
    pub slides: [Slide; 2],
}

#[derive(Attributes)]
pub struct PoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: DataFormat,
}

impl Prepare for Pooling {
    type Attributes = PoolAttributes;

    /// Checks the attributes of an op without explicit paddings.
    fn prepare(it: PoolAttributes) -> Result<Self> {
        let sizes = [&it.ksize[..], &it.strides];
        Self::new(sizes, it.padding, &[], it.data_format)
    }
}

#[derive(Attributes)]
pub struct MaxPoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    explicit_paddings: Vec<i64>,
    data_format: DataFormat,
}

impl Prepare for MaxPooling {
    type Attributes = MaxPoolAttributes;

    fn prepare(it: MaxPoolAttributes) -> Result<Self> {
        let sizes = [&it.ksize[..], &it.strides];
        Self::new(sizes, it.padding, &it.explicit_paddings, it.data_format)
    }
}

impl Pooling {
    /// Checks the attributes: `sizes` are the windows and their strides.
    ///
    /// # Errors
    /// Returns an error if windows extend over batch or channels, or may lie in the padding.
    pub fn new(
        [ksize, strides]: [&[i64]; 2],
        padding: PaddingKind,
        explicit_paddings: &[i64],
        format: DataFormat,
    ) -> Result<Self> {
        check_channels(ksize, format)?;
        let size = spatial("ksize", ksize, format)?;
        let strides = spatial_strides(strides, format)?;
        let paddings = paddings(padding, explicit_paddings, format)?;
        check_paddings(size, paddings)?;
        Ok(Self {
            format,
            size,
            slides: slides(strides, [1, 1], paddings),
        })
    }

    /// Returns the plan for an input with the dims of its tensor.
    ///
    /// # Errors
    /// Returns an error if the tensor is not of images, or they are smaller than a window.
    pub fn plan(&self, input: &[usize]) -> Result<Pool> {
        let input = self.format.to_channels_last(dims4("the input", input)?);
        Ok(Pool::new(input, self.size, self.slides)?)
    }

    /// Checks the shape of a tensor with an element for each window.
    ///
    /// # Errors
    /// Returns an error if it has another shape.
    pub fn check_output(&self, name: &str, plan: &Pool, found: &[usize]) -> Result<()> {
        check_dims(name, found, &self.format.dims(plan.output()))
    }

    /// Writes the largest element of each window.
    ///
    /// # Errors
    /// Returns an error if the input has a wrong shape.
    pub fn maxima<T: Element + Precision<Compute: Number>>(
        &self,
        input: In<'_, T>,
        output: Out<'_, T>,
    ) -> Result<()> {
        let plan = self.plan(input.dims())?;
        self.format.write(plan.output(), output, |y| {
            let input = T::widened(input.data());
            self.format
                .read(plan.input(), &input, |x| pool::max_pool(&plan, x, y))
        })
    }

    /// Writes the gradient of maxima from their input, their result and its gradient.
    ///
    /// # Errors
    /// Returns an error if a tensor has a wrong shape.
    pub fn gradient_of_maxima<T: Element + Precision<Compute: Number>>(
        &self,
        [input, result, gradient]: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        let plan = self.plan(input.dims())?;
        self.check_output("orig_output", &plan, result.dims())?;
        self.check_output("grad", &plan, gradient.dims())?;
        self.format.write(plan.input(), output, |dx| {
            let gradient = T::widened(gradient.data());
            self.format.read(plan.output(), &gradient, |dy| {
                let input = T::widened(input.data());
                self.format.read(plan.input(), &input, |x| {
                    pool::max_pool_grad(&plan, x, dy, dx)
                });
            });
        })
    }
}

/// Checks that windows do not extend over channels.
fn check_channels(ksize: &[i64], format: DataFormat) -> Result<()> {
    match of_channels(ksize, format) {
        None | Some(1) => Ok(()),
        Some(..=0) => invalid!("ksize {ksize:?} must be above 0"),
        Some(_) => Err(Error::unimplemented(format!(
            "ksize {ksize:?} has windows over channels: Non-spatial pooling is not yet supported, \
             the element of the channels must be 1"
        ))),
    }
}

/// Returns the element of the channels in a list with an element for each dim.
fn of_channels(values: &[i64], format: DataFormat) -> Option<i64> {
    let values = <&[i64; 4]>::try_from(values).ok()?;
    Some(format.to_channels_last(*values)[3])
}

/// Returns the strides of rows and columns. As in TensorFlow, windows do not move over channels, whatever the list says.
fn spatial_strides(strides: &[i64], format: DataFormat) -> Result<[usize; 2]> {
    let Ok(stated) = <[i64; 4]>::try_from(strides) else {
        return spatial("strides", strides, format);
    };
    let [batch, rows, columns, _] = format.to_channels_last(stated);
    spatial("strides", &format.dims([batch, rows, columns, 1]), format)
}

/// Checks that no window is within explicit padding.
fn check_paddings(size: [usize; 2], paddings: [Padding; 2]) -> Result<()> {
    let names = [["top", "bottom"], ["left", "right"]];
    for ((size, padding), names) in size.into_iter().zip(paddings).zip(names) {
        let Padding::Explicit(before, after) = padding else {
            continue;
        };
        let excess = [before, after].iter().position(|it| *it >= size);
        if let Some(side) = excess {
            return invalid!(
                "explicit_paddings: the {} padding {} must be below the size {size} of the window",
                names[side],
                [before, after][side]
            );
        }
    }
    Ok(())
}

#[kernel(MaxPool, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn max_pool<T: Element + Precision<Compute: Number>>(
    #[state] it: &MaxPooling,
    input: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.maxima(input, output)
}

#[kernel(MaxPoolGrad, T = [F16, Bf16, f32, f64, u8, i8, i32, i64])]
fn max_pool_grad<T: Element + Precision<Compute: Number>>(
    #[state] it: &MaxPooling,
    orig_input: In<'_, T>,
    orig_output: In<'_, T>,
    grad: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    it.gradient([orig_input, orig_output, grad], output)
}

#[kernel(AvgPool, T = [F16, Bf16, f32, f64])]
fn average_pool<T: Element + Precision<Compute: Elementary>>(
    #[state] it: &Pooling,
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
    #[state] it: &Pooling,
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
