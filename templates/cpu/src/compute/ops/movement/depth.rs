//! Blocks of an image moved to its channels, and back.

use super::view::View;
use super::{checked_len, strides};
use crate::compute::machine::error::{Error, Result};
use crate::compute::machine::inline::InlineList;

/// The channels of an image of dims `[batch, height, width, channels]`, or `[batch, channels, height, width]` if
/// `is_channels_first`, and blocks of `size` rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// The rows, and the columns, of a block.
    pub size: usize,
    /// True if the channels are before height and width.
    pub is_channels_first: bool,
}

impl Depth {
    /// Returns the view with the elements of each block as channels, and its dims.
    ///
    /// # Errors
    /// Returns an error if the image has another rank, or the blocks do not divide it.
    pub fn from_space(self, dims: &[usize]) -> Result<(View, InlineList<usize>)> {
        let ([batch, height, width, channels], [batch_step, row, column, channel]) =
            self.read(dims)?;
        let size = self.size;
        if !height.is_multiple_of(size) || !width.is_multiple_of(size) {
            return Err(Error::Invalid(format!(
                "Image width {width} and height {height} should be divisible by block_size: {size}"
            )));
        }
        let depth = self.product(channels)?;
        let result = [batch, height / size, width / size, depth];
        let parts = [(size, row), (size, column), (channels, channel)];
        let batch = (batch, batch_step);
        let (rows, columns) = (
            (height / size, row.wrapping_mul(size)),
            (width / size, column.wrapping_mul(size)),
        );
        let [y, x, c] = parts;
        let axes = match self.is_channels_first {
            true => [batch, y, x, c, rows, columns],
            false => [batch, rows, columns, y, x, c],
        };
        Ok((view(axes), self.order(result)))
    }

    /// Returns the view with groups of channels as blocks, and its dims.
    ///
    /// # Errors
    /// Returns an error if the image has another rank, or its channels are not so many groups.
    pub fn to_space(self, dims: &[usize]) -> Result<(View, InlineList<usize>)> {
        let ([batch, height, width, channels], [batch_step, row, column, channel]) =
            self.read(dims)?;
        let size = self.size;
        let groups = self.product(1)?;
        if !channels.is_multiple_of(groups) {
            return Err(Error::Invalid(format!(
                "Input depth dimension {channels} should be divisible by: {groups}"
            )));
        }
        let depth = channels / groups;
        let result = [
            batch,
            height.saturating_mul(size),
            width.saturating_mul(size),
            depth,
        ];
        let batch = (batch, batch_step);
        let across = (size, channel.wrapping_mul(depth));
        let down = (size, across.1.wrapping_mul(size));
        let (rows, columns, channels) = ((height, row), (width, column), (depth, channel));
        let axes = match self.is_channels_first {
            true => [batch, channels, rows, down, columns, across],
            false => [batch, rows, down, columns, across, channels],
        };
        checked_len(&result)?;
        Ok((view(axes), self.order(result)))
    }

    /// Returns the dims and the strides in the order `[batch, height, width, channels]`.
    fn read(self, dims: &[usize]) -> Result<([usize; 4], [usize; 4])> {
        let [_, _, _, _] = dims else {
            return Err(Error::Invalid(format!(
                "Input rank should be 4: input must be 4-dimensional, not of shape {dims:?}"
            )));
        };
        let steps = strides(dims);
        let order = match self.is_channels_first {
            true => [0, 2, 3, 1],
            false => [0, 1, 2, 3],
        };
        Ok((order.map(|axis| dims[axis]), order.map(|axis| steps[axis])))
    }

    /// Returns the dims `[batch, height, width, channels]` in the order of the image.
    fn order(self, [batch, height, width, channels]: [usize; 4]) -> InlineList<usize> {
        let dims = match self.is_channels_first {
            true => [batch, channels, height, width],
            false => [batch, height, width, channels],
        };
        InlineList::from(&dims[..])
    }

    /// Returns the number of channels times the elements of a block.
    fn product(self, channels: usize) -> Result<usize> {
        let block = self.size.checked_mul(self.size);
        let product = block.and_then(|it| it.checked_mul(channels));
        product.ok_or_else(|| Error::Invalid(format!("blocks of {} rows are too large", self.size)))
    }
}

fn view(axes: [(usize, usize); 6]) -> View {
    View::new(axes.map(|(len, step)| (len, step as isize)), 0)
}
