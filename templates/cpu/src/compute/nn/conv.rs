//! Convolution of images and volumes and its gradients, as products of matrices.
//!
//! The rows of the left matrix are the windows of the images (the patches), written in blocks that fit in the caches;
//! the right one is the filter. A window of one element needs no patches. Tensors are in the order batch, planes, rows,
//! columns, channels; filters in the order planes, rows, columns, input channels of a group, output channels. An image
//! is a volume of one plane.

mod depthwise;

use super::window::{Slide, Windows};
use crate::compute::matmul::{Finish, Part, Product, Tiled, finish_rows, matmul, matmul_with};
use crate::compute::parallel::for_each_block;
use crate::compute::workspace::with_buffer;
use crate::compute::{Error, Result, len};

/// The bytes of patches that are written at a time.
const BLOCK_BYTES: usize = 512 << 10;
/// The least number of patches in a block, so that the product is worth packing the filter.
const MIN_ROWS: usize = 16;
/// The largest number of elements in all partial sums of a filter's gradient.
const PARTIAL_SUMS: usize = 4 << 20;

/// The dims of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convolution {
    batch: usize,
    planes: Windows,
    rows: Windows,
    columns: Windows,
    groups: usize,
    /// The input channels of a group.
    depth: usize,
    /// The output channels of all groups.
    filters: usize,
}

impl Convolution {
    /// Creates the plan for an input `[batch, rows, columns, channels]` and a filter `[rows, columns, channels of a
    /// group, filters]`.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`], or [`Error::Groups`] if the channels or filters cannot be divided into
    /// groups.
    pub fn new(input: [usize; 4], filter: [usize; 4], [rows, columns]: [Slide; 2]) -> Result<Self> {
        let ([batch, height, width, channels], [y, x, depth, filters]) = (input, filter);
        let input = [batch, 1, height, width, channels];
        Self::new_3d(
            input,
            [1, y, x, depth, filters],
            [Slide::NONE, rows, columns],
        )
    }

    /// Creates the plan for an input `[batch, planes, rows, columns, channels]` and a filter `[planes, rows, columns,
    /// channels of a group, filters]`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn new_3d(input: [usize; 5], filter: [usize; 5], slides: [Slide; 3]) -> Result<Self> {
        let ([batch, .., channels], [.., depth, filters]) = (input, filter);
        let uneven = Error::Groups {
            channels,
            depth,
            filters,
        };
        if depth == 0 || !channels.is_multiple_of(depth) {
            return Err(uneven);
        }
        let groups = channels / depth;
        if groups > 0 && !filters.is_multiple_of(groups) {
            return Err(uneven);
        }
        let windows = |i: usize| Windows::new(input[i + 1], filter[i], slides[i]);
        Ok(Self {
            batch,
            planes: windows(0)?,
            rows: windows(1)?,
            columns: windows(2)?,
            groups,
            depth,
            filters,
        })
    }

    /// Returns the dims of the result of images.
    pub fn output(&self) -> [usize; 4] {
        without_planes(self.output_3d())
    }

    /// Returns the dims of the input images.
    pub fn input(&self) -> [usize; 4] {
        without_planes(self.input_3d())
    }

    /// Returns the dims of the result.
    pub fn output_3d(&self) -> [usize; 5] {
        [
            self.batch,
            self.planes.output,
            self.rows.output,
            self.columns.output,
            self.filters,
        ]
    }

    /// Returns the dims of the input.
    pub fn input_3d(&self) -> [usize; 5] {
        [
            self.batch,
            self.planes.input,
            self.rows.input,
            self.columns.input,
            self.channels(),
        ]
    }

    /// Returns the dims of the filter of images.
    pub fn filter(&self) -> [usize; 4] {
        [self.rows.size, self.columns.size, self.depth, self.filters]
    }

    fn channels(&self) -> usize {
        self.groups * self.depth
    }

    /// Returns the number of elements of a patch of one group.
    fn patch(&self) -> usize {
        len(&[
            self.planes.size,
            self.rows.size,
            self.columns.size,
            self.depth,
        ])
    }

    /// Returns the number of windows of an image or a volume.
    fn windows(&self) -> usize {
        len(&[self.planes.output, self.rows.output, self.columns.output])
    }

    /// Returns the number of filters of a group.
    fn group_filters(&self) -> usize {
        self.filters / self.groups
    }

    /// Returns true if each patch is one pixel, in order.
    fn is_pointwise(&self) -> bool {
        let windows = [&self.planes, &self.rows, &self.columns];
        self.groups == 1 && windows.iter().all(|it| it.is_identity())
    }

    /// Returns the number of patches in a block. It depends on the shapes only, as do sums over blocks.
    fn block<T>(&self) -> usize {
        let patch = self.patch().max(1);
        // Patches as large as the blocks themselves are written one by one.
        let least = (MIN_ROWS * BLOCK_BYTES / size_of::<T>() / patch).clamp(1, MIN_ROWS);
        (BLOCK_BYTES / size_of::<T>() / patch).clamp(least, 4096)
    }

    fn product(&self, windows: usize) -> Product {
        let (k, n) = (self.patch(), self.group_filters());
        Product {
            m: windows,
            k,
            n,
            transpose_a: false,
            transpose_b: false,
        }
    }

    /// Returns true if there is nothing to sum: the result is empty, or all zeros.
    fn is_trivial(&self) -> bool {
        [
            self.batch,
            self.windows(),
            self.filters,
            self.patch(),
            self.groups,
        ]
        .contains(&0)
    }

    fn check<T>(&self, x: &[T], filter: &[T], y: &[T]) {
        let lens = [
            len(&self.input_3d()),
            len(&[self.patch(), self.filters]),
            len(&self.output_3d()),
        ];
        assert_eq!(
            [x.len(), filter.len(), y.len()],
            lens,
            "a tensor differs in length from the plan"
        );
    }
}

