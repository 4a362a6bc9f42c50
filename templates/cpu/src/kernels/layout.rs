//! Tensors whose channels are the last dim or the second one. Kernels compute with channels last.

use super::prelude::*;
use crate::compute::nn::bias::ChannelLayout;
use crate::compute::strided::permute;
use crate::compute::workspace::Buffer;
use std::array::from_fn;

/// An attribute `data_format` of tensors with `N` dims.
pub trait ChannelFormat<const N: usize>: Copy + Into<ChannelLayout> {
    /// Returns a list of one item per dim in the order batch, spatial dims, channels.
    fn to_channels_last<T: Copy>(self, mut items: [T; N]) -> [T; N] {
        if self.into() == ChannelLayout::ChannelsFirst {
            items[1..].rotate_left(1);
        }
        items
    }

    /// Returns a list in the order batch, spatial dims, channels in the order of the tensor's dims.
    fn dims<T: Copy>(self, mut items: [T; N]) -> [T; N] {
        if self.into() == ChannelLayout::ChannelsFirst {
            items[1..].rotate_right(1);
        }
        items
    }

    /// Calls `compute` with the elements, channels last, of a tensor of `dims`, which are channels last.
    fn read<T: Copy + Send + Sync, R>(
        self,
        dims: [usize; N],
        x: &[T],
        compute: impl FnOnce(&[T]) -> R,
    ) -> R {
        if self.into() == ChannelLayout::ChannelsLast {
            return compute(x);
        }
        let order = self.to_channels_last(from_fn(|axis| axis));
        let mut copy = allocation::copied(x);
        permute(&self.dims(dims), &order, x, &mut copy);
        compute(&copy)
    }

    /// Allocates an output of `dims`, which are channels last, and calls `compute`, which writes its elements channels
    /// last.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    fn write<T: Element + Precision>(
        self,
        dims: [usize; N],
        out: Out<'_, T>,
        compute: impl FnOnce(&mut [T::Compute]),
    ) -> Result<()> {
        self.write_batches(dims, &[dims[0]], out, compute)
    }

    /// Allocates an output as [`write`](Self::write), with the dims `batch` in the place of the first one.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    fn write_batches<T: Element + Precision>(
        self,
        dims: [usize; N],
        batch: &[usize],
        out: Out<'_, T>,
        compute: impl FnOnce(&mut [T::Compute]),
    ) -> Result<()> {
        let mut out = out.unspecified(&[batch, &self.dims(dims)[1..]].concat())?;
        T::overwrite(&mut out, |out| {
            if self.into() == ChannelLayout::ChannelsLast {
                return compute(out);
            }
            let order = self.dims(from_fn(|axis| axis));
            let mut copy = Buffer::new(out.len());
            compute(&mut copy);
            permute(&dims, &order, &copy, out);
        });
        Ok(())
    }
}
