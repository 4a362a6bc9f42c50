//! Convolution of images or volumes whose tensor has any number of batch dims.

use super::conv::{Conv, ConvAttributes};
use super::image::{DataFormat, PaddingKind, check_filter, to_dims, to_size};
use super::layout::ChannelFormat;
use super::prelude::*;
use super::volume::{VolumeFormat, spatial_3d};
use crate::compute::matmul::Factor;
use crate::compute::nn::conv::{self, Convolution};
use crate::compute::nn::window::{Padding, Slide};

/// The position of the channels, for any number of dims.
#[derive(Clone, Copy, PartialEq, Eq, AttributeValue)]
enum AnyFormat {
    /// The last dim.
    #[value("CHANNELS_LAST")]
    ChannelsLast,
    /// The first dim after those of the batch.
    #[value("CHANNELS_FIRST")]
    ChannelsFirst,
}

#[derive(Attributes)]
struct BatchConvAttributes {
    strides: Vec<i64>,
    padding: PaddingKind,
    explicit_paddings: Vec<i64>,
    data_format: AnyFormat,
    dilations: Vec<i64>,
    batch_dims: i64,
    groups: i64,
}

/// The checked attributes.
struct BatchConv {
    windows: Windows,
    batch_dims: usize,
    groups: usize,
}

/// The windows and their steps.
enum Windows {
    Images(Conv),
    Volumes(VolumeFormat, [Slide; 3]),
}

impl Prepare for BatchConv {
    type Attributes = BatchConvAttributes;

    fn prepare(mut it: BatchConvAttributes) -> Result<Self> {
        let [batch_dims, groups] = [it.batch_dims, it.groups].map(to_size);
        let (Some(batch_dims), Some(groups @ 1..)) = (batch_dims, groups) else {
            return invalid!(
                "batch_dims {} must be >= 0, and groups {} above 0",
                it.batch_dims,
                it.groups
            );
        };
        let is_of_volumes = it.strides.len() == 5;
        if it.dilations.is_empty() {
            it.dilations = vec![1; if is_of_volumes { 5 } else { 4 }];
        }
        let windows = match is_of_volumes {
            true => volumes(&it)?,
            false => Windows::Images(images(it)?),
        };
        Ok(Self {
            windows,
            batch_dims,
            groups,
        })
    }
}

fn images(it: BatchConvAttributes) -> Result<Conv> {
    Conv::prepare(ConvAttributes {
        strides: it.strides,
        padding: it.padding,
        explicit_paddings: it.explicit_paddings,
        data_format: match it.data_format {
            AnyFormat::ChannelsLast => DataFormat::ChannelsLast,
            AnyFormat::ChannelsFirst => DataFormat::ChannelsFirst,
        },
        dilations: it.dilations,
    })
}

fn volumes(it: &BatchConvAttributes) -> Result<Windows> {
    let format = match it.data_format {
        AnyFormat::ChannelsLast => VolumeFormat::ChannelsLast,
        AnyFormat::ChannelsFirst => VolumeFormat::ChannelsFirst,
    };
    let invalid = |message: String| Error::invalid_argument(message);
    let strides = spatial_3d("strides", &it.strides, format, invalid)?;
    let dilations = spatial_3d("dilations", &it.dilations, format, invalid)?;
    let paddings = paddings_3d(it.padding, &it.explicit_paddings, format)?;
    let slides = [0, 1, 2].map(|i| Slide {
        stride: strides[i],
        dilation: dilations[i],
        padding: paddings[i],
    });
    Ok(Windows::Volumes(format, slides))
}

/// Returns the paddings of planes, rows and columns.
fn paddings_3d(kind: PaddingKind, explicit: &[i64], format: VolumeFormat) -> Result<[Padding; 3]> {
    let invalid = || {
        invalid!(
            "explicit_paddings {explicit:?} must be empty unless padding is EXPLICIT, and then have 10 elements of 0 or above, \
             those of batch and channels 0"
        )
    };
    match kind {
        PaddingKind::Same if explicit.is_empty() => return Ok([Padding::Same; 3]),
        PaddingKind::Valid if explicit.is_empty() => return Ok([Padding::Valid; 3]),
        PaddingKind::Explicit if explicit.len() == 10 => {}
        _ => return invalid(),
    }
    let pairs = [0, 1, 2, 3, 4].map(|axis| [0, 1].map(|side| to_size(explicit[2 * axis + side])));
    match format.to_channels_last(pairs) {
        [
            [Some(0), Some(0)],
            planes,
            rows,
            columns,
            [Some(0), Some(0)],
        ] => {
            let pad = |it: [Option<usize>; 2]| Some(Padding::Explicit(it[0]?, it[1]?));
            match (pad(planes), pad(rows), pad(columns)) {
                (Some(planes), Some(rows), Some(columns)) => Ok([planes, rows, columns]),
                _ => invalid(),
            }
        }
        _ => invalid(),
    }
}

