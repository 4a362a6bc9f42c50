//! Blocks of device and host memory, and the ranges of copies and fills.

use super::arguments::Arguments;
use super::finding::finding;
use crate::runtime::description::Kind;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Alignment of device memory that TensorFlow requires.
const ALIGNMENT: u64 = 64;

/// A block of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    device: u64,
    size: u64,
}

/// The live blocks by their address. Blocks of two devices may have one address.
#[derive(Debug, Default)]
struct Blocks(BTreeMap<u64, Vec<Block>>);

impl Blocks {
    /// Adds a block; returns one of the same device that it overlaps.
    fn add(&mut self, start: u64, block: Block) -> Option<(u64, u64)> {
        let end = start + block.size;
        let before = self.0.range(..end).rev();
        let mut others =
            before.flat_map(|(start, blocks)| blocks.iter().map(move |it| (*start, it)));
        let overlap =
            others.find(|(other, it)| it.device == block.device && other + it.size > start);
        let overlap = overlap.map(|(other, it)| (other, it.size));
        self.0.entry(start).or_default().push(block);
        overlap
    }

    /// Removes a block; returns false if there is none.
    fn remove(&mut self, start: u64) -> bool {
        let Some(blocks) = self.0.get_mut(&start) else {
            return false;
        };
        let removed = blocks.pop().is_some();
        if blocks.is_empty() {
            self.0.remove(&start);
        }
        removed
    }

    /// Returns why `size` bytes at `start` are in no block, or `None`.
    fn problem(&self, start: u64, size: u64) -> Option<String> {
        let nearest = self.0.range(..=start).next_back();
        let Some((block, sizes)) = nearest else {
            return Some("no block is there".into());
        };
        let largest = sizes.iter().map(|it| it.size).max().unwrap_or(0);
        match block + largest {
            end if end >= start + size => None,
            end if end > start => Some(format!("the block {block:#x} has {largest} bytes")),
            _ => Some("no live block is there".into()),
        }
    }
}

static DEVICE: Mutex<Blocks> = Mutex::new(Blocks(BTreeMap::new()));

fn with<R>(function: impl FnOnce(&mut Blocks) -> R) -> R {
    function(&mut DEVICE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns true if `size` bytes at `address` are in one block of device memory.
pub fn is_in_block(address: u64, size: u64) -> bool {
    with(|blocks| blocks.problem(address, size)).is_none()
}

/// Checks copies, fills and freed blocks.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    if call.function.kind != Kind::Slot {
        return;
    }
    let name = call.function.short_name();
    // SAFETY: the structs of a call are readable.
    unsafe {
        match name {
            "deallocate" => check_freed(
                call,
                call.field("memory", "opaque")
                    .or_else(|| call.field("mem", "opaque")),
            ),
            "unified_memory_deallocate" => check_freed(call, call.values.get(1).copied()),
            _ if name.contains("memcpy") => {
                check_range(call, "device_src");
                check_range(call, "device_dst");
            }
            "mem_zero" | "memset" | "memset32" => check_range(call, "location"),
            "destroy_device" => check_left(call, call.device()),
            _ => {}
        }
    }
}

fn check_freed(call: &Arguments<'_>, address: Option<u64>) {
    let Some(address) = address.filter(|it| *it != 0) else {
        return;
    };
    if !with(|blocks| blocks.remove(address)) {
        let detail = format!("the block {address:#x} is not live");
        finding("destroyed_twice", call.function.name, &detail);
    }
}

/// Reports the blocks of a device that core destroys.
fn check_left(call: &Arguments<'_>, device: u64) {
    let sizes: Vec<u64> = with(|blocks| {
        let blocks = blocks.0.values().flatten();
        let left = blocks.filter(|it| it.device == device);
        left.map(|it| it.size).collect()
    });
    if !sizes.is_empty() {
        let (count, bytes) = (sizes.len(), sizes.iter().sum::<u64>());
        let detail = format!(
            "{count} blocks of {bytes} bytes of SP_StreamExecutor.allocate were not deallocated before the device"
        );
        finding("objects_released", call.function.name, &detail);
    }
}

/// # Safety
/// The arguments are those of a call.
unsafe fn check_range(call: &Arguments<'_>, name: &str) {
    // SAFETY: as the caller states.
    let start = unsafe { call.field(name, "opaque") };
    let (Some(start), Some(size @ 1..)) = (start, call.get("size")) else {
        return;
    };
    if let Some(problem) = with(|blocks| blocks.problem(start, size)) {
        let detail = format!("{size} bytes at {start:#x} ({name}): {problem}");
        finding("copy_bounds", call.function.name, &detail);
    }
}

/// Notes allocated blocks.
///
/// # Safety
/// The arguments are those of a call that has returned `result`.
pub unsafe fn after(call: &Arguments<'_>, result: u64) {
    if call.function.kind != Kind::Slot {
        return;
    }
    // SAFETY: the structs of a call are readable.
    let (device, name) = unsafe { (call.device(), call.function.short_name()) };
    match name {
        "allocate" => {
            // SAFETY: as above; the slot has filled the struct.
            let filled = unsafe { (call.field("mem", "opaque"), call.field("mem", "size")) };
            if let ((Some(start @ 1..), Some(stated)), Some(size)) = (filled, call.get("size")) {
                allocated(call, start, Block { device, size });
                if stated < size {
                    let detail = format!(
                        "{size} bytes were requested, and SP_DeviceMemoryBase.size is {stated}"
                    );
                    finding("field_access", call.function.name, &detail);
                }
            }
        }
        "unified_memory_allocate" if result != 0 => {
            let size = call.values.get(1).copied().unwrap_or(0);
            allocated(call, result, Block { device, size });
        }
        _ => {}
    }
}

fn allocated(call: &Arguments<'_>, start: u64, block: Block) {
    if !start.is_multiple_of(ALIGNMENT) {
        let detail = format!("the block {start:#x} is not aligned to {ALIGNMENT} bytes");
        finding("allocate", call.function.name, &detail);
    }
    if let Some((other, size)) = with(|blocks| blocks.add(start, block)) {
        let detail = format!(
            "{} bytes at {start:#x} overlap the live block {other:#x} of {size} bytes",
            block.size
        );
        finding("allocate", call.function.name, &detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Blocks {
        let mut blocks = Blocks::default();
        assert_eq!(
            blocks.add(
                0x1000,
                Block {
                    device: 1,
                    size: 64
                }
            ),
            None
        );
        blocks
    }

    #[test]
    fn a_range_must_be_within_one_block() {
        let blocks = blocks();
        assert_eq!(blocks.problem(0x1000, 64), None);
        assert_eq!(blocks.problem(0x1020, 32), None);
        assert_eq!(
            blocks.problem(0x1020, 33).unwrap(),
            "the block 0x1000 has 64 bytes"
        );
        assert!(blocks.problem(0x2000, 1).is_some());
        assert!(blocks.problem(0x100, 1).is_some());
    }

    #[test]
    fn blocks_of_one_device_do_not_overlap() {
        let mut blocks = blocks();
        let block = |device| Block { device, size: 64 };
        assert_eq!(blocks.add(0x1020, block(1)), Some((0x1000, 64)));
        assert_eq!(blocks.add(0x1000, block(2)), None);
        assert_eq!(blocks.add(0x1040, block(3)), None);
    }

    #[test]
    fn a_block_is_removed_once() {
        let mut blocks = blocks();
        assert!(blocks.remove(0x1000));
        assert!(!blocks.remove(0x1000));
        assert!(blocks.problem(0x1000, 1).is_some());
    }
}
