//! Kernels that move elements without reading them: each function serves all types. Where the result has the elements
//! of the input in their order, both have one buffer.

use super::prelude::*;
use crate::compute::movement::checked_len;
use crate::compute::movement::pad::{Mode, Padding};
use crate::compute::movement::slice::slice as slice_of;
use crate::compute::movement::{View, copy};
use sp_plugin::kernel::Placement;
use std::mem::MaybeUninit;

/// Writes the elements of a view of the input.
pub fn write_view<S: Placement>(
    input: BytesIn<'_, S>,
    view: &View,
    dims: &[usize],
    output: BytesOut<'_, S>,
) -> Result<()> {
    if view.is_identity() && view.len() * input.width() == input.bytes().len() {
        return match dims == input.dims() {
            true => output.set(&input),
            false => output.set_with_dims(&input, dims),
        };
    }
    let mut output = output.uninit(dims)?;
    copy(
        view,
        input.width(),
        input.as_uninit_slice(),
        output.as_uninit_slice(),
    );
    Ok(())
}

/// Converts dims or counts that must not be negative.
fn sizes(name: &str, values: &HostIn<'_, Index>) -> Result<InlineList<usize>> {
    let mut sizes = InlineList::new(0);
    for value in values.iter() {
        sizes.push(usize::try_from(value).map_err(|_| {
            let at = sizes.len();
            Error::invalid_argument(format!(
                "Expected {name}[{at}] >= 0, but got {value}: it must be non-negative"
            ))
        })?);
    }
    Ok(sizes)
}

/// Returns the elements of a vector.
pub fn vector(name: &str, values: &HostIn<'_, Index>) -> Result<InlineList<i64>> {
    check_vector(name, values.dims())?;
    Ok(list(values))
}

/// Checks that an argument has one axis.
pub fn check_vector(name: &str, dims: &[usize]) -> Result<()> {
    match dims {
        [_] => Ok(()),
        _ => invalid!("{name} must be a vector, got a tensor of shape {dims:?}"),
    }
}

/// Checks that an argument has at most one axis. Reshape and Fill accept a scalar as the only dim of a shape.
pub fn check_vector_or_scalar(name: &str, dims: &[usize]) -> Result<()> {
    if dims.is_empty() {
        Ok(())
    } else {
        check_vector(name, dims)
    }
}

#[kernel(Transpose, T = [..])]
fn transpose(x: BytesIn<'_>, perm: HostIn<'_, Index>, y: BytesOut<'_>) -> Result<()> {
    check_vector("perm", perm.dims())?;
    let (view, dims) = View::transposed(x.dims(), perm.iter())?;
    write_view(x, &view, &dims, y)
}

#[kernel(Tile, T = [..])]
fn tile(input: BytesIn<'_>, multiples: HostIn<'_, Index>, output: BytesOut<'_>) -> Result<()> {
    check_vector("multiples", multiples.dims())?;
    let counts = sizes("multiples", &multiples)?;
    if counts.len() != input.dims().len() {
        return invalid!(
            "Expected multiples argument to be a vector of length {} but got length {}",
            input.dims().len(),
            counts.len()
        );
    }
    let (view, dims) = View::tiled(input.dims(), &counts)?;
    write_view(input, &view, &dims, output)
}

#[kernel(BroadcastTo, T = [..])]
fn broadcast_to(
    input: BytesIn<'_, HostInt32>,
    shape: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let dims = shape_of(&shape)?;
    let view = View::broadcast(input.dims(), &dims)?;
    write_view(input, &view, &dims, output)
}

/// Converts a shape: a vector, or an empty tensor of any rank.
pub fn shape_of(shape: &HostIn<'_, Index>) -> Result<InlineList<usize>> {
    check_vector("a shape", shape.dims())?;
    checked_sizes(shape)
}

/// Converts the elements of a shape.
fn checked_sizes(shape: &HostIn<'_, Index>) -> Result<InlineList<usize>> {
    let dims = sizes("a shape", shape)?;
    checked_len(&dims)?;
    Ok(dims)
}

#[kernel(ReverseV2, T = [..])]
fn reverse(
    tensor: BytesIn<'_, HostInt32>,
    axis: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    // TensorFlow looks at the axes only if there is something to reverse.
    if tensor.dims().is_empty() || tensor.bytes().is_empty() {
        return output.set(&tensor);
    }
    check_vector("axis", axis.dims())?;
    let view = View::reversed(tensor.dims(), axis.iter())?;
    let dims = InlineList::from(tensor.dims());
    write_view(tensor, &view, &dims, output)
}

#[kernel(Slice, T = [..])]
fn slice(
    input: BytesIn<'_, HostInt32>,
    begin: HostIn<'_, Index>,
    size: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let (begin, size) = (vector("begin", &begin)?, vector("size", &size)?);
    let (view, dims) = slice_of(input.dims(), &begin, &size)?;
    write_view(input, &view, &dims, output)
}

