//! The elements of windows, by offsets: into the input as it is stored, into a copy with its padding, or into patches.
//!
//! Element `e` of run `r` of window `w` of a line is at the line's start + `w * step + runs[r] + e`. With the windows as
//! rows and the runs as terms this is the left operand of a convolution; with the elements as rows and the lines as terms,
//! that of its filter's gradient.

use super::Convolution;
use super::patches::read_patches;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::workspace::Buffer;
use crate::compute::ops::matmul::Tiled;
use crate::compute::ops::nn::window::Windows;
use std::ops::Range;

/// The memory that has the elements of windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// In the input: no window reaches into the padding.
    Stored,
    /// In a copy with the padding.
    Padded,
    /// In a copy of each window: windows far apart, or with elements far apart, have few elements of those between them.
    Patches,
}

/// The distances of the elements of windows, in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    kind: Kind,
    /// The largest number of windows that are read at a time: whole lines, or a part of one.
    pub block: usize,
    plane: usize,
    row: usize,
    /// The distance of two windows of a line.
    pub step: usize,
    /// The number of adjacent elements in a window.
    pub run: usize,
}

/// Returns the number of elements from the first one of a window to the last one of the window `count - 1` later.
fn reach(windows: &Windows, count: usize) -> usize {
    let last = (count - 1).saturating_mul(windows.stride);
    let size = (windows.size - 1).saturating_mul(windows.dilation);
    last.saturating_add(size).saturating_add(1)
}

fn has_padding(windows: &Windows) -> bool {
    windows.before > 0 || reach(windows, windows.output) > windows.input
}

impl Layout {
    /// Creates the layout for at most `block` windows, rounded down to whole lines, of a convolution that is not trivial.
    pub(super) fn new(plan: &Convolution, block: usize) -> Self {
        let (line, channels) = (plan.columns.output, plan.channels());
        let block = if block < line {
            block.max(1)
        } else {
            block / line * line
        };
        let stored = Self {
            kind: Kind::Stored,
            block,
            plane: plan.rows.input * plan.columns.input * channels,
            row: plan.columns.input * channels,
            step: plan.columns.stride * channels,
            run: match plan.groups == 1 && plan.columns.dilation == 1 {
                true => plan.columns.size * plan.depth,
                false => plan.depth,
            },
        };
        match [&plan.planes, &plan.rows, &plan.columns].map(has_padding) {
            [false, false, false] => stored,
            _ => stored.padded(plan),
        }
    }

    fn padded(self, plan: &Convolution) -> Self {
        let lines = self.block.div_ceil(plan.columns.output);
        let row = reach(&plan.columns, self.block.min(plan.columns.output));
        let row = row.saturating_mul(plan.channels());
        let plane = reach(&plan.rows, lines.min(plan.rows.output)).saturating_mul(row);
        let patch = plan.patch() * plan.groups;
        let patches = self.block.min(lines * plan.columns.output) * patch;
        let pieces = lines.div_ceil(plan.rows.output);
        let copied = plane.saturating_mul(plan.planes.size * pieces);
        if copied > patches.saturating_mul(2) {
            return Self {
                kind: Kind::Patches,
                step: plan.patch(),
                run: plan.patch(),
                ..self
            };
        }
        Self {
            kind: Kind::Padded,
            row,
            plane,
            ..self
        }
    }

    /// Returns the offset of each run of a window.
    pub(super) fn runs(&self, plan: &Convolution) -> Buffer<usize> {
        let mut runs = Buffer::new(plan.patch() / self.run);
        let columns = runs.len() / (plan.planes.size * plan.rows.size).min(runs.len());
        // A copy has only the planes of the window.
        let apart = match self.kind {
            Kind::Stored => plan.planes.dilation,
            _ => 1,
        };
        for (index, run) in runs.iter_mut().enumerate() {
            let (line, k) = (index / columns, index % columns);
            let (plane, i) = (line / plan.rows.size, line % plan.rows.size);
            *run = plane * apart * self.plane
                + i * plan.rows.dilation * self.row
                + k * plan.columns.dilation * plan.channels();
        }
        runs
    }

    /// Returns the layout of elements in [`Blocks`], or `None` if that is not worth a copy: the windows of a line are beside
    /// each other, or have few channels.
    pub(super) fn in_blocks<T>(&self, plan: &Convolution) -> Option<Blocks> {
        let channels = plan.channels();
        let is_apart = self.step * size_of::<T>() >= APART;
        let can_be = self.kind == Kind::Padded && plan.groups == 1;
        (can_be && is_apart && channels.is_multiple_of(CHANNELS)).then_some(Blocks { channels })
    }

