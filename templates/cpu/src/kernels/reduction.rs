//! Kernels that fold a tensor along some of its axes.

use sp_plugin::kernel::{Attributes, Host};
use sp_plugin::{Element, Result};

use crate::compute::reduce::{Fold, Reduction, reduce};

/// The attribute that all reducing ops have.
#[derive(Attributes)]
pub struct KeepDims {
    keep_dims: bool,
}

/// Writes input 0, folded along the axes that input 1 lists in host memory, to output 0.
///
/// # Errors
/// Returns an error if an axis is not there or is named twice.
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
