//! Sum: the sum along some axes.

use super::prelude::*;
use super::reduction::{KeepDims, fold};
use crate::compute::reduce::{Fold, Sum};

#[kernel(op = "Sum", T = [f32, f64, i64], host = ["reduction_indices"])]
fn sum<T: Element>(cx: &Host<'_>, attributes: &KeepDims) -> Result<()>
where
    Sum: Fold<T>,
{
    fold::<T, Sum>(cx, attributes)
}
