//! Sums of rows that belong together, and running totals.

use super::gather::to_indices;
use super::prelude::*;
use crate::compute::movement::resolve_axis;
use crate::compute::segment::{Running, running, segment_sum};
use crate::compute::shape::len;
use sp_plugin::kernel::{BytesIn, Kernel, kernels};

#[kernel(UnsortedSegmentSum, T = [F16, Bf16, f32, f64, i64], Tindices = [i32, i64])]
fn unsorted_segment_sum<T: Element + Precision<Compute: Number>>(
    data: In<'_, T>,
    segment_ids: BytesIn<'_>,
    num_segments: HostIn<'_, Index>,
    output: Out<'_, T>,
) -> Result<()> {
    let (dims, ids) = (data.dims(), segment_ids.dims());
    if !dims.starts_with(ids) {
        let message =
            format!("data.shape = {dims:?} does not start with segment_ids.shape = {ids:?}");
        return Err(Error::invalid_argument(message));
    }
    let stated = num_segments.scalar()?;
    let Ok(segments) = usize::try_from(stated) else {
        let message = format!("num_segments = {stated} must not be negative");
        return Err(Error::invalid_argument(message));
    };
    let row = &dims[ids.len()..];
    let mut output = output.zeroed(&[&[segments], row].concat())?;
    let (data, ids, width) = (T::widened(data.data()), to_indices(&segment_ids)?, len(row));
    T::update(&mut output, |output| {
        segment_sum(ids, &data, width, segments, output)
    })?;
    Ok(())
}

/// Running totals: `name: Op => start, function`.
macro_rules! totals {
    ($($name:ident: $op:ident => $start:expr, $f:path;)*) => {$(
        #[kernel($op, T = [F16, Bf16, f32, f64, i64])]
        fn $name<T: Element + Precision<Compute: Number>>(
            x: In<'_, T>,
            axis: HostIn<'_, Index>,
            out: Out<'_, T>,
            exclusive: bool,
            reverse: bool,
        ) -> Result<()> {
            let axis = resolve_axis(axis.scalar()?, x.dims().len())?;
            let (outer, rest) = x.dims().split_at(axis);
            let plan = Running {
                shape: [len(outer), rest[0], len(&rest[1..])],
                is_exclusive: exclusive,
                is_reverse: reverse,
            };
            let mut out = out.zeroed(x.dims())?;
            let x = T::widened(x.data());
            T::update(&mut out, |out| running(plan, $start, $f, &x, out));
            Ok(())
        }
    )*};
}

totals! {
    cumsum: Cumsum => Number::ZERO, arith::add;
    cumprod: Cumprod => Number::ONE, arith::mul;
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![unsorted_segment_sum, cumsum, cumprod]
}
