//! Devices.

use std::ffi::c_char;
use std::sync::Arc;

use super::{check_target, guard, write, write_struct};
use crate::abi::{DeviceInfo, NAME_SIZE, Result, Status};
use crate::device::{self, Device, clock};
use crate::registry::{DEVICES, QUEUES};
use crate::settings::Settings;

/// # Safety
/// - `count` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_device_count(count: *mut u32) -> Status {
    // SAFETY: the caller's obligation.
    guard(|| unsafe { write(count, device::all().len() as u32) })
}

/// # Safety
/// - `device` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_device_open(ordinal: u32, device: *mut usize) -> Status {
    guard(|| {
        check_target(device)?;
        let opened = device::all().get(ordinal as usize);
        let opened = opened.ok_or(Status::NO_DEVICE)?.clone();
        // SAFETY: the caller's obligation.
        unsafe { write(device, DEVICES.insert(opened)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_device_close(device: usize) -> Status {
    guard(|| DEVICES.remove(device).map(drop))
}

/// # Safety
/// - `info` is null, or valid for as many bytes as its `struct_size`.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_device_get_info(device: usize, info: *mut DeviceInfo) -> Status {
    guard(|| {
        let described = describe(&*DEVICES.get(device)?);
        // SAFETY: the caller's obligation.
        unsafe { write_struct(info, described) }
    })
}

/// # Safety
/// - `ticks` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_device_clock(device: usize, ticks: *mut u64) -> Status {
    guard(|| {
        DEVICES.get(device)?;
        // SAFETY: the caller's obligation.
        unsafe { write(ticks, clock()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_device_synchronize(device: usize) -> Status {
    guard(|| synchronize(&DEVICES.get(device)?))
}

/// Waits for all queues of a device, then returns the first error.
fn synchronize(device: &Arc<Device>) -> Result {
    let queues = QUEUES.all().into_iter();
    let own = queues.filter(|queue| Arc::ptr_eq(&queue.device, device));
    let results: Vec<Result> = own.map(|queue| queue.synchronize()).collect();
    results.into_iter().collect()
}

fn describe(device: &Device) -> DeviceInfo {
    let usage = device.usage();
    let total = Settings::get().memory;
    DeviceInfo {
        struct_size: size_of::<DeviceInfo>(),
        name: c_text::<NAME_SIZE>("Virtual Accelerator"),
        pci_bus_id: c_text::<16>(&format!("0000:{:02x}:00.0", device.ordinal + 1)),
        total_memory: total,
        free_memory: total - usage.used,
        peak_memory: usage.peak,
        clock_frequency: 1_000_000_000,
        ordinal: device.ordinal,
        numa_node: 0,
    }
}

/// Returns a text as a C array, cut to its size.
fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let bytes = text.bytes().take(N - 1);
    array
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = from as c_char);
    array
}
