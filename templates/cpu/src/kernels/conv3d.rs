//! Convolution of volumes and its gradients.

use super::image::{PaddingKind, check_dims, check_filter, to_dims};
use super::layout::ChannelFormat;
use super::prelude::*;
use super::volume::{VolumeFormat, slides_3d, spatial_3d};
use crate::compute::matmul::Factor;
use crate::compute::nn::conv::{self, Convolution};
use crate::compute::nn::window::Slide;

/// The attributes of all three ops.
#[derive(Attributes)]
struct VolumeConvAttributes {
    strides: Vec<i64>,
    padding: PaddingKind,
    data_format: VolumeFormat,
    dilations: Vec<i64>,
}

/// The checked attributes.
struct Conv3d {
    format: VolumeFormat,
    slides: [Slide; 3],
}

impl Prepare for Conv3d {
    type Attributes = VolumeConvAttributes;

    fn prepare(it: VolumeConvAttributes) -> Result<Self> {
        let format = it.data_format;
        let invalid = |message: String| Error::invalid_argument(message);
        let strides = spatial_3d("strides", &it.strides, format, invalid)?;
        let dilations = spatial_3d("dilations", &it.dilations, format, invalid)?;
        Ok(Self {
            format,
            slides: slides_3d(strides, dilations, it.padding)?,
        })
    }
}

impl Conv3d {
    /// Returns the plan for an input, with the dims of its tensor, and a filter. The CPU has no groups of channels, but XLA has.
    fn plan(&self, input: &[usize], filter: &[usize]) -> Result<Convolution> {
        let input = self.format.to_channels_last(to_dims("the input", input)?);
        let filter = to_dims("the filter", filter)?;
        Ok(Convolution::new_3d(input, filter, self.slides)?)
    }
}

/// Returns the dims that an input states.
fn stated_dims(name: &str, sizes: &HostIn<'_, Index>) -> Result<Vec<usize>> {
    let sizes_of = |message: &str| {
        Error::invalid_argument(format!("{name} {} {message}", listed(sizes.iter())))
    };
    if sizes.dims().len() != 1 {
        return Err(sizes_of("must be a vector"));
    }
    let size = |size: i64| usize::try_from(size).map_err(|_| sizes_of("has a negative size"));
    allocation::try_collect(sizes.iter().map(size))
}

#[kernel(Conv3D, T = [F16, Bf16, f32, f64])]
fn conv3d<T: Element + Factor>(
    #[state] it: &Conv3d,
    input: In<'_, T>,
    filter: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let plan = it.plan(input.dims(), filter.dims())?;
    check_filter(filter.dims(), &plan.output_3d())?;
    it.format.write(plan.output_3d(), output, |y| {
        it.format.read(plan.input_3d(), input.data(), |x| {
            conv::convolve(&plan, x, filter.data(), y)
        });
    })
}

#[kernel(Conv3DBackpropInputV2, T = [F16, Bf16, f32, f64])]
fn conv3d_backprop_input<T: Element + Factor>(
    #[state] it: &Conv3d,
    input_sizes: HostIn<'_, Index>,
    filter: In<'_, T>,
    out_backprop: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let dims = stated_dims("input_sizes", &input_sizes)?;
    let plan = it.plan(&dims, filter.dims())?;
    let gradient = it.format.dims(plan.output_3d());
    check_dims("out_backprop", out_backprop.dims(), &gradient)?;
    it.format.write(plan.input_3d(), output, |dx| {
        it.format.read(plan.output_3d(), out_backprop.data(), |dy| {
            conv::backprop_input(&plan, filter.data(), dy, dx)
        });
    })
}

#[kernel(Conv3DBackpropFilterV2, T = [F16, Bf16, f32, f64])]
fn conv3d_backprop_filter<T: Element + Factor>(
    #[state] it: &Conv3d,
    input: In<'_, T>,
    filter_sizes: HostIn<'_, i32>,
    out_backprop: In<'_, T>,
    output: Out<'_, T>,
) -> Result<()> {
    let dims = super::image::shape("filter_sizes", &filter_sizes)?;
    let plan = it.plan(input.dims(), &dims)?;
    let gradient = it.format.dims(plan.output_3d());
    check_dims("out_backprop", out_backprop.dims(), &gradient)?;
    let mut output = output.unspecified(&dims)?;
    T::overwrite(&mut output, |df| {
        it.format.read(plan.input_3d(), input.data(), |x| {
            it.format.read(plan.output_3d(), out_backprop.data(), |dy| {
                conv::backprop_filter(&plan, x, dy, df)
            });
        });
    });
    Ok(())
}

table! { conv3d, conv3d_backprop_input, conv3d_backprop_filter }
