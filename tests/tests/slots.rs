//! A function table filled from an author's trait, called as TensorFlow calls it: through the
//! pointers.

use std::ptr;

use sp_abi::stream_executor::{
    DeviceFns, SP_Device, SP_DeviceFns, SP_Timer, SP_TimerFns, TimerFns,
};
use sp_runtime::{PrefixMut, Versioned, handle, vtable};

struct Reference;
struct Mine {
    reference: Reference,
}

#[vtable]
impl DeviceFns for Reference {
    fn get_gflops(&self) -> f64 {
        3.0
    }

    fn get_memory_bandwidth(&self) -> i64 {
        panic!("not measured")
    }
}

#[vtable(fallback = self.reference: Reference)]
impl DeviceFns for Mine {
    fn get_numa_node(&self) -> i32 {
        1
    }
}

#[vtable]
impl TimerFns for Reference {
    type Timer = u64;

    fn nanoseconds(timer: &u64) -> u64 {
        *timer
    }
}

fn table<T: DeviceFns>(host: usize) -> SP_DeviceFns {
    let mut table = SP_DeviceFns {
        struct_size: host,
        ext: ptr::null_mut(),
        get_numa_node: None,
        get_memory_bandwidth: None,
        get_gflops: None,
    };
    // SAFETY: the table is ours and at least as long as `host`.
    SP_DeviceFns::fill::<T>(&mut unsafe { PrefixMut::new(&raw mut table) });
    table
}

fn device(object: Mine) -> SP_Device {
    SP_Device {
        struct_size: SP_Device::STRUCT_SIZE,
        ext: ptr::null_mut(),
        ordinal: 0,
        device_handle: handle::into_raw(object),
        hardware_name: ptr::null(),
        device_vendor: ptr::null(),
        pci_bus_id: ptr::null(),
    }
}

#[test]
fn absent_slots_stay_null_and_a_fallback_fills_them() {
    let whole = SP_DeviceFns::STRUCT_SIZE;
    let (reference, mine) = (table::<Reference>(whole), table::<Mine>(whole));
    assert!(reference.get_numa_node.is_none() && reference.get_gflops.is_some());
    assert!(mine.get_numa_node.is_some() && mine.get_gflops.is_some());
}

#[test]
fn a_table_of_a_size_that_nobody_knows_is_left_alone() {
    let short = table::<Mine>(SP_DeviceFns::get_memory_bandwidth.end());
    assert!(short.get_numa_node.is_none() && short.get_memory_bandwidth.is_none());
    assert_eq!(short.struct_size, SP_DeviceFns::get_memory_bandwidth.end());
}

#[test]
fn slots_find_the_authors_object_and_a_panic_is_the_neutral_value() {
    let (table, device) = (
        table::<Mine>(SP_DeviceFns::STRUCT_SIZE),
        device(Mine {
            reference: Reference,
        }),
    );
    // SAFETY: the device is whole and its object a `Mine`.
    unsafe {
        assert_eq!(table.get_numa_node.unwrap()(&device), 1);
        assert_eq!(table.get_gflops.unwrap()(&device), 3.0);
        assert_eq!(table.get_memory_bandwidth.unwrap()(&device), -1);
        handle::from_raw::<Mine>(device.device_handle);
    }
}

#[test]
fn a_handle_is_lent_and_null_is_survived() {
    let mut table = SP_TimerFns {
        struct_size: SP_TimerFns::STRUCT_SIZE,
        ext: ptr::null_mut(),
        nanoseconds: None,
    };
    SP_TimerFns::fill::<Reference>(&mut PrefixMut::from_mut(&mut table));
    let (nanoseconds, timer) = (
        table.nanoseconds.unwrap(),
        SP_Timer(handle::into_raw(7_u64)),
    );
    // SAFETY: the handle holds the `u64` that a `Reference` timer is; null is answered with 0.
    unsafe {
        assert_eq!(nanoseconds(timer), 7);
        assert_eq!(nanoseconds(SP_Timer(ptr::null_mut())), 0);
        handle::from_raw::<u64>(timer.0);
    }
}
