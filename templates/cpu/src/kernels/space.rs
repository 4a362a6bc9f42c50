//! Kernels that move blocks of an image, or the elements along an axis.

use super::cast::width;
use super::image::DataFormat;
use super::movement::{check_vector, write_view};
use super::prelude::*;
use crate::compute::movement::View;
use crate::compute::movement::depth::Depth;
use crate::compute::movement::resolve_axis;
use crate::compute::movement::rotate::{Sequences, roll as roll_elements};
use crate::compute::movement::space::{Blocks, Plan};
use sp_plugin::kernel::DataType;
use std::mem::MaybeUninit;

/// Kernels of blocks and the batch: `name: Op(borders) => function`, with the sizes as an input or one as an attribute.
macro_rules! batches {
    ($($name:ident: $op:ident($borders:ident), $name2:ident: $op2:ident => $plan:path;)*) => {
        $(
            #[kernel($op, T = [..])]
            fn $name(
                input: BytesIn<'_>,
                block_shape: HostIn<'_, Index>,
                $borders: HostIn<'_, Index>,
                output: BytesOut<'_>,
            ) -> Result<()> {
                check_vector("block_shape", block_shape.dims())?;
                move_blocks($plan, input, &list(&block_shape), &$borders, output)
            }

            #[kernel($op2, T = [..])]
            fn $name2(
                input: BytesIn<'_>,
                $borders: HostIn<'_, Index>,
                output: BytesOut<'_>,
                block_size: i64,
            ) -> Result<()> {
                if input.dims().len() != 4 {
                    return invalid!("input must be 4-dimensional: {}", Dims(input.dims()));
                }
                move_blocks($plan, input, &[block_size; 2], &$borders, output)
            }
        )*
    };
}

batches! {
    space_to_batch_nd: SpaceToBatchND(paddings), space_to_batch: SpaceToBatch => Plan::to_batch;
    batch_to_space_nd: BatchToSpaceND(crops), batch_to_space: BatchToSpace => Plan::from_batch;
}