impl BatchConv {
    /// Splits the input's dims into those of the batch, and those of a tensor with one batch dim.
    fn split<'d>(&self, dims: &'d [usize], filter: &[usize]) -> Result<(&'d [usize], Vec<usize>)> {
        let spatial = dims.len() as i64 - 1 - self.batch_dims as i64;
        if !(2..=3).contains(&spatial) {
            return invalid!(
                "The input must have 2 or 3 spatial dimensions but got {spatial}: shape {dims:?} with batch_dims {}",
                self.batch_dims
            );
        }
        let expected = match self.windows {
            Windows::Images(_) => 2,
            Windows::Volumes(..) => 3,
        };
        if spatial != expected || filter.len() as i64 != expected + 2 {
            return invalid!(
                "Sliding window strides field must specify {} dimensions, as the filter of shape {filter:?} must have",
                spatial + 2
            );
        }
        let (batch, rest) = dims.split_at(self.batch_dims);
        Ok((batch, [&[len(batch)], rest].concat()))
    }

    /// Checks that the filter has the channels of a group.
    fn check_groups(&self, channels: usize, filter: &[usize]) -> Result<()> {
        let depth = filter[filter.len() - 2];
        match depth.checked_mul(self.groups) == Some(channels) {
            true => Ok(()),
            false => invalid!(
                "Input depth must be equal to filter depth: {channels} vs {depth} in {} groups",
                self.groups
            ),
        }
    }

    fn write_images<T: Element + Factor>(
        conv: &Conv,
        plan: &Convolution,
        batch: &[usize],
        [input, filter]: [&In<'_, T>; 2],
        output: Out<'_, T>,
    ) -> Result<()> {
        conv.format
            .write_batches(plan.output(), batch, output, |y| {
                conv.format.read(plan.input(), input.data(), |x| {
                    conv::convolve(plan, x, filter.data(), y);
                });
            })
    }

    fn write_volumes<T: Element + Factor>(
        format: VolumeFormat,
        plan: &Convolution,
        batch: &[usize],
        [input, filter]: [&In<'_, T>; 2],
        output: Out<'_, T>,
    ) -> Result<()> {
        format.write_batches(plan.output_3d(), batch, output, |y| {
            format.read(plan.input_3d(), input.data(), |x| {
                conv::convolve(plan, x, filter.data(), y);
            });
        })
    }
}

/// The CPU has neither channels first nor groups.
#[kernel(Conv, T = [F16, Bf16, f32, f64], releases = "2.14..")]
fn conv_batches<T: Element + Factor>(
    #[state] it: &BatchConv,
    input: In<'_, T>,
    filter: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let (batch, dims) = it.split(input.dims(), filter.dims())?;
    let operands = [&input, &filter];
    match &it.windows {
        Windows::Images(conv) => {
            let channels = if conv.format == DataFormat::ChannelsLast {
                3
            } else {
                1
            };
            it.check_groups(dims[channels], filter.dims())?;
            let plan = conv.forward_plan(&dims, filter.dims())?;
            BatchConv::write_images(conv, &plan, batch, operands, output)
        }
        Windows::Volumes(format, slides) => {
            let input_dims = format.to_channels_last(to_dims("the input", &dims)?);
            it.check_groups(input_dims[4], filter.dims())?;
            let filter_dims = to_dims("the filter", filter.dims())?;
            let plan = Convolution::new_3d(input_dims, filter_dims, *slides)?;
            check_filter(filter.dims(), &plan.output_3d())?;
            BatchConv::write_volumes(*format, &plan, batch, operands, output)
        }
    }
}

table! { conv_batches }
