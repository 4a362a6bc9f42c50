//! BiasAddGrad: the sum over everything but the channels.

use super::bias_add::DataFormat;
use super::prelude::*;
use crate::compute::nn::bias::bias_add_grad as compute;
use crate::compute::reduce::{Fold, Sum};

#[kernel(op = "BiasAddGrad", T = [f32, f64, i64])]
fn bias_add_grad<T: Element + Number>(cx: &Host<'_>, format: &DataFormat) -> Result<()>
where
    Sum: Fold<T>,
{
    let (gradient, layout) = (cx.input::<T>(0)?, format.layout()?);
    let dims = gradient.dims();
    if dims.len() < 2 {
        let message = format!("expected at least two dimensions, got {dims:?}");
        return Err(Error::invalid_argument(message));
    }
    let channels = dims[layout.axis(dims.len())];
    compute(dims, layout, gradient.data(), cx.output(0, &[channels])?)?;
    Ok(())
}
