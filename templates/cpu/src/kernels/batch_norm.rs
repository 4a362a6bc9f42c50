//! Batch normalization and its gradient, in all versions of their ops.
//!
//! Outputs that TensorFlow reserves for the gradient are those of its CPU kernels without oneDNN: mean, variance, and a
//! zero that nobody reads. So a gradient may be computed on another device than its result.

mod gradient;
mod instances; // since 2.14
mod normalization;

use super::image::DataFormat;
use super::prelude::*;
use crate::compute::nn::batch_norm::Channels;
use sp_plugin::kernel::Kernel;

/// The position of the channels, and the number of dims.
#[derive(Clone, Copy, AttributeValue)]
pub enum BatchNormFormat {
    /// Images, channels last.
    #[value("NHWC")]
    ChannelsLast,
    /// Images, channels first.
    #[value("NCHW")]
    ChannelsFirst,
    /// Volumes, channels last.
    #[value("NDHWC")]
    VolumeChannelsLast,
    /// Volumes, channels first.
    #[value("NCDHW")]
    VolumeChannelsFirst,
}

impl From<DataFormat> for BatchNormFormat {
    fn from(format: DataFormat) -> Self {
        match format {
            DataFormat::ChannelsLast => Self::ChannelsLast,
            DataFormat::ChannelsFirst => Self::ChannelsFirst,
        }
    }
}

impl BatchNormFormat {
    fn layout(self) -> DataFormat {
        match self {
            Self::ChannelsLast | Self::VolumeChannelsLast => DataFormat::ChannelsLast,
            Self::ChannelsFirst | Self::VolumeChannelsFirst => DataFormat::ChannelsFirst,
        }
    }

    /// Returns how a tensor is divided into channels.
    ///
    /// # Errors
    /// Returns an error if the tensor has another number of dims.
    fn channels(self, name: &str, dims: &[usize]) -> Result<Channels> {
        let rank = match self {
            Self::ChannelsLast | Self::ChannelsFirst => 4,
            Self::VolumeChannelsLast | Self::VolumeChannelsFirst => 5,
        };
        // TensorFlow takes images as volumes of unknown depth.
        if dims.len() != rank && (dims.len() != 4 || rank != 5) {
            return invalid!(
                "{name}: the input must be {rank}-dimensional, not {}",
                Dims(dims)
            );
        }
        let axis = crate::compute::nn::bias::ChannelLayout::from(self.layout()).axis(dims.len());
        let inner = len(&dims[axis + 1..]);
        let count = len(&dims[..axis]).saturating_mul(inner);
        Ok(Channels {
            channels: dims[axis],
            inner,
            count,
        })
    }
}

/// Checks that a parameter is a vector with an element for each channel.
fn check_vector(name: &str, found: &[usize], channels: usize) -> Result<()> {
    match *found == [channels] {
        true => Ok(()),
        false => invalid!(
            "{name} must have the same number of elements as the channels of x, got {} and {channels}: it must be 1-dimensional, not {}",
            found.iter().product::<usize>(),
            Dims(found)
        ),
    }
}

/// Returns the kernels of these files.
pub fn table() -> Vec<&'static Kernel> {
    let mut table = normalization::table();
    table.extend(gradient::table());
    table.extend(instances::table()); // since 2.14
    table
}
