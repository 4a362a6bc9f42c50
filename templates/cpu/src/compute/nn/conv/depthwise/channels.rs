//! Groups of channels that are computed in registers.

use crate::compute::simd::{Lanes, Registers};

/// A computation on some channels at a time.
pub(super) trait Channels<T> {
    /// Computes `N` registers of channels.
    fn several<V: Lanes<Scalar = T>, const N: usize>(
        &mut self,
        registers: Registers<V>,
        channel: usize,
    );

    /// Computes one channel.
    fn one(&mut self, channel: usize);
}

/// Computes each group of channels: `N` registers, one register, and single channels of less than a register.
#[inline(always)]
pub(super) fn for_each_group<V: Lanes, const N: usize>(
    registers: Registers<V>,
    channels: usize,
    work: &mut impl Channels<V::Scalar>,
) {
    let wide = N * V::COUNT;
    let (wides, ones) = (channels / wide * wide, channels / V::COUNT * V::COUNT);
    for channel in (0..wides).step_by(wide) {
        work.several::<V, N>(registers, channel);
    }
    for channel in (wides..ones).step_by(V::COUNT) {
        work.several::<V, 1>(registers, channel);
    }
    for channel in ones..channels {
        work.one(channel);
    }
}
