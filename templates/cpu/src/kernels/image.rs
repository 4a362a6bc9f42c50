//! Attributes and shapes of kernels that work on images: the layout, strides and padding.

use super::prelude::*;
use crate::compute::nn::bias::ChannelLayout;
use crate::compute::nn::window::{Padding, Slide};
use crate::compute::strided::permute;
use crate::compute::workspace::Buffer;
use sp_plugin::kernel::OutSlice;

/// The position of the channels.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum DataFormat {
    /// The last dim.
    #[value("NHWC")]
    ChannelsLast,
    /// The second dim.
    #[value("NCHW")]
    ChannelsFirst,
}

impl From<DataFormat> for ChannelLayout {
    fn from(format: DataFormat) -> Self {
        match format {
            DataFormat::ChannelsLast => Self::ChannelsLast,
            DataFormat::ChannelsFirst => Self::ChannelsFirst,
        }
    }
}

impl DataFormat {
    /// Returns a list of one item per dim as batch, rows, columns, channels.
    pub fn to_channels_last<T: Copy>(self, [n, a, b, c]: [T; 4]) -> [T; 4] {
        match self {
            Self::ChannelsLast => [n, a, b, c],
            Self::ChannelsFirst => [n, b, c, a],
        }
    }

    /// Returns a list in the order batch, rows, columns, channels in the order of the tensor's dims.
    pub fn dims<T: Copy>(self, [n, h, w, c]: [T; 4]) -> [T; 4] {
        match self {
            Self::ChannelsLast => [n, h, w, c],
            Self::ChannelsFirst => [n, c, h, w],
        }
    }

    /// Calls `compute` with the elements of a tensor of `dims`, channels last.
    pub fn read<T: Copy + Send + Sync, R>(
        self,
        dims: [usize; 4],
        x: &[T],
        compute: impl FnOnce(&[T]) -> R,
    ) -> R {
        match self {
            Self::ChannelsLast => compute(x),
            Self::ChannelsFirst => {
                let mut copy = x.to_vec();
                permute(&self.dims(dims), &[0, 2, 3, 1], x, &mut copy);
                compute(&copy)
            }
        }
    }

    /// Allocates an output of `dims`, which are channels last, and calls `compute`, which writes its elements channels
    /// last.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn write<T: Element + Precision>(
        self,
        dims: [usize; 4],
        out: Out<'_, T>,
        compute: impl FnOnce(&mut [T::Compute]),
    ) -> Result<()> {
        let mut out: OutSlice<'_, T> = out.unspecified(&self.dims(dims))?;
        T::overwrite(&mut out, |out| match self {
            Self::ChannelsLast => compute(out),
            Self::ChannelsFirst => {
                let mut copy = Buffer::new(out.len());
                compute(&mut copy);
                permute(&dims, &[0, 3, 1, 2], &copy, out);
            }
        });
        Ok(())
    }
}

/// The kind of padding.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum PaddingKind {
    /// As many elements as give `ceil(input / stride)` windows.
    #[value("SAME")]
    Same,
    /// None.
    #[value("VALID")]
    Valid,
    /// As the attribute `explicit_paddings` states.
    #[value("EXPLICIT")]
    Explicit,
}

/// Returns the paddings of rows and columns.
///
/// # Errors
/// Returns an error if the explicit paddings are not those of four dims, or do not match the kind.
pub fn paddings(kind: PaddingKind, explicit: &[i64], format: DataFormat) -> Result<[Padding; 2]> {
    let invalid = |reason: &str| {
        Err(Error::invalid_argument(format!(
            "explicit_paddings {explicit:?}: {reason}"
        )))
    };
    match kind {
        PaddingKind::Explicit => {}
        _ if !explicit.is_empty() => return invalid("must be empty unless padding is EXPLICIT"),
        PaddingKind::Same => return Ok([Padding::Same; 2]),
        PaddingKind::Valid => return Ok([Padding::Valid; 2]),
    }
    let Ok(&[a, b, c, d, e, f, g, h]) = <&[i64; 8]>::try_from(explicit) else {
        return invalid("must have 8 elements, two for each dimension");
    };
    let [batch, rows, columns, channels] =
        format.to_channels_last([[a, b], [c, d], [e, f], [g, h]]);
    if batch != [0, 0] || channels != [0, 0] {
        return invalid("batch and channels cannot be padded");
    }
    let pad = |it: [i64; 2]| -> Option<Padding> {
        let [before, after] = [to_size(it[0])?, to_size(it[1])?];
        Some(Padding::Explicit(before, after))
    };
    match (pad(rows), pad(columns)) {
        (Some(rows), Some(columns)) => Ok([rows, columns]),
        _ => invalid("must not be negative, nor above 2147483647"),
    }
}

/// Returns the two spatial elements of an attribute with an element for each dim.
///
/// # Errors
/// Returns an error if there are not four, if one is not positive, or if that of the batch or the channels is not 1.
pub fn spatial(name: &str, values: &[i64], format: DataFormat) -> Result<[usize; 2]> {
    let Ok(&values) = <&[i64; 4]>::try_from(values) else {
        let message = format!("{name} {values:?} must have 4 elements, one for each dimension");
        return Err(Error::invalid_argument(message));
    };
    let [batch, rows, columns, channels] = format.to_channels_last(values);
    if [batch, channels] != [1, 1] {
        let message =
            format!("{name} {values:?} other than 1 of batch and channels are not supported");
        return Err(Error::unimplemented(message));
    }
    match (to_size(rows), to_size(columns)) {
        (Some(rows @ 1..), Some(columns @ 1..)) => Ok([rows, columns]),
        _ => Err(Error::invalid_argument(format!(
            "{name} {values:?} of rows and columns must be above 0 and at most 2147483647"
        ))),
    }
}

/// Converts a number that TensorFlow limits to 31 bits.
pub fn to_size(value: i64) -> Option<usize> {
    i32::try_from(value).ok()?.try_into().ok()
}

/// Returns how windows move along rows and columns.
pub fn slides(strides: [usize; 2], dilations: [usize; 2], paddings: [Padding; 2]) -> [Slide; 2] {
    [0, 1].map(|i| Slide {
        stride: strides[i],
        dilation: dilations[i],
        padding: paddings[i],
    })
}

/// Returns the four dims of a tensor.
///
/// # Errors
/// Returns an error if there is another number of dims.
pub fn dims4(name: &str, dims: &[usize]) -> Result<[usize; 4]> {
    let message =
        || Error::invalid_argument(format!("{name} must have 4 dimensions, not shape {dims:?}"));
    dims.try_into().map_err(|_| message())
}

/// Converts a shape that is an input.
///
/// # Errors
/// Returns an error if it is not a vector, or an element is negative.
pub fn shape(name: &str, values: &HostIn<'_, i32>) -> Result<Vec<usize>> {
    if values.dims().len() != 1 {
        let message = format!("{name} must be a vector, not of shape {:?}", values.dims());
        return Err(Error::invalid_argument(message));
    }
    let negative =
        || Error::invalid_argument(format!("{name} {:?} has a negative size", values.data()));
    values
        .data()
        .iter()
        .map(|it| usize::try_from(*it).map_err(|_| negative()))
        .collect()
}
