//! Kernels that fold a tensor along some of its axes.

use sp_plugin::kernel::{Attributes, Host};
use sp_plugin::{Element, Result};

use crate::compute::reduce::{Fold, Reduction, reduce};

/// What the reducing ops have in common.
#[derive(Attributes)]
pub struct KeepDims {
    keep_dims: bool,
}

/// Output 0 is input 0, folded along the axes that input 1 lists in host memory.
///
/// # Errors
/// Where an axis is not there or is named twice.
pub fn fold<T: Element, F: Fold<T>>(cx: &Host<'_>, attributes: &KeepDims) -> Result<()> {
    let x = cx.input::<T>(0)?;
    let plan = Reduction::new(x.dims(), &cx.host_integers(1)?)?;
    reduce::<T, F>(
        &plan,
        x.data(),
        cx.output(0, &plan.dims(attributes.keep_dims))?,
    );
    Ok(())
}
