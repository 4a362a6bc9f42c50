//! A function table filled from an author's trait, called through its function pointers as TensorFlow does.

use std::ptr;

use sp_abi::stream_executor::{
    DeviceFns, SP_Device, SP_DeviceFns, SP_Timer, SP_TimerFns, TimerFns,
};
use sp_runtime::{PrefixMut, Versioned, handle, vtable};

struct Reference;
struct AuthorDevice {
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
impl DeviceFns for AuthorDevice {
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

fn table<T: DeviceFns>(struct_size: usize) -> SP_DeviceFns {
    let mut table = SP_DeviceFns {
        struct_size,
        ext: ptr::null_mut(),
        get_numa_node: None,
        get_memory_bandwidth: None,
        get_gflops: None,
    };
    // SAFETY: the table is alive, borrowed mutably, and at least `struct_size` bytes long.
    SP_DeviceFns::fill::<T>(&mut unsafe { PrefixMut::new(&raw mut table) });
    table
}

fn device(object: AuthorDevice) -> SP_Device {
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
fn absent_slots_are_null_unless_a_fallback_has_them() {
    let size = SP_DeviceFns::STRUCT_SIZE;
    let (reference, author) = (table::<Reference>(size), table::<AuthorDevice>(size));
    assert!(reference.get_numa_node.is_none() && reference.get_gflops.is_some());
    assert!(author.get_numa_node.is_some() && author.get_gflops.is_some());
}

#[test]
fn table_of_unknown_size_is_not_filled() {
    let short = table::<AuthorDevice>(SP_DeviceFns::get_memory_bandwidth.end());
    assert!(short.get_numa_node.is_none() && short.get_memory_bandwidth.is_none());
    assert_eq!(short.struct_size, SP_DeviceFns::get_memory_bandwidth.end());
}

#[test]
fn slots_call_author_object_and_panic_gives_default_return_value() {
    let (table, device) = (
        table::<AuthorDevice>(SP_DeviceFns::STRUCT_SIZE),
        device(AuthorDevice {
            reference: Reference,
        }),
    );
    // SAFETY: the handle is that of an `AuthorDevice`, and is freed once.
    unsafe {
        assert_eq!(table.get_numa_node.unwrap()(&device), 1);
        assert_eq!(table.get_gflops.unwrap()(&device), 3.0);
        assert_eq!(table.get_memory_bandwidth.unwrap()(&device), -1);
        handle::from_raw::<AuthorDevice>(device.device_handle);
    }
}

#[test]
fn slot_borrows_handle_and_null_handle_gives_default_return_value() {
    let mut table = SP_TimerFns {
        struct_size: SP_TimerFns::STRUCT_SIZE,
        ext: ptr::null_mut(),
        nanoseconds: None,
    };
    SP_TimerFns::fill::<Reference>(&mut PrefixMut::from_mut(&mut table));
    let nanoseconds = table.nanoseconds.unwrap();
    let timer = SP_Timer(handle::into_raw(7_u64));
    // SAFETY: the handle is that of a `u64`, the timer type of `Reference`, and is freed once; the slot
    // accepts null.
    unsafe {
        assert_eq!(nanoseconds(timer), 7);
        assert_eq!(nanoseconds(SP_Timer(ptr::null_mut())), 0);
        handle::from_raw::<u64>(timer.0);
    }
}
