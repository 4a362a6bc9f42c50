//! Attributes and shapes of kernels that work on images: the layout, strides and padding.

pub use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::nn::bias::ChannelLayout;
use crate::compute::nn::window::{Padding, Slide};
use std::array::from_fn;

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

impl ChannelFormat<4> for DataFormat {}

/// The kind of padding.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum PaddingKind {
    /// The elements that give `ceil(input / stride)` windows.
    #[value("SAME")]
    Same,
    /// None.
    #[value("VALID")]
    Valid,
    /// The elements that the attribute `explicit_paddings` states.
    #[value("EXPLICIT")]
    Explicit,
}

/// Returns the paddings of rows and columns.
///
/// # Errors
/// Returns an error if the explicit paddings are not those of four dims, or do not match the kind.
pub fn paddings(kind: PaddingKind, explicit: &[i64], format: DataFormat) -> Result<[Padding; 2]> {
    let invalid = |reason: &str| invalid!("explicit_paddings {explicit:?}: {reason}");
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
        return invalid!("{name} {values:?} must have 4 elements, one for each dimension");
    };
    let [batch, rows, columns, channels] = format.to_channels_last(values);
    if [batch, channels] != [1, 1] {
        return Err(Error::unimplemented(not_spatial(name, &values)));
    }
    match (to_size(rows), to_size(columns)) {
        (Some(rows @ 1..), Some(columns @ 1..)) => Ok([rows, columns]),
        _ => {
            invalid!("{name} {values:?} of rows and columns must be above 0 and at most 2147483647")
        }
    }
}

/// Checks that a tensor has a shape.
///
/// # Errors
/// Returns an error if it has another one.
pub fn check_dims(name: &str, found: &[usize], expected: &[usize]) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => invalid!("{name} must have shape {expected:?}, not {found:?}"),
    }
}

/// Returns the message about an attribute whose elements of batch and channels are not 1.
pub fn not_spatial(name: &str, values: &[i64]) -> String {
    let reason = match name {
        "ksize" => "Pooling is not yet supported on the batch dimension".into(),
        name => {
            format!("this device does not yet support {name} in the batch and depth dimensions")
        }
    };
    format!("{name} {values:?} must have 1 for batch and channels: {reason}")
}

/// Checks that the windows of a convolution have elements, unless the result is empty.
///
/// # Errors
/// Returns an error if a spatial dim of the filter is 0.
pub fn check_filter(filter: &[usize], output: &[usize]) -> Result<()> {
    let spatial = filter.len().saturating_sub(2);
    match filter[..spatial].contains(&0) && !output.contains(&0) {
        false => Ok(()),
        true => invalid!(
            "filter of shape {filter:?} has an empty window: its spatial dimensions must be above 0"
        ),
    }
}

/// Converts a number that TensorFlow limits to 31 bits.
pub fn to_size(value: i64) -> Option<usize> {
    i32::try_from(value).ok()?.try_into().ok()
}

/// Returns how windows move along the spatial dims.
pub fn slides<const N: usize>(
    strides: [usize; N],
    dilations: [usize; N],
    paddings: [Padding; N],
) -> [Slide; N] {
    from_fn(|i| Slide {
        stride: strides[i],
        dilation: dilations[i],
        padding: paddings[i],
    })
}

/// Returns the dims of a tensor of `N` dims.
///
/// # Errors
/// Returns an error if there is another number of dims.
pub fn to_dims<const N: usize>(name: &str, dims: &[usize]) -> Result<[usize; N]> {
    let message =
        || Error::invalid_argument(format!("{name} must be {N}-dimensional: {}", Dims(dims)));
    dims.try_into().map_err(|_| message())
}

/// Converts a shape that is an input.
///
/// # Errors
/// Returns an error if it is not a vector, or an element is negative.
pub fn shape(name: &str, values: &HostIn<'_, i32>) -> Result<Vec<usize>> {
    if values.dims().len() != 1 {
        return invalid!("{name} must be a vector, not of shape {:?}", values.dims());
    }
    let negative = || {
        Error::invalid_argument(format!(
            "{name} {} has a negative size: it must be >= 0",
            listed(values.data())
        ))
    };
    let sizes = values.data().iter();
    allocation::try_collect(sizes.map(|it| usize::try_from(*it).map_err(|_| negative())))
}
