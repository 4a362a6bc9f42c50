//! Mean: the arithmetic mean along some axes.

use super::prelude::*;
use super::reduction::{KeepDims, fold};
use crate::compute::reduce::{Fold, Mean};

#[kernel(op = "Mean", T = [f32, f64, i64], host = ["reduction_indices"])]
fn mean<T: Element>(cx: &Host<'_>, attributes: &KeepDims) -> Result<()>
where
    Mean: Fold<T>,
{
    fold::<T, Mean>(cx, attributes)
}
