//! Kernels that compute on the host as commands of a stream.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use sp_abi::stream_executor::StreamExecutor;

use super::{Recorder, TestDevice, TestStream, allocate, device_with_stream, read, write};
use crate::accelerator::device::Shared;
use crate::host_work::{HostWork, Transfer};

/// Host memory of a device, which is freed when the value is dropped.
struct Freed(Arc<Shared<Recorder>>, usize);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.host_deallocate(self.1);
    }
}

/// Adds 1 to each byte in host memory, which nobody else uses.
fn add_one(Transfer { host, bytes, .. }: Transfer) {
    // SAFETY: the computation's copy to the memory is complete, and nobody else uses it.
    let bytes = unsafe { NonNull::slice_from_raw_parts(host, bytes).as_mut() };
    bytes.iter_mut().for_each(|it| *it += 1);
}

/// Enqueues a computation that adds 1 to each of 8 bytes at a device address.
fn enqueue_addition(device: &TestDevice, stream: &TestStream, address: usize) {
    let start = device.0.host_allocate(8).unwrap();
    let memory = Freed(device.0.clone(), start.as_ptr() as usize);
    let transfer = Transfer {
        device: address,
        host: start,
        bytes: 8,
    };
    let compute = move || {
        add_one(transfer);
        Ok(())
    };
    let work = HostWork {
        name: "an addition".into(),
        inputs: vec![transfer],
        outputs: vec![transfer],
        in_place: vec![],
        compute: Box::new(compute),
        memory: Arc::new(memory),
    };
    let queue = device.0.host_queue(stream).unwrap();
    // SAFETY: the address has 8 bytes. Only the computation uses the host memory, which the value has.
    unsafe { queue.0.enqueue(work).unwrap() };
}

#[test]
fn works_share_host_memory_that_has_room_for_one() {
    let (device, control, stream) = device_with_stream();
    control.misalign_host_memory();
    // A misaligned block is replaced by a longer one.
    control.set_host_blocks(2);
    let memory = allocate(&device, 8);
    write(&device, &memory, &[0; 8]).unwrap();
    control.set_delay(Duration::from_millis(1));
    for _ in 0..5 {
        enqueue_addition(&device, &stream, memory.opaque.addr());
    }
    device.block_host_until_done(&stream).unwrap();
    assert_eq!(control.live_host_memory(), 1);
    assert_eq!(read(&device, &memory).unwrap(), [5; 8]);
}
