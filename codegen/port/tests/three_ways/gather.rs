use sp_plugin::kernel::{In, Kernel, Out, kernel, kernels};
use sp_plugin::{Error, Result};

/// Copies rows of `params`. An index that is out of range is an error or, without validation, a row of zeros.
#[kernel(Gather, Tparams = [f32], Tindices = [i32])]
pub fn gather(
    params: In<'_, f32>,
    indices: In<'_, i32>,
    output: Out<'_, f32>,
    validate_indices: bool,
) -> Result<()> {
    let [rows, row_dims @ ..] = params.dims() else {
        return Err(Error::invalid_argument("params has no rows"));
    };
    let width: usize = row_dims.iter().product();
    let mut output = output.zeroed(&[indices.dims(), row_dims].concat())?;
    for (position, index) in indices.data().iter().enumerate() {
        match usize::try_from(*index).ok().filter(|row| row < rows) {
            Some(row) => {
                let from = &params.data()[row * width..][..width];
                output[position * width..][..width].copy_from_slice(from);
            }
            None if validate_indices => {
                let message = format!("indices[{position}] = {index} is not in [0, {rows})");
                return Err(Error::invalid_argument(message));
            }
            None => {}
        }
    }
    Ok(())
}

/// Returns the kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    kernels![gather]
}