/// Computes the convolution.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn convolve<T: Tiled>(plan: &Convolution, x: &[T], filter: &[T], y: &mut [T]) {
    convolve_with(plan, x, filter, y, None);
}

/// Computes the convolution as [`convolve`], and calls `finish` once for each element, in parts that are still in the
/// caches. The columns of a part are filters.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn convolve_with<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    filter: &[T],
    y: &mut [T],
    finish: Option<&Finish<'_, T>>,
) {
    plan.check(x, filter, y);
    if plan.is_pointwise() && !plan.is_trivial() {
        let product = plan.product(plan.batch * plan.windows());
        return matmul_with(product, x, filter, y, finish);
    }
    if plan.is_trivial() {
        y.fill(T::ZERO);
    } else if plan.is_depthwise() {
        depthwise::forward(plan, x, filter, y);
    } else {
        return convolve_blocks(plan, x, filter, y, finish);
    }
    if let Some(finish) = finish {
        finish_rows(y, plan.filters, finish);
    }
}

/// Computes a convolution as products of blocks of patches.
fn convolve_blocks<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    filter: &[T],
    y: &mut [T],
    finish: Option<&Finish<'_, T>>,
) {
    let (block, patch) = (plan.block::<T>(), plan.patch());
    for_each_block(y, block * plan.filters, |index, y| {
        let (first, windows) = (index * block, y.len() / plan.filters);
        if plan.groups == 1 {
            return with_buffer(windows * patch, |patches| {
                read_patches(plan, 0, x, first, patches);
                matmul_with(plan.product(windows), patches, filter, y, finish);
            });
        }
        convolve_groups(plan, x, filter, first, y);
        if let Some(finish) = finish {
            finish(Part::of_rows(y, plan.filters));
        }
    });
}

/// Computes the results of all groups from window `first` on.
fn convolve_groups<T: Tiled>(plan: &Convolution, x: &[T], filter: &[T], first: usize, y: &mut [T]) {
    let (patch, width) = (plan.patch(), plan.group_filters());
    let windows = y.len() / plan.filters;
    with_buffer((windows + width) * patch + windows * width, |buffer| {
        let (patches, rest) = buffer.split_at_mut(windows * patch);
        let (weights, sums) = rest.split_at_mut(patch * width);
        for group in 0..plan.groups {
            read_patches(plan, group, x, first, patches);
            copy_columns(filter, plan.filters, group * width, weights, width);
            matmul(plan.product(windows), patches, weights, sums);
            let rows = y.chunks_exact_mut(plan.filters);
            for (y, sums) in rows.zip(sums.chunks_exact(width)) {
                y[group * width..][..width].copy_from_slice(sums);
            }
        }
    });
}

