//! Calls on many threads.

use std::thread;

use crate::bindings::*;
use crate::open_device::*;

#[test]
fn threads_share_devices_queues_and_memory() {
    let name = "threads::threads_share_devices_queues_and_memory";
    passes_in_child(name, &[("VIRTACCEL_JITTER", "50")], || {
        let device = OpenDevice::new(0);
        let shared = device.upload(&[1.0f32; 64]);
        let (queue, address) = (device.queue, shared.address.addr());
        thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || use_driver(number, queue, address));
            }
        });
        device.synchronize().unwrap();
    });
}

/// Uses an own queue, and the shared queue and memory without any order.
fn use_driver(number: u32, shared_queue: va_queue, shared: usize) {
    let device = OpenDevice::new(number % 2);
    for _ in 0..20 {
        let own = device.upload(&[2.0f32; 64]);
        let source = std::ptr::without_provenance(shared);
        // SAFETY: the addresses are those of allocations.
        unsafe {
            DRIVER
                .va_copy_peer(device.queue, own.address, source, 256)
                .unwrap();
            DRIVER.va_queue_synchronize(device.queue).unwrap();
            DRIVER
                .va_copy_peer(shared_queue, source.cast_mut(), own.address, 256)
                .unwrap();
            DRIVER.va_queue_synchronize(shared_queue).unwrap();
        }
        assert_eq!(device.read::<f32>(own).unwrap(), [1.0; 64]);
        device.free(own);
    }
}