fn move_blocks(
    plan: impl Fn(&[usize], Blocks<'_>) -> crate::compute::Result<Plan>,
    input: BytesIn<'_>,
    sizes: &[i64],
    borders: &HostIn<'_, Index>,
    output: BytesOut<'_>,
) -> Result<()> {
    if borders.dims() != [sizes.len(), 2] {
        return invalid!(
            "paddings or crops must have a row of two numbers for each of {} block sizes, not shape {:?}",
            sizes.len(),
            borders.dims()
        );
    }
    let borders = list(borders);
    let blocks = Blocks {
        sizes,
        borders: &borders,
    };
    let plan = plan(input.dims(), blocks)?;
    let mut output = output.uninit(plan.dims())?;
    let (width, zero) = (input.width(), [MaybeUninit::new(0); 16]);
    plan.run(
        width,
        input.as_uninit_slice(),
        &zero[..width],
        output.as_uninit_slice(),
    );
    Ok(())
}

/// Kernels of blocks and channels: `name: Op => function`.
macro_rules! depths {
    ($($name:ident: $op:ident => $view:path;)*) => {$(
        #[kernel($op, T = [..])]
        fn $name(
            input: BytesIn<'_>,
            output: BytesOut<'_>,
            block_size: usize,
            data_format: DataFormat,
        ) -> Result<()> {
            let is_channels_first = data_format == DataFormat::ChannelsFirst;
            let blocks = Depth { size: block_size, is_channels_first };
            let (view, dims) = $view(blocks, input.dims())?;
            write_view(input, &view, &dims, output)
        }
    )*};
}

depths! {
    space_to_depth: SpaceToDepth => Depth::from_space;
    depth_to_space: DepthToSpace => Depth::to_space;
}

#[kernel(Roll, T = [..])]
fn roll(
    input: BytesIn<'_, HostInt32>,
    shift: HostIn<'_, Index>,
    axis: HostIn<'_, Index>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let dims = input.dims();
    check_roll(dims, shift.dims(), axis.dims())?;
    let mut shifts = InlineList::repeat(0, dims.len());
    for (shift, axis) in shift.iter().zip(axis.iter()) {
        let axis = resolve_axis(axis, dims.len())?;
        // The length of an axis is an i64, too.
        let dim = dims[axis].max(1) as i64;
        let total = shift.rem_euclid(dim) as usize + shifts[axis];
        shifts[axis] = total % dims[axis].max(1);
    }
    let mut output = output.uninit(dims)?;
    roll_elements(
        dims,
        &shifts,
        input.width(),
        input.as_uninit_slice(),
        output.as_uninit_slice(),
    );
    Ok(())
}

/// Checks the shapes of the operands of Roll.
fn check_roll(input: &[usize], shift: &[usize], axis: &[usize]) -> Result<()> {
    let invalid = |message: String| Err(Error::invalid_argument(message));
    if input.is_empty() {
        return invalid("input must have an axis to roll, but is a scalar".into());
    }
    for (name, dims) in [("shift", shift), ("axis", axis)] {
        if dims.len() > 1 {
            return invalid(format!(
                "{name} must be a scalar or a vector, not of shape {dims:?}"
            ));
        }
    }
    match shift == axis {
        true => Ok(()),
        false => invalid(format!(
            "shift must have a distance for each axis: its shape is {shift:?}, that of axis {axis:?}"
        )),
    }
}

#[kernel(ReverseSequence, T = [..])]
fn reverse_sequence(
    input: BytesIn<'_>,
    seq_lengths: HostIn<'_, Index>,
    output: BytesOut<'_>,
    seq_dim: i64,
    batch_dim: i64,
) -> Result<()> {
    let dims = input.dims();
    let axis = |it: i64| usize::try_from(it).ok().filter(|it| *it < dims.len());
    let (Some(seq), Some(batch)) = (axis(seq_dim), axis(batch_dim)) else {
        return invalid!(
            "seq_dim {seq_dim} and batch_dim {batch_dim} must be dimensions of input, which has shape {dims:?}"
        );
    };
    if seq == batch {
        return invalid!("seq_dim and batch_dim must differ, but both are {seq}");
    }
    if seq_lengths.dims() != [dims[batch]] {
        return invalid!(
            "seq_lengths must have shape [{}], a length for each element of the batch, not {:?}",
            dims[batch],
            seq_lengths.dims()
        );
    }
    let mut lengths = allocation::with_capacity(dims[batch]);
    for length in seq_lengths.iter() {
        let length = usize::try_from(length).ok().filter(|it| *it <= dims[seq]);
        lengths.push(length.ok_or_else(|| {
            let dim = dims[seq];
            Error::invalid_argument(format!(
                "seq_lengths must be from 0 to {dim}, the size of dimension {seq}"
            ))
        })?);
    }
    let (first, second) = (seq.min(batch), seq.max(batch));
    let sequences = Sequences {
        shape: [
            len(&dims[..first]),
            dims[first],
            len(&dims[first + 1..second]),
            dims[second],
            len(&dims[second + 1..]).saturating_mul(input.width()),
        ],
        is_batch_first: batch < seq,
    };
    let mut output = output.uninit(dims)?;
    sequences.reverse(&lengths, input.as_uninit_slice(), output.as_uninit_slice());
    Ok(())
}

#[kernel(Reverse, T = [..])]
fn reverse(
    tensor: BytesIn<'_, HostInt32>,
    dims: HostIn<'_, Bool>,
    output: BytesOut<'_, HostInt32>,
) -> Result<()> {
    let (shape, is_reversed) = (tensor.dims(), dims.data());
    if shape.is_empty() {
        return output.set(&tensor);
    }
    if dims.dims() != [shape.len()] || shape.len() > 8 {
        return invalid!(
            "dims must be a vector with an element for each of at most 8 dimensions, not shape {:?} for a tensor of shape {shape:?}",
            dims.dims()
        );
    }
    let axes = (0_i64..).zip(is_reversed).filter(|(_, it)| it.get());
    let view = View::reversed(shape, axes.map(|(axis, _)| axis))?;
    let shape = InlineList::from(shape);
    write_view(tensor, &view, &shape, output)
}

/// The bytes of the elements are those of elements of another type.
#[kernel(Bitcast, T = [..])]
fn bitcast(input: BytesIn<'_>, output: BytesOut<'_>, r#type: DataType) -> Result<()> {
    let mut dims = InlineList::from(input.dims());
    let (from, to) = (input.width(), width(r#type));
    if from > to {
        dims.push(from / to);
    } else if to > from && dims.pop() != Some(to / from) {
        return invalid!(
            "cannot bitcast {:?} to {:?}: the last dimension of shape {:?} must be {}",
            input.dtype(),
            r#type,
            input.dims(),
            to / from
        );
    }
    output
        .uninit(&dims)?
        .as_uninit_slice()
        .copy_from_slice(input.as_uninit_slice());
    Ok(())
}

table! {
    space_to_batch_nd, space_to_batch, batch_to_space_nd, batch_to_space, space_to_depth,
    depth_to_space, roll, reverse_sequence, reverse, bitcast,
}
