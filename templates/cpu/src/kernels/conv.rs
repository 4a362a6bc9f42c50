//! Convolution and its gradients.

use super::image::{
    DataFormat, PaddingKind, check_filter, paddings, shape, slides, spatial, to_dims,
};
use super::layout::ChannelFormat;
use super::prelude::*;
use crate::compute::matmul::{Factor, Finish};
use crate::compute::nn::conv::{self, Convolution};
use crate::compute::nn::window::Slide;

/// The attributes of all three ops.
#[derive(Attributes)]
pub struct ConvAttributes {
    pub strides: Vec<i64>,
    pub padding: PaddingKind,
    pub explicit_paddings: Vec<i64>,
    pub data_format: DataFormat,
    pub dilations: Vec<i64>,
}

/// The checked attributes.
pub struct Conv {
    pub format: DataFormat,
    slides: [Slide; 2],
}

impl Prepare for Conv {
    type Attributes = ConvAttributes;

    fn prepare(it: ConvAttributes) -> Result<Self> {
        let format = it.data_format;
        let strides = spatial("strides", &it.strides, format)?;
        let dilations = spatial("dilations", &it.dilations, format)?;
        let paddings = paddings(it.padding, &it.explicit_paddings, format)?;
        Ok(Self {
            format,
            slides: slides(strides, dilations, paddings),
        })
    }
}

impl Conv {
    /// Returns the plan of a convolution, whose filter must not be empty unless the result is.
    ///
    /// # Errors
    /// Returns an error if the shapes are not those of a convolution.
    pub fn forward_plan(&self, input: &[usize], filter: &[usize]) -> Result<Convolution> {
        let plan = self.plan(input, filter)?;
        check_filter(filter, &plan.output())?;
        Ok(plan)
    }

    /// Returns the plan for an input, with the dims of its tensor, and a filter.
    fn plan(&self, input: &[usize], filter: &[usize]) -> Result<Convolution> {
        let input = self.format.to_channels_last(to_dims("the input", input)?);
        Ok(Convolution::new(
            input,
            to_dims("the filter", filter)?,
            self.slides,
        )?)
    }

    /// Checks the shape of the gradient of the output.
    fn check_gradient(&self, plan: &Convolution, found: &[usize]) -> Result<()> {
        let expected = self.format.dims(plan.output());
        match expected == to_dims::<4>("out_backprop", found)? {
            true => Ok(()),
            false => invalid!(
                "out_backprop must have shape {expected:?} for an input of shape {:?} and a filter of shape {:?}, not {found:?}",
                self.format.dims(plan.input()),
                plan.filter()
            ),
        }
    }

    /// Returns the dims of the input of which the gradient is computed: all of them are stated, or rows and columns.
    fn input_dims(
        &self,
        sizes: &HostIn<'_, i32>,
        filter: &[usize],
        gradient: &[usize],
    ) -> Result<Vec<usize>> {
        let stated = shape("input_sizes", sizes)?;
        match (&stated[..], filter) {
            (&[rows, columns], &[_, _, depth, _]) => {
                let batch = to_dims::<4>("out_backprop", gradient)?[0];
                Ok(self.format.dims([batch, rows, columns, depth]).into())
            }
            _ => Ok(stated),
        }
    }

    /// Writes the result of a convolution, whose elements `finish` replaces.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn write_output_with<T: Element + Factor>(
        &self,
        plan: &Convolution,
        [input, filter]: [&In<'_, T>; 2],
        output: Out<'_, T>,
        finish: Option<&Finish<'_, T::Compute>>,
    ) -> Result<()> {
        self.format.write(plan.output(), output, |y| {
            self.format.read(plan.input(), input.data(), |x| {
                conv::convolve_with(plan, x, filter.data(), y, finish)
            });
        })
    }

