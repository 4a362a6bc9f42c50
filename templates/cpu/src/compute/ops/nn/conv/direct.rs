//! Convolutions and gradients of filters as products whose left operand are the elements of windows, which are not copied
//! into patches.

use super::Convolution;
use super::elements::{Elements, Layout};
use crate::compute::len;
use crate::compute::machine::cost::{self, Cost};
use crate::compute::machine::parallel::{available_threads, for_each_block, for_each_chunk};
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::zeroed;
use crate::compute::ops::matmul::{Finish, Indirect, Part, Right, Source, Target, Tile, Tiled};
use crate::compute::ops::nn::window::Windows;
use sp_plugin::allocation;
use std::ops::Range;

/// The limits of the multiply-adds of a block of windows, which is a task.
const BLOCK: [usize; 2] = [256 << 10, 8 << 20];
/// The bytes of the input or of the result that a block should not exceed, so that both fit in the second cache.
const BLOCK_BYTES: usize = 384 << 10;
/// The bytes of the input that all threads read in a product for a filter's gradient. Each thread sums strips of columns of
/// the gradient, which may be larger than the second cache, once for each block.
const SHARED_BLOCK_BYTES: usize = 4 << 20;
/// The bytes of a filter from which on it is read from the last cache, once for each block: blocks have [`MANY`] windows.
const LARGE_FILTER: usize = 512 << 10;
/// The least number of windows in a block with a large filter.
const MANY: usize = 128;
/// The number of filters from which on a product has enough strips of columns for all cores.
const WIDE: usize = 192;
/// The largest number of windows in one product that has a task for each strip.
const FEW: usize = 512;
/// The windows of a part of a filter's gradient, so that adding the parts takes a small share of the time.
const PART: usize = 1024;
/// The largest number of parts of a filter's gradient.
const PARTS: usize = 16;

/// The filter of a convolution, or that of the gradient of its input.
#[derive(Clone, Copy)]
pub(super) struct Filter<'a, T> {
    /// The tile that multiplies the elements.
    pub tile: Tile<T>,
    pub elements: &'a [T],
    /// True if the last window's weights come first, with input channels and filters exchanged.
    pub is_reversed: bool,
}

impl<'a, T: Tiled> Filter<'a, T> {
    /// Returns the weights of a group, as matrices in the order of windows' elements.
    fn group(&self, plan: &Convolution, group: usize) -> Right<'a, T> {
        let (depth, width) = (plan.depth, plan.group_filters());
        if !self.is_reversed {
            let source = Source {
                data: &self.elements[group * width..],
                rows: plan.patch(),
                step: plan.filters,
                is_transposed: false,
            };
            return Right::new(self.tile, width, source, plan.batch * plan.windows());
        }
        let taps = plan.patch() / depth;
        // The plan is that of the gradient: its depth is the number of filters of a group, and the stored rows have them.
        let row = depth * plan.groups;
        Right::pack(self.tile, width, taps, |tap| Source {
            data: &self.elements[(taps - 1 - tap) * width * row + group * depth..],
            rows: depth,
            step: row,
            is_transposed: true,
        })
    }
}

/// Computes a convolution that is not trivial, and calls `finish` for each element of the result.
pub(super) fn forward<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    filter: Filter<'_, T>,
    y: &mut [T],
    finish: Option<&Finish<'_, T>>,
) {
    let mut layout = Layout::new(plan, block::<T>(plan));
    layout.block = balanced(plan, layout.block);
    let runs = layout.runs(plan);
    let groups = allocation::collect((0..plan.groups).map(|it| filter.group(plan, it)));
    for_each_block(y, layout.block * plan.filters, |index, y| {
        let first = index * layout.block;
        let windows = first..first + y.len() / plan.filters;
        let elements = Elements::read(plan, &layout, x, windows, None);
        let rows = elements.offsets();
        for (group, right) in groups.iter().enumerate() {
            let left = Indirect {
                data: elements.data(group),
                rows: &rows,
                runs: &runs,
                run: layout.run,
                step: 1,
            };
            let target = Target {
                data: &mut y[group * plan.group_filters()..],
                step: plan.filters,
                add: false,
            };
            left.multiply(right, target);
        }
        if let Some(finish) = finish {
            finish(Part::of_rows(first, y, plan.filters));
        }
    });
}

/// Returns the largest number of windows in a block. It depends on the shapes only.
fn block<T>(plan: &Convolution) -> usize {
    let all = plan.batch * plan.windows();
    let weights = len(&[plan.patch(), plan.filters]);
    if plan.group_filters() >= WIDE && all <= FEW {
        return all;
    }
    let tasks = all.saturating_mul(weights) / 8;
    let wanted = tasks.clamp(BLOCK[0], BLOCK[1]) / weights;
    let least = if weights * size_of::<T>() > LARGE_FILTER {
        MANY
    } else {
        16
    };
    let area = plan.rows.stride.saturating_mul(plan.columns.stride);
    let row = plan.filters.max(plan.channels().saturating_mul(area));
    let most = BLOCK_BYTES / size_of::<T>() / row;
    wanted.max(least).min(most.max(16)).clamp(1, all)
}