    /// Returns the offset of each element of a window.
    pub(super) fn elements(&self, runs: &[usize]) -> Buffer<usize> {
        let mut elements = Buffer::new(runs.len() * self.run);
        for (elements, run) in elements.chunks_exact_mut(self.run).zip(runs) {
            (*run..).zip(elements).for_each(|(offset, it)| *it = offset);
        }
        elements
    }
}

/// The channels of a block.
const CHANNELS: usize = 8;
/// The distance of two windows, in bytes, from which on the first cache has too few lines for those that a tile reads:
/// the lines are in few of its sets.
const APART: usize = 256;

/// Elements whose channels are in blocks of [`CHANNELS`]: all pixels of the first block, then those of the next one. A tile
/// reads as many channels of the windows of a line one after the other.
///
/// The gradient of a filter reads such a copy if the windows of a line are `APART` bytes apart or more. Otherwise
/// the channels that a tile reads are in few sets of the first cache, and each tile reads them from the second one.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    channels: usize,
}

impl Blocks {
    /// Returns the offset in a copy of `len` elements of an element that has this offset by pixels.
    pub(super) fn offset(&self, offset: usize, len: usize) -> usize {
        let (pixel, channel) = (offset / self.channels, offset % self.channels);
        channel / CHANNELS * (len / self.channels * CHANNELS)
            + pixel * CHANNELS
            + channel % CHANNELS
    }
}

/// The elements of a range of windows.
pub(super) struct Elements<'a, T: Tiled> {
    plan: &'a Convolution,
    layout: &'a Layout,
    windows: Range<usize>,
    input: &'a [T],
    copy: Option<Buffer<T>>,
    blocks: Option<Blocks>,
}

impl<'a, T: Tiled> Elements<'a, T> {
    /// Finds the elements of these windows, at most a block of whole lines, or of a part of one or two. A copy has
    /// the layout of `blocks`, if given.
    pub(super) fn read(
        plan: &'a Convolution,
        layout: &'a Layout,
        input: &'a [T],
        windows: Range<usize>,
        blocks: Option<Blocks>,
    ) -> Self {
        let mut it = Self {
            plan,
            layout,
            windows,
            input,
            copy: None,
            blocks,
        };
        it.copy = match layout.kind {
            Kind::Stored => None,
            Kind::Padded => Some(it.copy_padded()),
            Kind::Patches => Some(it.copy_patches()),
        };
        it
    }

    /// Returns the elements that the offsets count from.
    #[inline]
    pub(super) fn data(&self, group: usize) -> &[T] {
        let first = match self.layout.kind {
            Kind::Patches => group * self.windows.len() * self.plan.patch(),
            _ => group * self.plan.depth,
        };
        &self.copy.as_deref().unwrap_or(self.input)[first..]
    }

    /// Returns the offset, in [`data`](Self::data), of the element that has this offset by pixels.
    #[inline]
    pub(super) fn stored_offset(&self, offset: usize) -> usize {
        match (&self.blocks, &self.copy) {
            (Some(blocks), Some(copy)) => blocks.offset(offset, copy.len()),
            _ => offset,
        }
    }

