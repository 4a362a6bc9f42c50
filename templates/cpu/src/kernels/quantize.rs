//! Rounding to the steps of quantized ranges that contain 0, and its gradients.

use super::elementwise::{check_same, map_one, map_two};
use super::prelude::*;
use crate::compute::quantize::Nudged;

/// The number of steps of a range, as the attributes state it.
#[derive(Clone, Copy)]
struct Quantization {
    bits: u32,
    is_narrow: bool,
}

impl Quantization {
    fn new(bits: i64, is_narrow: bool) -> Result<Self> {
        match bits {
            2..=16 => Ok(Self {
                bits: bits as u32,
                is_narrow,
            }),
            _ => invalid!("num_bits must be in [2, 16], not {bits}"),
        }
    }

    /// Returns the range; `None` if both limits are 0, for which all numbers are 0.
    fn range(self, low: f32, high: f32) -> Option<Nudged> {
        let is_zero = low == 0.0 && high == 0.0;
        (!is_zero).then(|| Nudged::new([low, high], self.bits, self.is_narrow))
    }
}

#[derive(Attributes)]
pub struct RangeAttributes {
    min: f32,
    max: f32,
    num_bits: i64,
    narrow_range: bool,
}

impl Prepare for Nudged {
    type Attributes = RangeAttributes;

    fn prepare(it: RangeAttributes) -> Result<Self> {
        let quantization = Quantization::new(it.num_bits, it.narrow_range)?;
        match it.min < it.max {
            true => Ok(Self::new(
                [it.min, it.max],
                quantization.bits,
                quantization.is_narrow,
            )),
            false => invalid!("min {} must be below max {}", it.min, it.max),
        }
    }
}

#[derive(Attributes)]
struct QuantizationAttributes {
    num_bits: i64,
    narrow_range: bool,
}

impl Prepare for Quantization {
    type Attributes = QuantizationAttributes;

    fn prepare(it: QuantizationAttributes) -> Result<Self> {
        Self::new(it.num_bits, it.narrow_range)
    }
}

#[kernel(FakeQuantWithMinMaxArgs)]
fn with_args(#[state] range: &Nudged, inputs: In<'_, f32>, outputs: Out<'_, f32>) -> Result<()> {
    let range = *range;
    map_one(cost::Cheap, inputs, outputs, move |x| range.round(x))
}

#[kernel(FakeQuantWithMinMaxArgsGradient)]
fn with_args_gradient(
    #[state] range: &Nudged,
    gradients: In<'_, f32>,
    inputs: In<'_, f32>,
    backprops: Out<'_, f32>,
) -> Result<()> {
    check_same((gradients.dims(), "gradients"), (inputs.dims(), "inputs"))?;
    let range = *range;
    map_two(cost::Cheap, gradients, inputs, backprops, move |dy, x| {
        range.shares(x, dy)[0]
    })
}

/// Returns the ranges of channels, of which there is one for scalars. As TensorFlow's, this one has the rounded inverse of a
/// step.
fn ranges(
    quantization: Quantization,
    min: &In<'_, f32>,
    max: &In<'_, f32>,
    expected: &[usize],
) -> Result<Vec<Option<Nudged>>> {
    for (name, found) in [("min", min.dims()), ("max", max.dims())] {
        if found != expected {
            return invalid!("`{name}` must have shape {expected:?}, not {found:?}");
        }
    }
    let pairs = min.data().iter().zip(max.data());
    let range = |(min, max): (&f32, &f32)| {
        let range = quantization.range(*min, *max)?;
        Some(match expected {
            [] => range.with_inverse_of_step(),
            _ => range,
        })
    };
    Ok(allocation::collect(pairs.map(range)))
}

/// Returns the dims of the limits of one range.
fn scalar_dims(_: &[usize]) -> Result<&[usize]> {
    Ok(&[])
}

