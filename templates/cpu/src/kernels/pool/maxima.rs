//! Windows of maxima: they extend over rows and columns, or over channels.

use super::super::image::{DataFormat, PaddingKind, to_dims};
use super::super::layout::ChannelFormat;
use super::super::prelude::*;
use super::pooling::{ImagePooling, of_channels};
use crate::compute::nn::pool::{self, Pool};
use crate::compute::nn::window::{Padding, Slide};

/// The windows of maxima.
pub enum MaxPooling {
    /// Windows over rows and columns.
    Spatial(ImagePooling),
    /// Windows over channels.
    Channels(ChannelPooling),
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

impl MaxPooling {
    /// Checks the attributes: `sizes` are the windows and their strides.
    ///
    /// # Errors
    /// Returns an error if windows extend over the batch, or over channels and rows or columns, or may lie in the padding.
    pub fn new(
        sizes: [&[i64]; 2],
        padding: PaddingKind,
        explicit_paddings: &[i64],
        format: DataFormat,
    ) -> Result<Self> {
        match of_channels(sizes[0], format) {
            None | Some(..=1) => {
                ImagePooling::new(sizes, padding, explicit_paddings, format).map(Self::Spatial)
            }
            Some(_) => ChannelPooling::new(sizes, format).map(Self::Channels),
        }
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
        match self {
            Self::Spatial(it) => it.maxima([input], output),
            Self::Channels(it) => it.maxima(input, output),
        }
    }

    /// Writes the gradient of maxima from their input, their result and its gradient.
    ///
    /// # Errors
    /// Returns an error if a tensor has a wrong shape, or if windows extend over channels.
    pub fn gradient<T: Element + Precision<Compute: Number>>(
        &self,
        tensors: [In<'_, T>; 3],
        output: Out<'_, T>,
    ) -> Result<()> {
        match self {
            Self::Spatial(it) => it.gradient_of_maxima(tensors, output),
            Self::Channels(_) => Err(Error::unimplemented(
                "MaxPoolingGrad is not yet supported on the depth dimension: the windows extend over channels",
            )),
        }
    }
}

/// Windows over channels, which do not overlap.
pub struct ChannelPooling {
    format: DataFormat,
    /// The number of channels of a window.
    size: usize,
}

impl ChannelPooling {
    /// Checks the attributes. The strides of rows and columns have no effect, as on the CPU.
    fn new([ksize, strides]: [&[i64]; 2], format: DataFormat) -> Result<Self> {
        let unsupported = |message: &str| {
            Err(Error::unimplemented(format!(
                "ksize {ksize:?} and strides {strides:?}: {message}"
            )))
        };
        let [batch, rows, columns, size] = match <&[i64; 4]>::try_from(ksize) {
            Ok(ksize) => format.to_channels_last(*ksize),
            Err(_) => return unsupported("both must have 4 elements"),
        };
        if batch != 1 {
            return unsupported("Pooling is not yet supported on the batch dimension");
        }
        if [rows, columns] != [1, 1] {
            return unsupported(
                "MaxPooling supports exactly one of pooling across depth or pooling across width/height",
            );
        }
        if of_channels(strides, format) != Some(size) {
            return unsupported(
                "Depthwise max pooling requires the depth window to equal the depth stride",
            );
        }
        match super::super::image::to_size(size) {
            Some(size @ 1..) => Ok(Self { format, size }),
            _ => invalid!("ksize {ksize:?} must be above 0 and at most 2147483647"),
        }
    }

    /// Returns the plan: an image of one channel, with a row for each window.
    fn plan(&self, input: [usize; 4]) -> Result<Pool> {
        let windows: usize = input[..3].iter().product::<usize>() * (input[3] / self.size);
        let slide = Slide {
            stride: self.size,
            dilation: 1,
            padding: Padding::Valid,
        };
        let dims = [1, windows, self.size, 1];
        Ok(Pool::new(dims, [1, self.size], [Slide::NONE, slide])?)
    }

    fn maxima<T: Element + Precision<Compute: Number>>(
        &self,
        input: In<'_, T>,
        output: Out<'_, T>,
    ) -> Result<()> {
        let dims = self
            .format
            .to_channels_last(to_dims("the input", input.dims())?);
        let [batch, rows, columns, channels] = dims;
        if !channels.is_multiple_of(self.size) {
            return Err(Error::unimplemented(format!(
                "Depthwise max pooling requires the depth window to evenly divide the input depth: windows of {} channels, \
                 and an input of shape {:?}",
                self.size,
                input.dims()
            )));
        }
        let plan = self.plan(dims)?;
        let result = [batch, rows, columns, channels / self.size];
        self.format.write(result, output, |y| {
            let input = T::widened(input.data());
            self.format
                .read(dims, &input, |x| pool::max_pool(&plan, x, y))
        })
    }
}