/// Computes the gradient of the input.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn backprop_input<T: Tiled>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T]) {
    plan.check(dx, filter, dy);
    let image = dx.len() / plan.batch.max(1);
    if plan.is_trivial() || image == 0 {
        return dx.fill(T::ZERO);
    }
    if plan.is_pointwise() {
        let Product { m, k, n, .. } = plan.product(plan.batch * plan.windows());
        return matmul(
            Product {
                m,
                k: n,
                n: k,
                transpose_a: false,
                transpose_b: true,
            },
            dy,
            filter,
            dx,
        );
    }
    if plan.is_depthwise() {
        return depthwise::backprop_input(plan, filter, dy, dx);
    }
    let (block, patch, width) = (plan.block::<T>(), plan.patch(), plan.group_filters());
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

/// Computes the gradient of the filter.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn backprop_filter<T: Tiled>(plan: &Convolution, x: &[T], dy: &[T], df: &mut [T]) {
    plan.check(x, df, dy);
    if plan.is_trivial() {
        return df.fill(T::ZERO);
    }
    let (all, patch, width) = (
        plan.batch * plan.windows(),
        plan.patch(),
        plan.group_filters(),
    );
    if plan.is_pointwise() {
        let product = Product {
            m: patch,
            k: all,
            n: width,
            transpose_a: true,
            transpose_b: false,
        };
        return matmul(product, x, dy, df);
    }
    if plan.is_depthwise() {
        return depthwise::backprop_filter(plan, x, dy, df);
    }
    let block = plan.block::<T>();
    let parts = (PARTIAL_SUMS / df.len())
        .min(16)
        .min(all.div_ceil(block))
        .max(1);
    // Each part sums whole blocks, so that the order of summation does not depend on the number of threads.
    let per_part = all.div_ceil(block).div_ceil(parts) * block;
    let parts = all.div_ceil(per_part);
    let mut sums = vec![T::ZERO; df.len() * (parts - 1)];
    let sum = |part: usize, df: &mut [T]| {
        let windows = part * per_part..((part + 1) * per_part).min(all);
        add_filter_gradient(plan, x, dy, windows, df);
    };
    df.fill(T::ZERO);
    let len = df.len();
    let mut outputs: Vec<&mut [T]> = std::iter::once(&mut *df)
        .chain(sums.chunks_exact_mut(len))
        .collect();
    for_each_block(&mut outputs, 1, |part, df| sum(part, df[0]));
    for part in sums.chunks_exact(len) {
        df.iter_mut()
            .zip(part)
            .for_each(|(df, part)| *df = df.plus(*part));
    }
}

/// Adds the part of the filter's gradient that comes from these windows of all images.
fn add_filter_gradient<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    dy: &[T],
    windows: std::ops::Range<usize>,
    df: &mut [T],
) {
    let (block, patch, width) = (
        plan.block::<T>().min(windows.len()),
        plan.patch(),
        plan.group_filters(),
    );
    with_buffer((block + width) * patch + block * width, |buffer| {
        let (patches, rest) = buffer.split_at_mut(block * patch);
        let (sums, slopes) = rest.split_at_mut(patch * width);
        for first in windows.clone().step_by(block) {
            let count = block.min(windows.end - first);
            let (patches, slopes) = (&mut patches[..count * patch], &mut slopes[..count * width]);
            let dy = &dy[first * plan.filters..][..count * plan.filters];
            for group in 0..plan.groups {
                read_patches(plan, group, x, first, patches);
                let product = Product {
                    m: patch,
                    k: count,
                    n: width,
                    transpose_a: true,
                    transpose_b: false,
                };
                if plan.groups == 1 {
                    matmul(product, patches, dy, sums);
                } else {
                    copy_columns(dy, plan.filters, group * width, slopes, width);
                    matmul(product, patches, slopes, sums);
                }
                for (df, sums) in df
                    .chunks_exact_mut(plan.filters)
                    .zip(sums.chunks_exact(width))
                {
                    let df = &mut df[group * width..][..width];
                    df.iter_mut()
                        .zip(sums)
                        .for_each(|(df, sum)| *df = df.plus(*sum));
                }
            }
        }
    });
}

/// Leaves out the one plane of images.
fn without_planes([batch, _, rows, columns, channels]: [usize; 5]) -> [usize; 4] {
    [batch, rows, columns, channels]
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
fn read_patches<T: Tiled>(
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
fn add_patches<T: Tiled>(
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
