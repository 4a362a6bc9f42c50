//! A bias per channel, and its gradient.
//!
//! Both treat a tensor as `[outer, channels, inner]`: with channels last `inner` is 1; with channels first `outer` is
//! the batch.

use crate::compute::loops::map::map2;
use crate::compute::loops::reduce::{Fold, Reduction, Sum, reduce};
use crate::compute::machine::inline::InlineList;
use crate::compute::scalar::arith::{self, Number};
use crate::compute::{Broadcast, Result};

/// The position of the channels in a tensor's dims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelLayout {
    /// The last dim: TensorFlow's `NHWC`, of any rank from 2.
    ChannelsLast,
    /// The second dim: TensorFlow's `NCHW`, of any rank from 2.
    ChannelsFirst,
}

impl ChannelLayout {
    /// Returns the dim of the channels. In a tensor of one dim it is that one.
    pub fn axis(self, rank: usize) -> usize {
        match self {
            Self::ChannelsLast => rank.saturating_sub(1),
            Self::ChannelsFirst => 1.min(rank.saturating_sub(1)),
        }
    }
}

/// Computes `out = x + bias`, with the bias along the channels; `out` is as long as `x`.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::compute::Error) if the numbers of biases and channels differ.
///
/// # Panics
/// Panics if `x` or `out` has another length than `dims`, or `dims` is empty.
pub fn bias_add<T: Number>(
    dims: &[usize],
    layout: ChannelLayout,
    x: &[T],
    bias: &[T],
    out: &mut [T],
) -> Result<()> {
    map2(
        &bias_broadcast(dims, layout, bias.len())?,
        x,
        bias,
        out,
        arith::add,
    );
    Ok(())
}

/// Returns the broadcast of `biases` biases along the channels of a tensor.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::compute::Error) if the numbers of biases and channels differ.
///
/// # Panics
/// Panics if `dims` is empty.
pub fn bias_broadcast(
    dims: &[usize],
    layout: ChannelLayout,
    biases: usize,
) -> Result<Broadcast<2>> {
    let axis = layout.axis(dims.len());
    if biases != dims[axis] {
        return Err(crate::compute::Error::Invalid(format!(
            "Must provide as many biases as the last dimension of the input tensor, or as its channels: [{biases}] vs. {}",
            crate::compute::machine::error::Dims(dims)
        )));
    }
    let mut bias_dims = InlineList::repeat(1, dims.len() - axis);
    bias_dims[0] = biases;
    Broadcast::new([dims, &bias_dims])
}

/// Computes `out[c]`, the sum of `x` over all elements of channel `c`.
///
/// # Errors
/// Returns no error for a tensor of one dim or more.
///
/// # Panics
/// Panics if `x` has another length than `dims`, or `out` another than the number of channels.
pub fn bias_add_grad<T: Number>(
    dims: &[usize],
    layout: ChannelLayout,
    x: &[T],
    out: &mut [T],
) -> Result<()>
where
    Sum: Fold<T>,
{
    let axis = layout.axis(dims.len());
    let others: InlineList<i64> = (0..dims.len())
        .filter(|i| *i != axis)
        .map(|i| i as i64)
        .collect();
    reduce::<T, Sum>(&Reduction::new(dims, &others)?, x, out);
    Ok(())
}
