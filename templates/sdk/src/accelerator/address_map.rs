//! The allocations of a device by the addresses that TensorFlow has.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use super::allocation::Block;
use super::{Accelerator, Region};
use crate::{Error, Result};

/// Number of freed allocations that error messages can name.
const MAX_FREED: usize = 64;

/// The live allocations of a device. Their addresses do not overlap.
pub(super) struct AddressMap<A: Accelerator>(RwLock<Blocks<A>>);

struct Blocks<A: Accelerator> {
    live: BTreeMap<usize, Arc<Block<A>>>,
    freed: VecDeque<Range<usize>>,
}

impl<A: Accelerator> AddressMap<A> {
    pub fn new() -> Self {
        Self(RwLock::new(Blocks {
            live: BTreeMap::new(),
            freed: VecDeque::new(),
        }))
    }

    /// Adds a block.
    pub fn insert(&self, block: Arc<Block<A>>) {
        let mut blocks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let range = block.start..block.start.saturating_add(block.bytes);
        blocks
            .freed
            .retain(|it| it.end <= range.start || range.end <= it.start);
        blocks.live.insert(block.start, block);
    }

    /// Removes the block that begins at `start`.
    pub fn remove(&self, start: usize) -> Option<Arc<Block<A>>> {
        let mut blocks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let block = blocks.live.remove(&start)?;
        if blocks.freed.len() == MAX_FREED {
            blocks.freed.pop_front();
        }
        blocks.freed.push_back(start..start + block.bytes);
        Some(block)
    }

    /// Returns true if an allocation of the device contains the address.
    pub fn contains(&self, address: usize) -> bool {
        let blocks = self.0.read().unwrap_or_else(PoisonError::into_inner);
        blocks.find(address).is_some()
    }

    /// Returns the region at an address.
    ///
    /// # Errors
    /// Returns an error if no live allocation has these bytes.
    pub fn region(&self, address: usize, bytes: usize) -> Result<Region<A>> {
        let blocks = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match blocks.find(address) {
            Some(block) => Region::new(block.clone(), address - block.start, bytes),
            None => Err(blocks.unknown(address, bytes)),
        }
    }
}

impl<A: Accelerator> Blocks<A> {
    /// Returns the block that contains the address.
    fn find(&self, address: usize) -> Option<&Arc<Block<A>>> {
        let (_, block) = self.live.range(..=address).next_back()?;
        (address - block.start < block.bytes).then_some(block)
    }

    #[cold]
    fn unknown(&self, address: usize, bytes: usize) -> Error {
        let reason = match self.freed.iter().rev().find(|it| it.contains(&address)) {
            Some(it) => format!("in an allocation of {} bytes that was freed", it.len()),
            None => "not in an allocation of this device".to_owned(),
        };
        Error::invalid_argument(format!("{bytes} bytes at {address:#x}: {reason}"))
    }
}