    fn write_input_gradient<T: Element + Factor>(
        &self,
        plan: &Convolution,
        [filter, out_backprop]: [&In<'_, T>; 2],
        output: Out<'_, T>,
    ) -> Result<()> {
        self.check_gradient(plan, out_backprop.dims())?;
        self.format.write(plan.input(), output, |dx| {
            self.format.read(plan.output(), out_backprop.data(), |dy| {
                conv::backprop_input(plan, filter.data(), dy, dx)
            });
        })
    }

    /// Writes the gradient of a filter, whose tensor has the dims `dims`.
    fn write_filter_gradient<T: Element + Factor>(
        &self,
        plan: &Convolution,
        dims: &[usize],
        [input, out_backprop]: [&In<'_, T>; 2],
        output: Out<'_, T>,
    ) -> Result<()> {
        self.check_gradient(plan, out_backprop.dims())?;
        let mut df = output.unspecified(dims)?;
        self.format.read(plan.input(), input.data(), |x| {
            self.format.read(plan.output(), out_backprop.data(), |dy| {
                T::overwrite(&mut df, |df| conv::backprop_filter(plan, x, dy, df));
            });
        });
        Ok(())
    }
}

/// Returns the filter of a convolution without groups.
fn filter_dims(_: &Conv, filter: &[usize], _: &[usize]) -> Result<[usize; 4]> {
    to_dims("the filter", filter)
}

/// Returns the filter of a convolution with a group for each channel; its elements are in the same order.
///
/// # Errors
/// Returns an error if the filter's channels are not the input's.
fn depthwise_filter_dims(conv: &Conv, filter: &[usize], input: &[usize]) -> Result<[usize; 4]> {
    let input = to_dims::<4>("the input", input)?;
    let [.., channels] = conv.format.to_channels_last(input);
    let [rows, columns, depth, each] = to_dims("the filter", filter)?;
    if depth != channels || filter.contains(&0) {
        return invalid!(
            "input and filter must have the same depth: {channels} vs {depth}, and the filter of shape {} must not be empty",
            Dims(filter)
        );
    }
    // A filter is in memory, or its elements are those of an output that is allocated before it is used.
    Ok([rows, columns, 1, depth.saturating_mul(each)])
}

/// The kernels of a convolution: the op, and those of the gradients of its input and its filter, whose dims a function returns.
macro_rules! convolutions {
    ($($filter_dims:ident => $forward:ident: $op:ident, $input:ident: $input_op:ident, $filter:ident: $filter_op:ident;)*) => {
        $(
            #[kernel($op, T = [F16, Bf16, f32, f64])]
            fn $forward<T: Element + Factor>(
                #[state] conv: &Conv,
                input: In<'_, T>,
                filter: In<'_, T>,
                output: Out<'_, T>,
            ) -> Result<()> {
                let filter_dims = $filter_dims(conv, filter.dims(), input.dims())?;
                let plan = conv.forward_plan(input.dims(), &filter_dims)?;
                conv.write_output_with(&plan, [&input, &filter], output, None)
            }

            #[kernel($input_op, T = [F16, Bf16, f32, f64])]
            fn $input<T: Element + Factor>(
                #[state] conv: &Conv,
                input_sizes: HostIn<'_, i32>,
                filter: In<'_, T>,
                out_backprop: In<'_, T>,
                output: Out<'_, T>,
            ) -> Result<()> {
                let dims = conv.input_dims(&input_sizes, filter.dims(), out_backprop.dims())?;
                let plan = conv.plan(&dims, &$filter_dims(conv, filter.dims(), &dims)?)?;
                conv.write_input_gradient(&plan, [&filter, &out_backprop], output)
            }

            #[kernel($filter_op, T = [F16, Bf16, f32, f64])]
            fn $filter<T: Element + Factor>(
                #[state] conv: &Conv,
                input: In<'_, T>,
                filter_sizes: HostIn<'_, i32>,
                out_backprop: In<'_, T>,
                output: Out<'_, T>,
            ) -> Result<()> {
                let dims = shape("filter_sizes", &filter_sizes)?;
                let plan = conv.plan(input.dims(), &$filter_dims(conv, &dims, input.dims())?)?;
                conv.write_filter_gradient(&plan, &dims, [&input, &out_backprop], output)
            }
        )*

        table! { $($forward, $input, $filter,)* }
    };
}

convolutions! {
    filter_dims => conv2d: Conv2D, conv2d_backprop_input: Conv2DBackpropInput,
        conv2d_backprop_filter: Conv2DBackpropFilter;
    depthwise_filter_dims => depthwise: DepthwiseConv2dNative,
        depthwise_backprop_input: DepthwiseConv2dNativeBackpropInput,
        depthwise_backprop_filter: DepthwiseConv2dNativeBackpropFilter;
}
