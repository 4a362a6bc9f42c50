//! Running totals.

use super::prelude::*;
use crate::compute::movement::resolve_axis;
use crate::compute::segment::{Running, log_add_exp, running};

/// Returns the plan of the running totals of a tensor along an axis.
///
/// # Errors
/// Returns an error if the tensor has no such axis.
pub fn plan_running(
    dims: &[usize],
    axis: &HostIn<'_, Index>,
    [is_exclusive, is_reverse]: [bool; 2],
) -> Result<Running> {
    let axis = resolve_axis(read_index("axis", axis)?, dims.len())?;
    Ok(Running {
        shape: [len(&dims[..axis]), dims[axis], len(&dims[axis + 1..])],
        is_exclusive,
        is_reverse,
    })
}

/// Kernels: `name: Op, bound in [types] => start, f(total, x)`.
macro_rules! totals {
    ($($name:ident: $op:ident, $bound:ident in [$($ty:ident),*] => $start:expr, $f:path;)*) => {$(
        #[kernel($op, T = [$($ty),*])]
        fn $name<T: Element + Precision<Compute: $bound>>(
            x: In<'_, T>,
            axis: HostIn<'_, Index>,
            out: Out<'_, T>,
            exclusive: bool,
            reverse: bool,
        ) -> Result<()> {
            let plan = plan_running(x.dims(), &axis, [exclusive, reverse])?;
            let mut out = out.unspecified(x.dims())?;
            let x = T::widened(x.data());
            T::overwrite(&mut out, |out| running(plan, $start, $f, &x, out));
            Ok(())
        }
    )*};
}

totals! {
    cumsum: Cumsum, Number in [F16, Bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64] => Number::ZERO, arith::add;
    cumprod: Cumprod, Number in [F16, Bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64] => Number::ONE, arith::mul;
    log_sum_exp: CumulativeLogsumexp, Float in [F16, Bf16, f32, f64] => Number::LOWEST, log_add_exp;
}

table! { cumsum, cumprod, log_sum_exp }
