//! Pow on integers: wraps, and has no negative powers.

use super::prelude::*;

#[kernel(op = "Pow", T = [i64])]
fn pow_int<T: Element + Integer>(cx: &Host<'_>) -> Result<()> {
    arith::check_exponents(cx.input::<T>(1)?.data())?;
    binary_with_cost(Cost::Expensive, cx, arith::pow_int::<T>)
}
