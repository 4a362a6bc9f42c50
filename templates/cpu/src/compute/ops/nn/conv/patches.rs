//! Patches: the elements of each window as a row of a matrix.

use super::Convolution;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::workspace::with_buffer;
use crate::compute::ops::matmul::{Product, Tiled, matmul};

/// The bytes of patches that are written at a time.
const BLOCK_BYTES: usize = 512 << 10;
/// The least number of patches in a block, so that the product is worth packing the filter.
const MIN_ROWS: usize = 16;

/// Returns the number of patches in a block. It depends on the shapes only, as do sums over blocks.
fn block<T>(plan: &Convolution) -> usize {
    let patch = plan.patch().max(1);
    // Patches as large as the blocks themselves are written one by one.
    let least = (MIN_ROWS * BLOCK_BYTES / size_of::<T>() / patch).clamp(1, MIN_ROWS);
    (BLOCK_BYTES / size_of::<T>() / patch).clamp(least, 4096)
}

/// Computes the gradient of the input of a convolution that is not trivial, by adding the gradients of patches.
pub(super) fn backprop_input<T: Tiled>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T]) {
    let image = dx.len() / plan.batch;
    let (block, patch, width) = (block::<T>(plan), plan.patch(), plan.group_filters());
    let windows = plan.windows();
    for_each_block(dx, image, |index, dx| {
        dx.fill(T::ZERO);
        let dy = &dy[index * windows * plan.filters..][..windows * plan.filters];
        let count = block.min(windows);
        with_buffer((count + width) * patch + count * width, |buffer| {
            let (patches, rest) = buffer.split_at_mut(count * patch);
            let (weights, slopes) = rest.split_at_mut(patch * width);
            for group in 0..plan.groups {
                copy_columns(filter, plan.filters, group * width, weights, width);
                for first in (0..windows).step_by(count) {
                    let count = count.min(windows - first);
                    let (patches, slopes) =
                        (&mut patches[..count * patch], &mut slopes[..count * width]);
                    copy_columns(
                        &dy[first * plan.filters..],
                        plan.filters,
                        group * width,
                        slopes,
                        width,
                    );
                    let product = Product {
                        m: count,
                        k: width,
                        n: patch,
                        transpose_a: false,
                        transpose_b: true,
                    };
                    matmul(product, slopes, weights, patches);
                    add_patches(plan, group, patches, first, dx);
                }
            }
        });
    });
}

/// Copies the columns from `first` on of a matrix with rows of `from_width` elements.
fn copy_columns<T: Copy>(from: &[T], from_width: usize, first: usize, to: &mut [T], width: usize) {
    for (from, to) in from
        .chunks_exact(from_width)
        .zip(to.chunks_exact_mut(width))
    {
        to.copy_from_slice(&from[first..first + width]);
    }
}

/// A run of adjacent input elements of a group in one row of a window, and its place in the patch.
struct Run {
    input: usize,
    patch: usize,
    len: usize,
}

/// Calls `visit` for each run of the window: with the padding left out.
#[inline(always)]
fn for_each_run(plan: &Convolution, group: usize, window: usize, mut visit: impl FnMut(Run)) {
    let (planes, rows, columns, channels) =
        (&plan.planes, &plan.rows, &plan.columns, plan.channels());
    let (line, x) = (window / columns.output, window % columns.output);
    let (plane, y) = (line / rows.output, line % rows.output);
    let (volume, z) = (plane / planes.output, plane % planes.output);
    let (front, back) = planes.inside(z);
    let (first, last) = columns.inside(x);
    // Elements of a window are adjacent if there is one group and no dilation.
    let adjacent = plan.groups == 1 && columns.dilation == 1;
    let (top, bottom) = rows.inside(y);
    for k in front..back {
        let image = volume * planes.input + planes.element(z, k);
        for i in top..bottom {
            let start = (image * rows.input + rows.element(y, i)) * columns.input;
            let (mut j, step) = (first, if adjacent { last - first } else { 1 });
            while j < last {
                let patch = (k * rows.size + i) * columns.size + j;
                visit(Run {
                    input: (start + columns.element(x, j)) * channels + group * plan.depth,
                    patch: patch * plan.depth,
                    len: step * plan.depth,
                });
                j += step;
            }
        }
    }
}

/// Writes the patches of a group from window `first` on.
pub(super) fn read_patches<T: Tiled>(
    plan: &Convolution,
    group: usize,
    x: &[T],
    first: usize,
    patches: &mut [T],
) {
    for (index, patch) in patches.chunks_exact_mut(plan.patch()).enumerate() {
        let mut done = 0;
        for_each_run(plan, group, first + index, |run| {
            patch[done..run.patch].fill(T::ZERO);
            copy(
                &x[run.input..][..run.len],
                &mut patch[run.patch..][..run.len],
            );
            done = run.patch + run.len;
        });
        patch[done..].fill(T::ZERO);
    }
}

/// Copies a few elements. A call of `memcpy` takes longer than copying the channels of a color image.
#[inline(always)]
fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    if from.len() >= 16 {
        return to.copy_from_slice(from);
    }
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// Adds the patches of a group from window `first` on to the elements of one image that they were read from.
pub(super) fn add_patches<T: Tiled>(
    plan: &Convolution,
    group: usize,
    patches: &[T],
    first: usize,
    dx: &mut [T],
) {
    for (index, patch) in patches.chunks_exact(plan.patch()).enumerate() {
        for_each_run(plan, group, first + index, |run| {
            let dx = &mut dx[run.input..][..run.len];
            let patch = &patch[run.patch..][..run.len];
            dx.iter_mut()
                .zip(patch)
                .for_each(|(dx, patch)| *dx = dx.plus(*patch));
        });
    }
}
