//! A bias per channel, and its gradient.
//!
//! Both see a tensor as `[outer, channels, inner]`: channels last is `inner = 1`, channels first is `outer` = batch.

use crate::compute::arith::{self, Number};
use crate::compute::map::map2;
use crate::compute::reduce::{Fold, Reduction, Sum, reduce};
use crate::compute::{Broadcast, Result};

/// Where the channels are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The last dim: TensorFlow's `NHWC`, of any rank from 2.
    ChannelsLast,
    /// The second dim: TensorFlow's `NCHW`, of any rank from 2.
    ChannelsFirst,
}

impl Layout {
    /// Which dim holds the channels. A tensor of one dim is all channels.
    pub fn axis(self, rank: usize) -> usize {
        match self {
            Self::ChannelsLast => rank.saturating_sub(1),
            Self::ChannelsFirst => 1.min(rank.saturating_sub(1)),
        }
    }
}

/// `out = x + bias`, the bias along the channels; `out` is as long as `x`.
///
/// # Errors
/// [`Error::Incompatible`](crate::compute::Error) if there is not one bias per channel.
///
/// # Panics
/// If `x` or `out` is not as long as `dims` say, or `dims` is empty.
pub fn bias_add<T: Number>(
    dims: &[usize],
    layout: Layout,
    x: &[T],
    bias: &[T],
    out: &mut [T],
) -> Result<()> {
    map2(&plan(dims, layout, bias.len())?, x, bias, out, arith::add);
    Ok(())
}

/// Returns the plan that adds so many biases along the channels.
///
/// # Errors
/// [`Error::Incompatible`](crate::compute::Error) if there is not one bias per channel.
///
/// # Panics
/// If `dims` is empty.
pub fn plan(dims: &[usize], layout: Layout, biases: usize) -> Result<Broadcast<2>> {
    let axis = layout.axis(dims.len());
    if biases != dims[axis] {
        let (biases, dims) = (vec![biases], dims.to_vec());
        return Err(crate::compute::Error::Incompatible(biases, dims));
    }
    let mut along = vec![1; dims.len() - axis];
    along[0] = biases;
    Broadcast::new([dims, &along])
}

/// `out[c]` = the sum of `x` over all elements of channel `c`.
///
/// # Errors
/// None for a tensor of one dim or more.
///
/// # Panics
/// If `x` is not as long as `dims` say, or `out` has not one element per channel.
pub fn bias_add_grad<T: Number>(
    dims: &[usize],
    layout: Layout,
    x: &[T],
    out: &mut [T],
) -> Result<()>
where
    Sum: Fold<T>,
{
    let axis = layout.axis(dims.len());
    let others: Vec<i64> = (0..dims.len())
        .filter(|i| *i != axis)
        .map(|i| i as i64)
        .collect();
    reduce::<T, Sum>(&Reduction::new(dims, &others)?, x, out);
    Ok(())
}
