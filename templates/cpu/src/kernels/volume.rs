//! Attributes and shapes of kernels that work on volumes: the layout, strides and padding.

use super::image::{PaddingKind, not_spatial, slides, to_size};
use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::nn::bias::ChannelLayout;
use crate::compute::nn::window::{Padding, Slide};

/// The position of the channels.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
pub enum VolumeFormat {
    /// The last dim.
    #[value("NDHWC")]
    ChannelsLast,
    /// The second dim.
    #[value("NCDHW")]
    ChannelsFirst,
}

impl From<VolumeFormat> for ChannelLayout {
    fn from(format: VolumeFormat) -> Self {
        match format {
            VolumeFormat::ChannelsLast => Self::ChannelsLast,
            VolumeFormat::ChannelsFirst => Self::ChannelsFirst,
        }
    }
}

impl ChannelFormat<5> for VolumeFormat {}

/// Returns the three spatial elements of an attribute with an element for each dim. `unsupported` creates the error for
/// batch and channels.
///
/// # Errors
/// Returns an error if there are not five, if one is not positive, or if that of the batch or the channels is not 1.
pub fn spatial_3d(
    name: &str,
    values: &[i64],
    format: VolumeFormat,
    unsupported: fn(String) -> Error,
) -> Result<[usize; 3]> {
    let Ok(&values) = <&[i64; 5]>::try_from(values) else {
        return invalid!("{name} {values:?} must have 5 elements, one for each dimension");
    };
    let [batch, planes, rows, columns, channels] = format.to_channels_last(values);
    if [batch, channels] != [1, 1] {
        return Err(unsupported(not_spatial(name, &values)));
    }
    match (to_size(planes), to_size(rows), to_size(columns)) {
        (Some(planes @ 1..), Some(rows @ 1..), Some(columns @ 1..)) => Ok([planes, rows, columns]),
        _ => invalid!(
            "{name} {values:?} of planes, rows and columns must be above 0 and at most 2147483647"
        ),
    }
}

/// Returns how windows move along planes, rows and columns.
///
/// # Errors
/// Returns an error for explicit paddings, which the ops do not have.
pub fn slides_3d(
    strides: [usize; 3],
    dilations: [usize; 3],
    padding: PaddingKind,
) -> Result<[Slide; 3]> {
    let padding = match padding {
        PaddingKind::Same => Padding::Same,
        PaddingKind::Valid => Padding::Valid,
        PaddingKind::Explicit => {
            return invalid!("padding must be SAME or VALID");
        }
    };
    Ok(slides(strides, dilations, [padding; 3]))
}
