//! Positions of dims in formats such as NHWC.

use super::prelude::*;
use crate::compute::movement::format::Formats;

#[derive(Attributes)]
pub struct FormatAttributes {
    src_format: String,
    dst_format: String,
}

impl Prepare for Formats {
    type Attributes = FormatAttributes;

    fn prepare(it: FormatAttributes) -> Result<Self> {
        Ok(Self::new(&it.src_format, &it.dst_format)?)
    }
}

fn map_dims<T: Element + Cast<i64>>(it: &Formats, x: In<'_, T>, y: Out<'_, T>) -> Result<()>
where
    i64: Cast<T>,
{
    let dims = x.data();
    let position = |at: usize| (it.position(dims[at].cast()) as i64).cast();
    y.uninit(x.dims())?.write_with(position);
    Ok(())
}

fn permute<T: Element>(it: &Formats, x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
    let order = it.order(x.dims())?;
    let (x, width) = (&x, x.dims().get(1).copied().unwrap_or(1));
    y.uninit(x.dims())?
        .write_with(|at| x.data()[order[at / width] * width + at % width]);
    Ok(())
}

#[kernel(DataFormatDimMap, T = [i32, i64])]
fn dim_map<T: Element + Cast<i64>>(#[state] it: &Formats, x: In<'_, T>, y: Out<'_, T>) -> Result<()>
where
    i64: Cast<T>,
{
    map_dims(it, x, y)
}

#[kernel(DataFormatVecPermute, T = [i32, i64])]
fn permute_vector<T: Element>(#[state] it: &Formats, x: In<'_, T>, y: Out<'_, T>) -> Result<()> {
    permute(it, x, y)
}

// since 2.11
/// Kernel of an op that TensorFlow's optimizer of layouts writes with this label if the host reads the result.
#[kernel(DataFormatDimMap, T = [i32, i64], label = "host", releases = "2.11..")]
fn host_dim_map<T: Element + Cast<i64>>(
    #[state] it: &Formats,
    x: HostIn<'_, T>,
    y: HostOut<'_, T>,
) -> Result<()>
where
    i64: Cast<T>,
{
    map_dims(it, x.into_input(), y.into_output())
}

// since 2.11
#[kernel(DataFormatVecPermute, T = [i32, i64], label = "host", releases = "2.11..")]
fn host_permute_vector<T: Element>(
    #[state] it: &Formats,
    x: HostIn<'_, T>,
    y: HostOut<'_, T>,
) -> Result<()> {
    permute(it, x.into_input(), y.into_output())
}

table! {
    dim_map, permute_vector,
    host_dim_map, // since 2.11
    host_permute_vector, // since 2.11
}
