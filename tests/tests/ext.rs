//! The `ext` members of platform and device after registration: the plugin's own extension pointers.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use sp_abi::stream_executor::{
    DeviceFns, SE_CreateDeviceParams, SE_PlatformRegistrationParams, SP_Device, SP_Platform,
    SP_PlatformFns, StreamExecutor, TimerFns,
};
use sp_cpu::CpuDevice;
use sp_plugin::__private::{PlatformPart, PluginInfo, register_part};
use sp_plugin::{Device, HostAddressable, InPlace, Result, vtable};
use sp_runtime::{UnknownRelease, Versioned};

static PLATFORM_NOTE: u32 = 7;

/// A device whose `ext` points into itself.
struct Annotated {
    reference: CpuDevice,
    note: u32,
}

// SAFETY: the slots are those of the reference device.
unsafe impl Device for Annotated {
    type Access = InPlace;

    fn open(ordinal: usize) -> Result<Self> {
        Ok(Self {
            reference: CpuDevice::new(),
            note: 40 + u32::try_from(ordinal).unwrap(),
        })
    }

    fn ext(&self) -> *mut c_void {
        (&raw const self.note).cast_mut().cast()
    }

    fn platform_ext() -> *mut c_void {
        (&raw const PLATFORM_NOTE).cast_mut().cast()
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for Annotated {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for Annotated {}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for Annotated {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for Annotated {}

/// Returns a zeroed struct whose first member is its size, as TensorFlow passes it.
fn zeroed<T: Versioned>() -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: numbers, pointers and optional functions are valid as zeros, and the first member of every
    // `Versioned` struct is its size, a `usize`.
    unsafe {
        value.as_mut_ptr().cast::<usize>().write(T::STRUCT_SIZE);
        value.assume_init()
    }
}

/// Registers `D` and creates its device 2; returns the structs that the host then has.
fn register_and_create_device<D: Device>() -> (SP_Platform, SP_PlatformFns, SP_Device) {
    let (mut platform, mut fns) = (zeroed::<SP_Platform>(), zeroed::<SP_PlatformFns>());
    let mut params = zeroed::<SE_PlatformRegistrationParams>();
    (params.platform, params.platform_fns) = (&raw mut platform, &raw mut fns);
    let info = PluginInfo {
        name: "demo",
        device_type: c"DEMO",
        platform_name: c"DEMO",
        min_release: sp_plugin::FIRST_SUPPORTED,
        unknown_release: UnknownRelease::ReadHost,
        jit_compile: sp_plugin::JitCompile::Ignore,
    };
    let mut device = zeroed::<SP_Device>();
    let mut create = zeroed::<SE_CreateDeviceParams>();
    (create.ordinal, create.device) = (2, &raw mut device);
    // SAFETY: the pointers are those of live structs, as a host passes them; a status is written on
    // failure only.
    unsafe {
        register_part::<PlatformPart<D>>(info, &raw mut params, ptr::null_mut());
        fns.create_device.unwrap()(&raw const platform, &raw mut create, ptr::null_mut());
    }
    (platform, fns, device)
}

#[test]
fn author_sets_ext_of_platform_and_device() {
    sp_tests::in_own_process("author_sets_ext_of_platform_and_device", || {
        let (platform, fns, mut device) = register_and_create_device::<Annotated>();
        // SAFETY: `ext` of the open device and of the platform point to a live `u32` each.
        let (device_note, platform_note) =
            unsafe { (*device.ext.cast::<u32>(), *platform.ext.cast::<u32>()) };
        assert_eq!((device_note, platform_note), (42, 7));
        // SAFETY: the device was created above and is destroyed once.
        unsafe { fns.destroy_device.unwrap()(&raw const platform, &raw mut device) };
    });
}

#[test]
fn ext_is_null_if_the_author_does_not_set_it() {
    sp_tests::in_own_process("ext_is_null_if_the_author_does_not_set_it", || {
        let (platform, fns, mut device) = register_and_create_device::<CpuDevice>();
        assert!(device.ext.is_null() && platform.ext.is_null());
        // SAFETY: the device was created above and is destroyed once.
        unsafe { fns.destroy_device.unwrap()(&raw const platform, &raw mut device) };
    });
}

/// Number of devices that are open.
static OPEN: AtomicI32 = AtomicI32::new(0);

/// A device whose `ext` panics.
struct Failing {
    reference: CpuDevice,
}

// SAFETY: the slots are those of the reference device.
unsafe impl Device for Failing {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        OPEN.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }

    fn ext(&self) -> *mut c_void {
        panic!("no ext")
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for Failing {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for Failing {}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for Failing {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for Failing {}

#[test]
fn device_whose_ext_panics_is_dropped() {
    sp_tests::in_own_process("device_whose_ext_panics_is_dropped", || {
        let (_, _, device) = register_and_create_device::<Failing>();
        assert!(device.device_handle.is_null());
        assert_eq!(OPEN.load(Ordering::Relaxed), 0);
    });
}