/// Returns the dims of limits with an element for each channel.
fn channel_dims(inputs: &[usize]) -> Result<&[usize]> {
    match inputs {
        [] => invalid!("inputs must have channels, but is a scalar"),
        [.., _] => Ok(&inputs[inputs.len() - 1..]),
    }
}

fn write_rounded(
    ranges: &[Option<Nudged>],
    inputs: In<'_, f32>,
    outputs: Out<'_, f32>,
) -> Result<()> {
    let (x, count) = (inputs.data(), ranges.len());
    let round = |at: usize| ranges[at % count].map_or(0.0, |it| it.round(x[at]));
    outputs.uninit(inputs.dims())?.write_with(round);
    Ok(())
}

/// Writes the gradients of the inputs and of the limits of each range.
fn write_gradients(
    ranges: &[Option<Nudged>],
    [gradients, inputs]: [In<'_, f32>; 2],
    [dx, d_min, d_max]: [Out<'_, f32>; 3],
    limit_dims: &[usize],
) -> Result<()> {
    let mut dx = dx.zeroed(inputs.dims())?;
    let (mut d_min, mut d_max) = (d_min.zeroed(limit_dims)?, d_max.zeroed(limit_dims)?);
    let [mut min_sums, mut max_sums] = [(); 2].map(|()| allocation::filled(0.0, ranges.len()));
    for (at, (dy, x)) in gradients.data().iter().zip(inputs.data()).enumerate() {
        let channel = at % ranges.len();
        let shares = ranges[channel].map_or([*dy, 0.0, 0.0], |it| it.shares(*x, *dy));
        dx[at] = shares[0];
        min_sums[channel] += f64::from(shares[1]);
        max_sums[channel] += f64::from(shares[2]);
    }
    for (channel, (min, max)) in min_sums.iter().zip(max_sums).enumerate() {
        (d_min[channel], d_max[channel]) = (*min as f32, max as f32);
    }
    Ok(())
}

/// Kernels whose limits are inputs: `name: Op, gradient: Op => function that returns the dims of the limits`.
macro_rules! with_limits {
    ($($name:ident: $op:ident, $gradient:ident: $gradient_op:ident => $dims:path;)*) => {$(
        #[kernel($op)]
        fn $name(
            #[state] quantization: &Quantization,
            inputs: In<'_, f32>,
            min: In<'_, f32>,
            max: In<'_, f32>,
            outputs: Out<'_, f32>,
        ) -> Result<()> {
            let ranges = ranges(*quantization, &min, &max, $dims(inputs.dims())?)?;
            write_rounded(&ranges, inputs, outputs)
        }

        #[kernel($gradient_op)]
        fn $gradient(
            #[state] quantization: &Quantization,
            gradients: In<'_, f32>,
            inputs: In<'_, f32>,
            min: In<'_, f32>,
            max: In<'_, f32>,
            backprops_wrt_input: Out<'_, f32>,
            backprop_wrt_min: Out<'_, f32>,
            backprop_wrt_max: Out<'_, f32>,
        ) -> Result<()> {
            check_same((gradients.dims(), "gradients"), (inputs.dims(), "inputs"))?;
            let ranges = ranges(*quantization, &min, &max, $dims(inputs.dims())?)?;
            let outputs = [backprops_wrt_input, backprop_wrt_min, backprop_wrt_max];
            write_gradients(&ranges, [gradients, inputs], outputs, min.dims())
        }
    )*};
}

with_limits! {
    with_vars: FakeQuantWithMinMaxVars, with_vars_gradient: FakeQuantWithMinMaxVarsGradient => scalar_dims;
    with_vars_per_channel: FakeQuantWithMinMaxVarsPerChannel, with_vars_per_channel_gradient: FakeQuantWithMinMaxVarsPerChannelGradient => channel_dims;
}

table! {
    with_args, with_args_gradient, with_vars, with_vars_gradient, with_vars_per_channel,
    with_vars_per_channel_gradient,
}
