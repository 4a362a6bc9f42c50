//! Rounding to integers of so many bits, scaled to a range, and its gradient.

use super::elementwise::check_same;
use super::prelude::*;
use crate::compute::elementary::Real;
use crate::compute::quantize::{Half, Levels, Scale, limits};
use crate::compute::search::Extremes;
use std::iter::zip;

/// The rounding of a number halfway between two steps.
#[derive(Clone, Copy, AttributeValue)]
enum RoundMode {
    #[value("HALF_TO_EVEN")]
    HalfToEven,
    #[value("HALF_UP")]
    HalfUp,
}

#[derive(Attributes)]
struct RoundAttributes {
    signed_input: bool,
    num_bits: i64,
    range_given: bool,
    round_mode: RoundMode,
    narrow_range: bool,
    axis: i64,
}

#[derive(Attributes)]
struct LevelAttributes {
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
    axis: i64,
}

fn levels(bits: i64, is_signed: bool, is_narrow: bool) -> Result<Levels> {
    let limit = if is_signed { 62 } else { 63 };
    match bits > 0 && bits < limit {
        true => Ok(Levels::new(bits as u32, is_signed, is_narrow)),
        false => invalid!(
            "num_bits is {bits}, but must be from 1 to {} if signed_input is {is_signed}",
            limit - 1
        ),
    }
}

fn check_axis(axis: i64) -> Result<()> {
    match axis >= -1 {
        true => Ok(()),
        false => invalid!("axis must be -1 or more, not {axis}"),
    }
}

/// Returns the number of ranges, and of the elements after an axis; the axis -1 is that of one range for all elements.
fn split(dims: &[usize], axis: i64) -> Result<(usize, usize)> {
    match usize::try_from(axis) {
        Err(_) => Ok((1, len(dims).max(1))),
        Ok(axis) if axis < dims.len() => Ok((dims[axis], len(&dims[axis + 1..]))),
        Ok(axis) => invalid!("axis {axis} must be a dimension of input, which has shape {dims:?}"),
    }
}

/// Checks the limits of ranges: scalars for the axis -1, and vectors of `count` elements for another one.
fn check_limits<T: Element>(
    min: &In<'_, T>,
    max: &In<'_, T>,
    count: usize,
    axis: i64,
) -> Result<()> {
    let expected = if axis < 0 { &[][..] } else { &[count] };
    for (name, found) in [("input_min", min.dims()), ("input_max", max.dims())] {
        if found != expected {
            return invalid!("{name} must have shape {expected:?}, not {found:?}");
        }
    }
    Ok(())
}

/// Rounds numbers to the levels of a range, which is that of the inputs unless `is_given`.
struct Rounding {
    levels: Levels,
    is_given: bool,
    half: Half,
    axis: i64,
}

impl Rounding {
    fn run<T: Element + Real + Extremes>(
        &self,
        input: In<'_, T>,
        [min, max]: [In<'_, T>; 2],
        output: Out<'_, T>,
    ) -> Result<()> {
        let (x, (count, inner)) = (input.data(), split(input.dims(), self.axis)?);
        if self.is_given {
            check_limits(&min, &max, count, self.axis)?;
        }
        let channel = |at: usize| at / inner % count;
        let ranges: Vec<[T; 2]> = match self.is_given {
            true => allocation::collect(zip(min.data(), max.data()).map(|(min, max)| [*min, *max])),
            // The axis of an empty tensor may be of any length.
            false if x.is_empty() => Vec::new(),
            false => limits(count, x.iter().enumerate().map(|(at, x)| (channel(at), *x))),
        };
        // NaN is no limit.
        if self.is_given && !ranges.iter().all(|[min, max]| min <= max) {
            return invalid!("Invalid range: input_min > input_max, or one is NaN");
        }
        let scales = ranges.into_iter().map(|it| Scale::new(it, self.levels));
        let scales = allocation::collect(scales);
        output.uninit(input.dims())?.write_with(|at| {
            let scale = &scales[channel(at)];
            let x = if self.is_given {
                scale.clamp(x[at])
            } else {
                x[at]
            };
            scale.round(x, self.half)
        });
        Ok(())
    }
}

impl Prepare for Rounding {
    type Attributes = RoundAttributes;

    fn prepare(it: RoundAttributes) -> Result<Self> {
        check_axis(it.axis)?;
        Ok(Self {
            levels: levels(it.num_bits, it.signed_input, it.narrow_range)?,
            is_given: it.range_given,
            half: match it.round_mode {
                RoundMode::HalfToEven => Half::Even,
                RoundMode::HalfUp => Half::Up,
            },
            axis: it.axis,
        })
    }
}

/// Kernels of numbers of bits that are attributes: `name: Op`.
macro_rules! roundings {
    ($($name:ident: $op:ident;)*) => {$(
        #[kernel($op, T = [f32, f64])]
        fn $name<T: Element + Real + Extremes>(
            #[state] it: &Rounding,
            input: In<'_, T>,
            input_min: In<'_, T>,
            input_max: In<'_, T>,
            output: Out<'_, T>,
        ) -> Result<()> {
            it.run(input, [input_min, input_max], output)
        }
    )*};
}

roundings! {
    round_v2: QuantizeAndDequantizeV2;
    round_v4: QuantizeAndDequantizeV4;
}

#[kernel(QuantizeAndDequantizeV3, T = [f32, f64])]
fn round_v3<T: Element + Real + Extremes>(
    #[state] it: &LevelAttributes,
    input: In<'_, T>,
    input_min: In<'_, T>,
    input_max: In<'_, T>,
    num_bits: HostIn<'_, i32>,
    output: Out<'_, T>,
) -> Result<()> {
    check_axis(it.axis)?;
    let bits = read_scalar("num_bits", &num_bits)?.into();
    let rounding = Rounding {
        levels: levels(bits, it.signed_input, it.narrow_range)?,
        is_given: it.range_given,
        half: Half::Even,
        axis: it.axis,
    };
    rounding.run(input, [input_min, input_max], output)
}

/// The gradient of the numbers inside of their range; limits have none.
#[kernel(QuantizeAndDequantizeV4Grad, T = [f32, f64])]
fn round_v4_gradient<T: Element + Number>(
    gradients: In<'_, T>,
    input: In<'_, T>,
    input_min: In<'_, T>,
    input_max: In<'_, T>,
    input_backprop: Out<'_, T>,
    input_min_backprop: Out<'_, T>,
    input_max_backprop: Out<'_, T>,
    axis: i64,
) -> Result<()> {
    check_same((gradients.dims(), "gradients"), (input.dims(), "input"))?;
    check_axis(axis)?;
    let (count, inner) = split(input.dims(), axis)?;
    check_limits(&input_min, &input_max, count, axis)?;
    input_min_backprop.zeroed(input_min.dims())?;
    input_max_backprop.zeroed(input_max.dims())?;
    let (dy, x) = (gradients.data(), input.data());
    let (min, max) = (input_min.data(), input_max.data());
    input_backprop.uninit(input.dims())?.write_with(|at| {
        let channel = at / inner % count;
        let is_inside = x[at] >= min[channel] && x[at] <= max[channel];
        if is_inside { dy[at] } else { T::ZERO }
    });
    Ok(())
}

table! { round_v2, round_v3, round_v4, round_v4_gradient }