    /// Returns the windows of each line, as the offset of the first window and their number.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, usize)> {
        let Range { start, end } = self.windows;
        let line = match self.layout.kind {
            Kind::Patches => usize::MAX,
            _ => self.plan.columns.output,
        };
        let mut window = start;
        std::iter::from_fn(move || {
            let count = (line - window % line).min(end - window);
            let offset = (count > 0).then(|| self.offset(window));
            window += count;
            offset.map(|offset| (offset, count))
        })
    }

    /// Returns the offset of each window.
    pub(super) fn offsets(&self) -> Buffer<usize> {
        let mut offsets = Buffer::new(self.windows.len());
        let mut done = 0;
        for (start, count) in self.lines() {
            let line = &mut offsets[done..done + count];
            (0..)
                .zip(line)
                .for_each(|(i, it)| *it = start + i * self.layout.step);
            done += count;
        }
        offsets
    }

    /// Returns the offset of a window that is the first one in its line.
    fn offset(&self, window: usize) -> usize {
        let (plan, layout) = (self.plan, self.layout);
        let (line, x) = (window / plan.columns.output, window % plan.columns.output);
        match layout.kind {
            Kind::Patches => (window - self.windows.start) * plan.patch(),
            Kind::Stored => {
                let (plane, y) = (line / plan.rows.output, line % plan.rows.output);
                let (volume, z) = (plane / plan.planes.output, plane % plan.planes.output);
                (volume * plan.planes.input + z * plan.planes.stride) * layout.plane
                    + y * plan.rows.stride * layout.row
                    + x * layout.step
            }
            Kind::Padded => {
                let piece = self.piece(line);
                (piece.index * plan.planes.size) * layout.plane
                    + (line - piece.first) * plan.rows.stride * layout.row
            }
        }
    }

    /// Returns the piece of a line: adjacent lines of a plane of windows, or one line if the block is shorter.
    fn piece(&self, line: usize) -> Piece {
        let columns = self.plan.columns.output;
        let (first, last) = (
            self.windows.start / columns,
            (self.windows.end - 1) / columns,
        );
        let lines = match self.layout.block < columns {
            true => 1,
            false => self.plan.rows.output,
        };
        let key = line / lines;
        Piece {
            index: key - first / lines,
            first: first.max(key * lines),
            last: last.min((key + 1) * lines - 1),
        }
    }

    fn copy_padded(&self) -> Buffer<T> {
        let (plan, columns) = (self.plan, self.plan.columns.output);
        let last = (self.windows.end - 1) / columns;
        let pieces = self.piece(last).index + 1;
        let mut copy = Buffer::new(pieces * plan.planes.size * self.layout.plane);
        let channels = plan.channels();
        let width = self.blocks.map_or(channels, |_| CHANNELS);
        let len = copy.len() / channels * width;
        for_each_block(&mut copy, len.max(1), |block, copy| {
            self.copy_channels(block * width..(block + 1) * width, copy);
        });
        copy
    }

    /// Copies these channels of all pixels, with the padding.
    fn copy_channels(&self, channels: Range<usize>, copy: &mut [T]) {
        let (plan, columns) = (self.plan, self.plan.columns.output);
        let plane = self.layout.plane / plan.channels() * channels.len();
        let mut line = self.windows.start / columns;
        let mut column = self.windows.start % columns;
        for copy in copy.chunks_exact_mut(plan.planes.size * plane) {
            let piece = self.piece(line);
            for (index, copy) in copy.chunks_exact_mut(plane).enumerate() {
                self.copy_plane(&piece, index, column, &channels, copy);
            }
            (line, column) = (piece.last + 1, 0);
        }
    }

    /// Copies the rows of a plane of the windows' elements, from the first element of column `column` on.
    fn copy_plane(
        &self,
        piece: &Piece,
        plane: usize,
        column: usize,
        channels: &Range<usize>,
        copy: &mut [T],
    ) {
        let plan = self.plan;
        let (image, y) = (
            piece.first / plan.rows.output,
            piece.first % plan.rows.output,
        );
        let (volume, z) = (image / plan.planes.output, image % plan.planes.output);
        let z = plan.planes.index(z, plane);
        let rows = reach(&plan.rows, piece.last - piece.first + 1);
        let width = self.layout.row / plan.channels() * channels.len();
        for (i, copy) in copy.chunks_exact_mut(width).take(rows).enumerate() {
            let row = (y * plan.rows.stride + i).checked_sub(plan.rows.before);
            let row = row.filter(|row| *row < plan.rows.input);
            let Some((z, row)) = z.zip(row) else {
                copy.fill(T::ZERO);
                continue;
            };
            let row = (volume * plan.planes.input + z) * plan.rows.input + row;
            let len = plan.columns.input * plan.channels();
            self.copy_row(&self.input[row * len..][..len], column, channels, copy);
        }
    }

    /// Copies a part of a row with the padding on both sides.
    fn copy_row(&self, row: &[T], column: usize, channels: &Range<usize>, copy: &mut [T]) {
        let (plan, width) = (self.plan, channels.len());
        let (start, before) = (column * plan.columns.stride, plan.columns.before);
        let padding = before.saturating_sub(start) * width;
        let (padding, copy) = copy.split_at_mut(padding.min(copy.len()));
        let first = start.saturating_sub(before).min(plan.columns.input);
        let pixels = (plan.columns.input - first) * width;
        let (pixels, rest) = copy.split_at_mut(pixels.min(copy.len()));
        padding.fill(T::ZERO);
        let all = plan.channels();
        copy_pixels(&row[first * all..], all, channels, pixels);
        rest.fill(T::ZERO);
    }

    fn copy_patches(&self) -> Buffer<T> {
        let len = self.windows.len() * self.plan.patch();
        let mut copy = Buffer::new(len * self.plan.groups);
        for (group, copy) in copy.chunks_exact_mut(len).enumerate() {
            read_patches(self.plan, group, self.input, self.windows.start, copy);
        }
        copy
    }
}

/// Copies these channels, all or [`CHANNELS`], of pixels that have `all`.
fn copy_pixels<T: Tiled>(row: &[T], all: usize, channels: &Range<usize>, pixels: &mut [T]) {
    if channels.len() == all {
        return pixels.copy_from_slice(&row[..pixels.len()]);
    }
    let pixels = pixels.as_chunks_mut::<CHANNELS>().0;
    for (pixel, from) in pixels.iter_mut().zip(row.chunks_exact(all)) {
        pixel.copy_from_slice(&from[channels.clone()]);
    }
}

/// Lines of one plane of windows, whose elements are copied together.
struct Piece {
    index: usize,
    first: usize,
    last: usize,
}
