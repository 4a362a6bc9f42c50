//! The plugin's own slots, by which the layer waits for a stream, and a capture reads the memory of a device.

use crate::runtime::check::memory;
use crate::runtime::description::{Slot, Structure};
use crate::runtime::report;
use crate::runtime::shared::Shared;
use crate::runtime::tables::tables;
use std::collections::HashMap;
use std::sync::OnceLock;

type Wait = unsafe extern "C-unwind" fn(u64, u64, u64);
type WaitForAll = unsafe extern "C-unwind" fn(u64, u64);
type Copy = unsafe extern "C-unwind" fn(u64, *mut u8, *const u8, u64, u64);

/// The device of each stream.
static STREAMS: Shared<HashMap<u64, u64>> = Shared::new();

/// Notes the device of a stream.
pub fn add_stream(stream: u64, device: u64) {
    STREAMS.with(|streams| streams.insert(stream, device));
}

/// Returns the `SP_Device` of a stream.
pub fn of_stream(stream: u64) -> Option<u64> {
    STREAMS.with(|streams| streams.get(&stream).copied())
}

/// Slots of the release.
struct Slots {
    wait: Option<&'static Slot>,
    wait_for_all: Option<&'static Slot>,
    copy: Option<&'static Slot>,
}

fn slots() -> &'static Slots {
    static SLOTS: OnceLock<Slots> = OnceLock::new();
    SLOTS.get_or_init(|| Slots {
        wait: find("block_host_until_done"),
        wait_for_all: find("synchronize_all_activity"),
        copy: find("sync_memcpy_dtoh"),
    })
}

fn find(name: &str) -> Option<&'static Slot> {
    let mut slots = tables().slots.iter();
    let is_named = |it: &&&Slot| it.function.name.strip_prefix("SP_StreamExecutor.") == Some(name);
    slots.find(is_named).copied()
}

/// Returns the function of the one plugin now; 0 if it has none, or if several plugins have one.
fn original(slot: Option<&Slot>) -> usize {
    let Some(slot) = slot else { return 0 };
    if slot.original(1) != 0 {
        report::line_once(
            "--capture and --guard",
            "use the slots of one plugin only: name it by --plugin",
        );
        return 0;
    }
    slot.original(0)
}

/// Returns true if the plugin has a slot that waits.
pub fn can_wait() -> bool {
    original(slots().wait) != 0 || original(slots().wait_for_all) != 0
}

/// Waits until the work on `stream` is done. `status` is a live status.
///
/// # Safety
/// - `device` and `stream` are live, and `status` is a live `TF_Status`.
pub unsafe fn wait(device: u64, stream: u64, status: u64) {
    let (wait, wait_for_all) = (original(slots().wait), original(slots().wait_for_all));
    // SAFETY: the addresses are those of slots with these signatures; the caller guarantees the arguments.
    unsafe {
        if wait != 0 {
            std::mem::transmute::<usize, Wait>(wait)(device, stream, status);
        } else if wait_for_all != 0 {
            std::mem::transmute::<usize, WaitForAll>(wait_for_all)(device, status);
        }
    }
}

/// Returns true if all of `size` bytes at `address` are in a block of device memory.
pub fn has(address: u64, size: u64) -> bool {
    memory::is_in_block(address, size)
}

/// Returns `size` bytes of device memory, or `None` if the plugin's slots are not known.
///
/// # Safety
/// - `device` is live, the range is within a live block of it, and `status` is a live `TF_Status`.
pub unsafe fn read(device: u64, address: u64, size: u64, status: u64) -> Option<Vec<u8>> {
    let slot = slots().copy?;
    let structure = slot.function.parameters.get(2)?.ty.pointed_struct()?;
    let source = block(structure, address, size)?;
    let copy = original(Some(slot));
    if copy == 0 || device == 0 {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    // SAFETY: the address is that of the slot `sync_memcpy_dtoh`; the target has room for `size` bytes, and the source is
    // a struct of the release's layout.
    unsafe {
        let copy = std::mem::transmute::<usize, Copy>(copy);
        copy(
            device,
            bytes.as_mut_ptr(),
            source.as_ptr().cast(),
            size,
            status,
        );
    }
    Some(bytes)
}

/// Returns an `SP_DeviceMemoryBase` of the release's layout, in words so that it is aligned.
fn block(structure: &Structure, address: u64, size: u64) -> Option<Vec<u64>> {
    let mut words = vec![0; structure.size.div_ceil(8)];
    let values = [
        ("struct_size", structure.size as u64),
        ("opaque", address),
        ("size", size),
    ];
    for (name, value) in values {
        let field = structure.fields.iter().find(|it| it.name == name)?;
        *words.get_mut(field.offset / 8)? = value;
    }
    Some(words)
}
