//! Slots of the layer that other tests do not call, and a device that replaces single slots.

use std::time::Duration;

use sp_abi::stream_executor::{
    DeviceFns, SE_EventStatus, SP_DeviceMemoryBase, StreamExecutor, TimerFns,
};
use sp_runtime::{Prefix, Versioned, vtable};

use super::{Recorder, allocate, deallocate, device, device_with_stream, read, write};
use crate::accelerator::{AcceleratorDevice, HasAccelerator};
use crate::buffer::{self, Buffer};
use crate::{Description, Device, HostAddressable, InPlace, MemoryAccess, Result};

#[test]
fn memset_writes_bytes_to_an_interior_range() {
    let (device, _, stream) = device_with_stream();
    let memory = allocate(&device, 8);
    write(&device, &memory, &[1; 8]).unwrap();
    let part = super::part(&memory, 3, 2);
    // SAFETY: the region is live.
    unsafe { device.memset(&stream, Prefix::from_ref(&part), 7, 2) }.unwrap();
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(read(&device, &memory).unwrap(), [1, 1, 1, 7, 7, 1, 1, 1]);
}

#[test]
fn synchronous_copy_on_the_device_is_complete_when_it_returns() {
    let (device, control) = device();
    let (source, target) = (allocate(&device, 4), allocate(&device, 4));
    write(&device, &source, &[5; 4]).unwrap();
    control.set_delay(Duration::from_millis(5));
    let (to, from) = (Prefix::from_ref(&target), Prefix::from_ref(&source));
    // SAFETY: both regions are live.
    unsafe { device.sync_memcpy_dtod(to, from, 4) }.unwrap();
    assert_eq!(read(&device, &target).unwrap(), [5; 4]);
}

#[test]
fn numa_node_and_description_are_those_of_the_accelerator() {
    let (device, _) = device();
    assert_eq!(device.get_numa_node(), 1);
    let description = Device::description(&device);
    assert_eq!(description.pci_bus_id, Some(c"0000:01:00.0"));
}

/// A device that replaces one slot over the layer.
struct OneSlot(AcceleratorDevice<Recorder>);

// SAFETY: the layer below has all slots but one, which is of no memory.
unsafe impl Device for OneSlot {
    type Access = InPlace;

    fn open(ordinal: usize) -> Result<Self> {
        AcceleratorDevice::open(ordinal).map(Self)
    }

    fn description(&self) -> Description {
        self.0.description()
    }
}

// SAFETY: the memory is that of the layer.
unsafe impl HostAddressable for OneSlot {
    fn memory_access(&self) -> MemoryAccess {
        self.0.memory_access()
    }
}

#[vtable(fallback = self.0: AcceleratorDevice<Recorder>)]
impl StreamExecutor for OneSlot {
    fn get_allocator_stats(
        &self,
        _: sp_runtime::PrefixMut<'_, sp_abi::stream_executor::SP_AllocatorStats>,
    ) -> u8 {
        0
    }
}

#[vtable(fallback = self.0: AcceleratorDevice<Recorder>)]
impl DeviceFns for OneSlot {}

#[vtable(fallback = self.0: AcceleratorDevice<Recorder>)]
impl TimerFns for OneSlot {}

impl HasAccelerator for OneSlot {
    type Accelerator = Recorder;

    fn accelerator_device(&self) -> &AcceleratorDevice<Recorder> {
        &self.0
    }
}

#[test]
fn device_that_replaces_one_slot_has_the_other_slots_of_the_layer() {
    let device = OneSlot::open(0).unwrap();
    let mut stats = super::zeroed_stats();
    stats.struct_size = sp_abi::stream_executor::SP_AllocatorStats::STRUCT_SIZE;
    let stats = sp_runtime::PrefixMut::from_mut(&mut stats);
    assert_eq!(device.get_allocator_stats(stats), 0);
    let memory = allocate(&device.0, 4);
    write(&device.0, &memory, &[1; 4]).unwrap();
    let stream = device.create_stream().unwrap();
    // SAFETY: the region is live.
    unsafe { device.mem_zero(&stream, Prefix::from_ref(&memory), 4) }.unwrap();
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(read(&device.0, &memory).unwrap(), [0; 4]);
    // SAFETY: the test has allocated the memory, and no kernel uses it.
    let region = unsafe { device.accelerator_device().region(memory.opaque.addr(), 4) };
    assert_eq!(region.unwrap().len(), 4);
}

#[test]
fn command_before_a_complete_event_is_not_named_for_a_later_failure() {
    let (device, control) = device();
    control.report_queue_errors();
    let [copying, computing] = [(); 2].map(|()| device.create_stream().unwrap());
    let [first, second] = [16, 32].map(|size| allocate(&device, size));
    let fill = |stream, memory: &SP_DeviceMemoryBase| {
        // SAFETY: the region is live until the work is done.
        unsafe { device.memset(stream, Prefix::from_ref(memory), 1, memory.size) }
    };
    fill(&copying, &first).unwrap();
    let event = device.create_event().unwrap();
    device.record_event(&copying, &event).unwrap();
    while device.get_event_status(&event) != SE_EventStatus::SE_EVENT_COMPLETE {
        std::thread::yield_now();
    }
    control.fail_next("launch failed");
    fill(&computing, &second).unwrap();
    device
        .create_stream_dependency(&copying, &computing)
        .unwrap();
    let error = device.block_host_until_done(&copying).unwrap_err();
    assert_eq!(
        error.message(),
        "copy of 32 bytes of a pattern: launch failed"
    );
    deallocate(&device, first);
    deallocate(&device, second);
}

#[test]
fn command_that_has_failed_is_named_if_the_queue_knows_it_before_the_fence() {
    let (device, control) = device();
    control.reject_commands_after_failure();
    control.set_delay(Duration::from_millis(20));
    control.fail_next("launch failed");
    let stream = device.create_stream().unwrap();
    let [first, second] = [16, 32].map(|size| allocate(&device, size));
    let fill = |memory: &SP_DeviceMemoryBase| {
        // SAFETY: the region is live until the work is done.
        unsafe { device.memset(&stream, Prefix::from_ref(memory), 1, memory.size) }
    };
    fill(&first).unwrap();
    let error = loop {
        if let Err(error) = fill(&second) {
            break error;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    control.set_delay(Duration::ZERO);
    assert_eq!(
        error.message(),
        "copy of 16 bytes of a pattern: launch failed"
    );
    deallocate(&device, first);
    deallocate(&device, second);
}

#[test]
fn device_is_not_freed_while_a_copy_has_its_memory() {
    let (device, _) = device();
    let buffer = Buffer::on_host_of(&device, 64).unwrap();
    assert!(!buffer::are_all_freed());
    drop(buffer);
}
