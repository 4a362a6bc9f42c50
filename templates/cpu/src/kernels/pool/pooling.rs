//! Windows over the spatial dims of images and volumes, and the functions that pools of both share.

use super::super::image::{
    DataFormat, PaddingKind, check_dims, paddings, slides, spatial, to_dims,
};
use super::super::layout::ChannelFormat;
use super::super::prelude::*;
use super::super::volume::{VolumeFormat, slides_3d, spatial_3d};
use crate::compute::elementary::Elementary;
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::{Padding, Slide};
use std::array::from_fn;

/// Windows over tensors with `N` dims, from checked attributes.
pub struct Pooling<F, const N: usize> {
    /// The position of the channels.
    pub format: F,
    size: [usize; 3],
    slides: [Slide; 3],
}

/// Windows over rows and columns.
pub type ImagePooling = Pooling<DataFormat, 4>;

/// Windows over planes, rows and columns.
pub type VolumePooling = Pooling<VolumeFormat, 5>;

#[derive(Attributes)]
pub struct PoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: DataFormat,
}

impl Prepare for ImagePooling {
    type Attributes = PoolAttributes;

    /// Checks the attributes of an op without explicit paddings.
    fn prepare(it: PoolAttributes) -> Result<Self> {
        let sizes = [&it.ksize[..], &it.strides];
        Self::new(sizes, it.padding, &[], it.data_format)
    }
}

#[derive(Attributes)]
pub struct VolumePoolAttributes {
    ksize: Vec<i64>,
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: VolumeFormat,
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

impl ImagePooling {
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
        let [rows, columns] = spatial("ksize", ksize, format)?;
        let strides = spatial_strides(strides, format)?;
        let paddings = paddings(padding, explicit_paddings, format)?;
        check_paddings([rows, columns], paddings)?;
        let [along_rows, along_columns] = slides(strides, [1, 1], paddings);
        Ok(Self {
            format,
            size: [1, rows, columns],
            slides: [Slide::NONE, along_rows, along_columns],
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

/// Returns the dims of a tensor with `N` dims from those of a volume; an image is a volume of one plane.
fn tensor_dims<const N: usize>(volume: [usize; 5]) -> [usize; N] {
    from_fn(|axis| volume[if axis == 0 { 0 } else { axis + 5 - N }])
}

impl<F: ChannelFormat<N>, const N: usize> Pooling<F, N> {
    /// Returns the plan for an input with the dims of its tensor.
    ///
    /// # Errors
    /// Returns an error if the tensor has another number of dims, or is smaller than a window.
    pub fn plan(&self, input: &[usize]) -> Result<Pool> {
        let dims: [usize; N] = self.format.to_channels_last(to_dims("the input", input)?);
        let mut volume = [1; 5];
        volume[0] = dims[0];
        volume[6 - N..].copy_from_slice(&dims[1..]);
        Ok(Pool::new_3d(volume, self.size, self.slides)?)
    }

    /// Checks the shape of a tensor with an element for each window.
    ///
    /// # Errors
    /// Returns an error if it has another shape.
    pub fn check_output(&self, name: &str, plan: &Pool, found: &[usize]) -> Result<()> {
        check_dims(
            name,
            found,
            &self.format.dims::<usize>(tensor_dims(plan.output_3d())),
        )
    }

    /// Writes the result of `compute` for an input.
    fn write<T: Element + Precision>(
        &self,
        input: In<'_, T>,
        output: Out<'_, T>,
        compute: impl FnOnce(&Pool, &[T::Compute], &mut [T::Compute]),
    ) -> Result<()> {
        let plan = self.plan(input.dims())?;
        let (from, to) = (plan.input_3d(), plan.output_3d());
        self.format.write(tensor_dims(to), output, |y| {
            let input = T::widened(input.data());
            self.format
                .read(tensor_dims(from), &input, |x| compute(&plan, x, y))
        })
    }

    /// Writes the largest element of each window.
    ///
    /// # Errors
    /// Returns an error if the input has a wrong shape.
    pub fn maxima<T: Element + Precision<Compute: Number>>(
        &self,
        [input]: [In<'_, T>; 1],
        output: Out<'_, T>,
    ) -> Result<()> {
        self.write(input, output, pool::max_pool)
    }

    /// Writes the average of each window.
    ///
    /// # Errors
    /// Returns an error if the input has a wrong shape.
    pub fn averages<T: Element + Precision<Compute: Elementary>>(
        &self,
        [input]: [In<'_, T>; 1],
        output: Out<'_, T>,
    ) -> Result<()> {
        self.write(input, output, pool::average_pool)
    }

    /// Writes the gradient of averages of an input with the dims `input`.
    ///
    /// # Errors
    /// Returns an error if a shape is wrong.
    pub fn gradient_of_averages<T: Element + Precision<Compute: Elementary>>(
        &self,
        input: &[usize],
        gradient: In<'_, T>,
        output: Out<'_, T>,
    ) -> Result<()> {
        let plan = self.plan(input)?;
        self.check_output("grad", &plan, gradient.dims())?;
        let (from, to) = (plan.output_3d(), plan.input_3d());
        self.format.write(tensor_dims(to), output, |dx| {
            let gradient = T::widened(gradient.data());
            self.format.read(tensor_dims(from), &gradient, |dy| {
                pool::average_pool_grad(&plan, dy, dx)
            });
        })
    }

    /// Writes the element of `grad` where the input has the largest element of a window.
    ///
    /// # Errors
    /// Returns an error if a tensor has a wrong shape.
    pub fn second_gradient<T: Element + Precision<Compute: Elementary>>(
        &self,
        [input, result, grad]: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        let (plan, format) = (self.plan(input.dims())?, self.format);
        self.check_output("orig_output", &plan, result.dims())?;
        check_dims("grad", grad.dims(), input.dims())?;
        let [x, y, dx] = [&input, &result, &grad].map(|it| T::widened(it.data()));
        let (from, to) = (tensor_dims(plan.input_3d()), tensor_dims(plan.output_3d()));
        format.write(to, output, |out| {
            format.read(from, &x, |x| {
                format.read(from, &dx, |dx| {
                    format.read(to, &y, |y| pool::select_equal(&plan, [x, dx], y, out));
                })
            })
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
pub fn of_channels(values: &[i64], format: DataFormat) -> Option<i64> {
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
