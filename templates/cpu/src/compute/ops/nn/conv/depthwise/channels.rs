//! Groups of channels that are computed in registers.

use crate::compute::machine::simd::{Lanes, MAX_LANES, Registers};
use crate::compute::machine::workspace::{AnyBits, Buffer};

/// A computation on some channels at a time.
pub(super) trait Channels<T> {
    /// Computes `N` registers of channels. A channel may be computed more than once. With fewer channels than a register,
    /// the elements after them are computed too.
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    );
}

/// Computes each group of channels: `N` registers, or one.
#[inline(always)]
pub(super) fn for_each_group<V: Lanes, const N: usize>(
    registers: Registers<V>,
    channels: usize,
    work: &mut impl Channels<V::Scalar>,
) {
    let wide = N * V::COUNT;
    let wides = channels / wide * wide;
    for channel in (0..wides).step_by(wide) {
        work.several::<V, N>(registers, channel);
    }
    let last = channels.saturating_sub(V::COUNT);
    for channel in (wides..channels).step_by(V::COUNT) {
        work.several::<V, 1>(registers, channel.min(last));
    }
}

/// Returns a copy from whose last element a register can be read.
pub(super) fn padded_copy<T: AnyBits + Default>(x: &[T]) -> Buffer<T> {
    let mut copy = Buffer::new(x.len() + MAX_LANES);
    let (elements, room) = copy.split_at_mut(x.len());
    elements.copy_from_slice(x);
    room.fill(T::default());
    copy
}
