//! Positions of dims in formats such as NHWC.

use super::prelude::*;
use crate::compute::movement::format::Formats;
use sp_plugin::kernel::HostOut; // since 2.11
use sp_plugin::kernel::{Attributes, Kernel, Prepare, kernels};

#[derive(Attributes)]
struct FormatAttributes {
    src_format: String,
    dst_format: String,
}

/// The formats that the attributes state.
struct Stated(Formats);

impl Prepare for Stated {
    type Attributes = FormatAttributes;

    fn prepare(it: FormatAttributes) -> Result<Self> {
        Ok(Self(Formats::new(&it.src_format, &it.dst_format)?))
    }
}

fn map_dims<T: Element + Into<i64>>(
    it: &Formats,
    x: In<'_, T>,
    y: Out<'_, T>,
    from: fn(i64) -> T,
) -> Result<()> {
    let dims = x.data();
    y.uninit(x.dims())?
        .write_with(|at| from(it.position(dims[at].into()) as i64));
    Ok(())
}

fn permute<T: Element>(it: &Formats, x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
    let order = it.order(x.dims())?;
    let (x, width) = (&x, x.dims().get(1).copied().unwrap_or(1));
    y.uninit(x.dims())?
        .write_with(|at| x.data()[order[at / width] * width + at % width]);
    Ok(())
}

#[kernel(DataFormatDimMap, T = [i32])]
fn dim_map_int32(#[state] Stated(it): &Stated, x: In<'_, i32>, y: Out<'_, i32>) -> Result<()> {
    map_dims(it, x, y, |it| it as i32)
}

#[kernel(DataFormatDimMap, T = [i64])]
fn dim_map_int64(#[state] Stated(it): &Stated, x: In<'_, i64>, y: Out<'_, i64>) -> Result<()> {
    map_dims(it, x, y, |it| it)
}

#[kernel(DataFormatVecPermute, T = [i32, i64])]
fn permute_vector<T: Element>(
    #[state] Stated(it): &Stated,
    x: In<'_, T>,
    y: Out<'_, T>,
) -> Result<()> {
    permute(it, x, y)
}

// since 2.11
/// TensorFlow's optimizer of layouts writes the op with this label where the host reads the result.
#[kernel(DataFormatDimMap, T = [i32], label = "host", releases = "2.11..")]
fn host_dim_map_int32(
    #[state] Stated(it): &Stated,
    x: HostIn<'_, i32>,
    y: HostOut<'_, i32>,
) -> Result<()> {
    map_dims(it, x.into_input(), y.into_output(), |it| it as i32)
}

// since 2.11
#[kernel(DataFormatDimMap, T = [i64], label = "host", releases = "2.11..")]
fn host_dim_map_int64(
    #[state] Stated(it): &Stated,
    x: HostIn<'_, i64>,
    y: HostOut<'_, i64>,
) -> Result<()> {
    map_dims(it, x.into_input(), y.into_output(), |it| it)
}

// since 2.11
#[kernel(DataFormatVecPermute, T = [i32, i64], label = "host", releases = "2.11..")]
fn host_permute_vector<T: Element>(
    #[state] Stated(it): &Stated,
    x: HostIn<'_, T>,
    y: HostOut<'_, T>,
) -> Result<()> {
    permute(it, x.into_input(), y.into_output())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        dim_map_int32,
        dim_map_int64,
        permute_vector,
        host_dim_map_int32,  // since 2.11
        host_dim_map_int64,  // since 2.11
        host_permute_vector, // since 2.11
    ]
}