/// Returns a number of windows up to `most` of which all threads compute equally many blocks: whole lines, if `most` has
/// one. It divides the work only: the order of sums depends on the layout.
fn balanced(plan: &Convolution, most: usize) -> usize {
    let (all, line) = (plan.batch * plan.windows(), plan.columns.output);
    if most >= all {
        return all;
    }
    let unit = if most < line { 1 } else { line };
    let (units, each) = (all.div_ceil(unit), most / unit);
    let blocks = units.div_ceil(each).next_multiple_of(available_threads());
    units.div_ceil(blocks) * unit
}

/// Returns the plan of the input's gradient: a convolution of the output's gradient with the reversed filter. `None` if the
/// windows are apart, or the padding is larger than a window.
pub(super) fn input_gradient(plan: &Convolution) -> Option<Convolution> {
    let reversed = |it: &Windows| {
        let before = (it.size - 1).checked_mul(it.dilation)?;
        (it.stride == 1).then_some(Windows {
            input: it.output,
            output: it.input,
            before: before.checked_sub(it.before)?,
            ..*it
        })
    };
    Some(Convolution {
        planes: reversed(&plan.planes)?,
        rows: reversed(&plan.rows)?,
        columns: reversed(&plan.columns)?,
        depth: plan.group_filters(),
        filters: plan.channels(),
        ..*plan
    })
}

/// Computes the gradient of the filter of a convolution that is not trivial.
pub(super) fn backprop_filter<T: Tiled>(plan: &Convolution, x: &[T], dy: &[T], df: &mut [T]) {
    let all = plan.batch * plan.windows();
    // Each part sums whole windows, so that the order of summation does not depend on the number of threads.
    let parts = match plan.group_filters() >= WIDE {
        true => 1,
        false => (all / PART).clamp(2, PARTS).min(all),
    };
    // Parts of whole lines, unless a line is longer.
    let line = Some(plan.columns.output).filter(|it| *it <= PART);
    let per_part = all.div_ceil(parts).next_multiple_of(line.unwrap_or(1));
    let mut sums = zeroed(df.len() * (all.div_ceil(per_part) - 1));
    let len = df.len();
    let mut outputs: Vec<&mut [T]> = std::iter::once(&mut *df)
        .chain(sums.chunks_exact_mut(len))
        .collect();
    for_each_block(&mut outputs, 1, |part, df| {
        let windows = part * per_part..((part + 1) * per_part).min(all);
        sum_windows(plan, x, dy, windows, df[0]);
    });
    for_each_chunk(df, cost::Cheap.grain(), |start, df| {
        for part in sums.chunks_exact(len) {
            let part = &part[start..][..df.len()];
            df.iter_mut()
                .zip(part)
                .for_each(|(df, part)| *df = df.plus(*part));
        }
    });
}

/// Writes the part of the filter's gradient that comes from these windows of all images.
fn sum_windows<T: Tiled>(
    plan: &Convolution,
    x: &[T],
    dy: &[T],
    windows: Range<usize>,
    df: &mut [T],
) {
    let bytes = match plan.group_filters() >= WIDE {
        true => SHARED_BLOCK_BYTES,
        false => BLOCK_BYTES,
    };
    let most = bytes / size_of::<T>() / plan.filters.max(plan.channels());
    let block = most.max(16).min(windows.len());
    let block = match plan.columns.output {
        line if line <= PART => block.max(line),
        // A part may begin within a line.
        line => block.min(line - 1),
    };
    let layout = Layout::new(plan, block);
    let runs = layout.runs(plan);
    let rows = layout.elements(&runs);
    let blocks = layout.in_blocks::<T>(plan);
    for first in windows.clone().step_by(layout.block) {
        let block = first..(first + layout.block).min(windows.end);
        let slopes = Slopes {
            elements: Elements::read(plan, &layout, x, block, blocks),
            dy: &dy[first * plan.filters..],
        };
        slopes.add_to(plan, &layout, &rows, df, first > windows.start);
    }
}

/// The windows of a block, and the gradient of the output from the first of them on.
struct Slopes<'a, T: Tiled> {
    elements: Elements<'a, T>,
    dy: &'a [T],
}

impl<T: Tiled> Slopes<'_, T> {
    /// Adds the sums over the windows to the elements of the filter's gradient at `rows`, or overwrites them.
    fn add_to(&self, plan: &Convolution, layout: &Layout, rows: &[usize], df: &mut [T], add: bool) {
        let lines = allocation::collect_unsized(self.elements.lines());
        let elements = &self.elements;
        let rows = allocation::collect(rows.iter().map(|it| elements.stored_offset(*it)));
        let mut done = 0;
        // Lines of one length are the runs of one product.
        for lines in lines.chunk_by(|a, b| a.1 == b.1) {
            let starts = lines.iter().map(|it| elements.stored_offset(it.0));
            let starts = allocation::collect(starts);
            let run = lines[0].1;
            for group in 0..plan.groups {
                let first = group * plan.group_filters();
                let source = Source {
                    data: &self.dy[done * plan.filters + first..],
                    rows: run * starts.len(),
                    step: plan.filters,
                    is_transposed: false,
                };
                let tile = T::tile(Isa::current());
                let right = Right::new(tile, plan.group_filters(), source, rows.len());
                let left = Indirect {
                    data: elements.data(group),
                    rows: &rows,
                    runs: &starts,
                    run,
                    step: elements.stored_offset(layout.step),
                };
                let target = Target {
                    data: &mut df[first..],
                    step: plan.filters,
                    add: add || done > 0,
                };
                left.multiply(&right, target);
            }
            done += run * starts.len();
        }
    }
}