/// Writes an element to all elements.
pub fn fill_bytes(out: &mut [MaybeUninit<u8>], element: &[MaybeUninit<u8>], width: usize) {
    copy(&View::new([(out.len() / width, 0)], 0), width, element, out);
}

#[kernel(Fill, T = [..])]
fn fill(
    dims: HostIn<'_, Index>,
    value: BytesIn<'_, HostInt32>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    check_vector_or_scalar("dims", dims.dims())?;
    let dims = checked_sizes(&dims)?;
    if !value.dims().is_empty() && value.dims() != [1] {
        return invalid!("value must be a scalar, got shape {:?}", value.dims());
    }
    let mut output = output.uninit(&dims)?;
    fill_bytes(
        output.as_uninit_slice(),
        value.as_uninit_slice(),
        value.width(),
    );
    Ok(())
}

#[kernel(ZerosLike, T = [..])]
fn zeros_like(x: AnyIn<'_, HostInt32>, y: BytesOut<'_, HostInt32>) -> Result<()> {
    fill_bytes(
        y.uninit(x.dims())?.as_uninit_slice(),
        &[MaybeUninit::new(0)],
        1,
    );
    Ok(())
}

#[kernel(Pad, T = [..])]
fn pad(
    input: BytesIn<'_, HostInt32>,
    paddings: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let zero = [MaybeUninit::new(0); 16];
    let width = input.width();
    write_padded(input, &paddings, Mode::Constant, &zero[..width], output)
}

#[kernel(PadV2, T = [..])]
fn pad_v2(
    input: BytesIn<'_, HostInt32>,
    paddings: HostIn<'_, Index>,
    constant_values: BytesIn<'_, HostInt32>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let value = constant_values.as_uninit_slice();
    check_scalar("constant_values", constant_values.dims())?;
    write_padded(input, &paddings, Mode::Constant, value, output)
}

/// The mirror image of a padding.
#[derive(Clone, Copy, AttributeValue)]
enum Mirror {
    #[value("REFLECT")]
    Reflect,
    #[value("SYMMETRIC")]
    Symmetric,
}

#[kernel(MirrorPad, T = [..])]
fn mirror_pad(
    input: BytesIn<'_>,
    paddings: HostIn<'_, Index>,
    output: BytesOut<'_>,
    mode: Mirror,
) -> Result<()> {
    write_padded(input, &paddings, mode.into(), &[], output)
}

impl From<Mirror> for Mode {
    fn from(mirror: Mirror) -> Self {
        match mirror {
            Mirror::Reflect => Self::Reflect,
            Mirror::Symmetric => Self::Symmetric,
        }
    }
}

#[kernel(MirrorPadGrad, T = [u8, i8, i16, u16, i32, u32, i64, u64, F16, Bf16, f32, f64])]
fn mirror_pad_grad<T: Element + Number>(
    input: In<'_, T>,
    paddings: HostIn<'_, Index>,
    output: Out<'_, T>,
    mode: Mirror,
) -> Result<()> {
    check_paddings(&paddings, input.dims().len())?;
    let paddings = list(&paddings);
    let mut dims = InlineList::new(0);
    for (dim, padding) in input.dims().iter().zip(paddings.chunks_exact(2)) {
        let unpadded = i64::try_from(*dim).unwrap_or(i64::MAX);
        let unpadded = unpadded.checked_sub(padding[0].saturating_add(padding[1]));
        let unpadded = unpadded.and_then(|it| usize::try_from(it).ok());
        dims.push(unpadded.ok_or_else(|| {
            let message = format!("paddings {padding:?} must not exceed a dimension of {dim}");
            Error::invalid_argument(message)
        })?);
    }
    let plan = Padding::new(&dims, &paddings, mode.into())?;
    plan.fold(input.data(), &mut output.zeroed(&dims)?);
    Ok(())
}

fn check_paddings(paddings: &HostIn<'_, Index>, rank: usize) -> Result<()> {
    let dims = paddings.dims();
    match dims == [rank, 2] {
        true => Ok(()),
        false => invalid!(
            "The first dimension of paddings must be the rank of inputs: paddings must be a matrix of {rank} rows and 2 columns, \
             not of shape {}",
            Dims(dims)
        ),
    }
}

fn write_padded<S: Placement>(
    input: BytesIn<'_, S>,
    paddings: &HostIn<'_, Index>,
    mode: Mode,
    value: &[MaybeUninit<u8>],
    output: BytesOut<'_, S>,
) -> Result<()> {
    check_paddings(paddings, input.dims().len())?;
    let plan = Padding::new(input.dims(), &list(paddings), mode)?;
    if plan.is_empty() {
        return output.set(&input);
    }
    let mut output = output.uninit(plan.dims())?;
    plan.pad(
        input.width(),
        input.as_uninit_slice(),
        value,
        output.as_uninit_slice(),
    );
    Ok(())
}

table! {
    transpose, tile, broadcast_to, reverse, slice, fill, zeros_like, pad, pad_v2, mirror_pad,
    mirror_pad_grad,
}
