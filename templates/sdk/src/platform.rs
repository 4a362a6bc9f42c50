//! From `SE_InitPlugin` to open devices: the plugin's side of registration.

mod declined;

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use sp_abi::stream_executor::SE_PlatformRegistrationParams as RegistrationParams;
use sp_abi::stream_executor::{
    DECLARATIONS, PlatformFns, SE_CreateDeviceFnsParams, SE_CreateDeviceParams,
    SE_CreateStreamExecutorParams, SP_Device, SP_DeviceFns, SP_Platform, SP_PlatformFns,
    SP_StreamExecutor, SP_TimerFns,
};
use sp_runtime::declarations::KnownApi;
use sp_runtime::fork::OwnerProcess;
use sp_runtime::host::Host;
use sp_runtime::{Prefix, PrefixMut, handle, report};

use crate::buffer;
use crate::converter;
use crate::part::{self, Part, PartStructs, StructField};
use crate::plugin_info::PluginInfo;
use crate::registered;
use crate::trace;
use crate::{Access, Allocator, Device, Error, MemoryAccess, Result};

/// The devices of a plugin.
pub struct PlatformPart<D>(PhantomData<D>);

// SAFETY: these are the parameters of `SE_InitPlugin`.
unsafe impl<D: Device> Part for PlatformPart<D> {
    const NAME: &'static str = "";
    const ENTRY_POINT: &'static str = "SE_InitPlugin";
    const API: &'static KnownApi = &DECLARATIONS;
    type Params = RegistrationParams;
    type First = SP_Platform;
    type Second = SP_PlatformFns;
    const FIRST: StructField<RegistrationParams, SP_Platform> =
        (RegistrationParams::platform, "platform");
    const SECOND: StructField<RegistrationParams, SP_PlatformFns> =
        (RegistrationParams::platform_fns, "platform_fns");

    fn accept(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) -> Result<()> {
        registered::claim(info)?;
        structs.params.set_struct_size();
        set_destructors(&mut structs.params);
        structs.first.set_struct_size();
        name(info, &mut structs.first);
        describe::<D>(&mut structs.first);
        SP_PlatformFns::fill::<Platform<D>>(&mut structs.second);
        Ok(())
    }

    /// The platform of a plugin without devices.
    fn decline(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) {
        set_destructors(&mut structs.params.fixed_fields());
        declined::name(info, &mut structs.first.fixed_fields());
        declined::fill(&mut structs.second);
    }
}

fn set_destructors(params: &mut PrefixMut<'_, RegistrationParams>) {
    params.set(RegistrationParams::destroy_platform, Some(destroy_platform));
    params.set(
        RegistrationParams::destroy_platform_fns,
        Some(destroy_platform_fns),
    );
}

fn name(info: &PluginInfo, platform: &mut PrefixMut<'_, SP_Platform>) {
    platform.set(SP_Platform::name, info.platform_name.as_ptr());
    platform.set(SP_Platform::r#type, info.device_type.as_ptr());
}

fn describe<D: Device>(platform: &mut PrefixMut<'_, SP_Platform>) {
    platform.set(SP_Platform::ext, D::platform_ext());
    platform.set(
        SP_Platform::supports_unified_memory,
        D::supports_unified_memory().into(),
    );
    let best_fit = matches!(D::ALLOCATOR, Allocator::BestFit { .. });
    platform.set(SP_Platform::use_bfc_allocator, best_fit.into());
    let grow = D::ALLOCATOR == Allocator::BestFit { grow: true };
    platform.set(SP_Platform::force_memory_growth, grow.into()); // since 2.9
}

// The names are static and the tables are code: there is nothing to clean up.
unsafe extern "C" fn destroy_platform(_: *mut SP_Platform) {}
unsafe extern "C" fn destroy_platform_fns(_: *mut SP_PlatformFns) {}

/// Reports once that the devices could not be counted: TensorFlow counts them several times.
fn report_uncounted(error: &Error) {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    if !IS_REPORTED.swap(true, Ordering::Relaxed) {
        report!(Error, "its devices could not be counted: {error}");
    }
}

/// The platform's callbacks. It has no state: a device is found by its handle.
struct Platform<D>(PhantomData<fn() -> D>);

impl<D: Device> PlatformFns for Platform<D> {
    unsafe fn get_device_count(_: Prefix<'_, SP_Platform>, count: *mut c_int) -> Result<()> {
        // A table of an unknown layout may have been seen after the entry point.
        let host = Host::running();
        host.report_sizes_only();
        let found = host
            .check_accepted()
            .and_then(|()| match converter::is_running() {
                true => Ok(0),
                false => D::count(),
            });
        let found = found.unwrap_or_else(|error| {
            if host.check_accepted().is_ok() {
                report_uncounted(&error);
            }
            0
        });
        // SAFETY: TensorFlow lends a place for the count.
        unsafe { count.write(found.try_into().unwrap_or(c_int::MAX)) }
        Ok(())
    }

    unsafe fn create_device(
        _: Prefix<'_, SP_Platform>,
        mut params: PrefixMut<'_, SE_CreateDeviceParams>,
    ) -> Result<()> {
        let ordinal = params.get(SE_CreateDeviceParams::ordinal).unwrap_or(0);
        let field = (SE_CreateDeviceParams::device, "device");
        // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
        let target = unsafe { part::lent_struct(&mut params, field)? };
        let device = {
            let _open = trace::OpenScope::new(ordinal.unsigned_abs());
            D::open(usize::try_from(ordinal).unwrap_or(0))?
        };
        trace::device::set_properties(ordinal.unsigned_abs(), device.properties());
        hand_over(device, ordinal, target)
    }

    unsafe fn destroy_device(_: Prefix<'_, SP_Platform>, device: PrefixMut<'_, SP_Device>) {
        let handle = device
            .get(SP_Device::device_handle)
            .unwrap_or(ptr::null_mut());
        // Otherwise the device is leaked, since a queue still has its memory.
        if forget(handle) && buffer::are_all_freed() {
            // SAFETY: it was in the list, so `hand_over` gave it, and it is not there twice.
            drop(unsafe { handle::from_raw::<D>(handle) });
        }
    }

    unsafe fn create_device_fns(
        _: Prefix<'_, SP_Platform>,
        mut params: PrefixMut<'_, SE_CreateDeviceFnsParams>,
    ) -> Result<()> {
        let field = (SE_CreateDeviceFnsParams::device_fns, "device_fns");
        // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
        let table = unsafe { part::lent_struct(&mut params, field)? };
        declined::fill_or_decline(table, SP_DeviceFns::fill::<D>);
        Ok(())
    }

    unsafe fn destroy_device_fns(_: Prefix<'_, SP_Platform>, _: PrefixMut<'_, SP_DeviceFns>) {}

    unsafe fn create_stream_executor(
        _: Prefix<'_, SP_Platform>,
        mut params: PrefixMut<'_, SE_CreateStreamExecutorParams>,
    ) -> Result<()> {
        let field = (
            SE_CreateStreamExecutorParams::stream_executor,
            "stream_executor",
        );
        // SAFETY: TensorFlow lends the struct for the call, with its struct_size set.
        let table = unsafe { part::lent_struct(&mut params, field)? };
        declined::fill_or_decline(table, SP_StreamExecutor::fill::<D>);
        Ok(())
    }

    unsafe fn destroy_stream_executor(
        _: Prefix<'_, SP_Platform>,
        _: PrefixMut<'_, SP_StreamExecutor>,
    ) {
    }

    unsafe fn create_timer_fns(
        _: Prefix<'_, SP_Platform>,
        timer: PrefixMut<'_, SP_TimerFns>,
    ) -> Result<()> {
        declined::fill_or_decline(timer, SP_TimerFns::fill::<D>);
        Ok(())
    }

    unsafe fn destroy_timer_fns(_: Prefix<'_, SP_Platform>, _: PrefixMut<'_, SP_TimerFns>) {}
}

fn hand_over<D: Device>(
    device: D,
    ordinal: i32,
    mut target: PrefixMut<'_, SP_Device>,
) -> Result<()> {
    let description = device.description();
    let text = |text: Option<&'static CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    target.set_struct_size();
    target.set(SP_Device::ordinal, ordinal);
    target.set(SP_Device::hardware_name, text(description.hardware_name));
    target.set(SP_Device::device_vendor, text(description.vendor));
    target.set(SP_Device::pci_bus_id, text(description.pci_bus_id));
    let device = handle::OwnedHandle::new(device);
    // The author's code comes before the host has the handle: a panic of it drops the device.
    target.set(SP_Device::ext, device.get().ext());
    let seen = match D::Access::memory_access(device.get()) {
        MemoryAccess::InPlace => &HAS_IN_PLACE,
        MemoryAccess::InPlaceAfterWait | MemoryAccess::Staged => &HAS_OTHER,
    };
    seen.store(true, Ordering::Relaxed);
    call_open_hook();
    let handle = device.into_raw();
    if !target.set(SP_Device::device_handle, handle) {
        // SAFETY: given just above, and nobody else has it.
        drop(unsafe { handle::from_raw::<D>(handle) });
        return Err(Error::internal(
            "TensorFlow's SP_Device has no room for a device handle",
        ));
    }
    remember(handle, ordinal);
    Ok(())
}

/// True if a device was opened whose memory the host uses in place, without a wait.
static HAS_IN_PLACE: AtomicBool = AtomicBool::new(false);

/// True if a device was opened whose memory the host uses in another way.
static HAS_OTHER: AtomicBool = AtomicBool::new(false);

/// Returns true if the host uses the memory of each device in place, without a wait. A kernel then has to know neither its
/// device nor its stream.
#[inline]
pub(crate) fn has_only_in_place_devices() -> bool {
    HAS_IN_PLACE.load(Ordering::Relaxed) && !HAS_OTHER.load(Ordering::Relaxed)
}

/// Returns true if there is a device whose memory the host cannot use at once and in place, as core's own kernels of device
/// type DEFAULT do.
pub(crate) fn has_other_devices() -> bool {
    HAS_OTHER.load(Ordering::Relaxed)
}

/// Returns true if core has kernels for CUDA for devices of this type, which is GPU in a build with CUDA.
pub(crate) fn has_kernels_for_cuda(device_type: &[u8]) -> bool {
    device_type == b"GPU" && sp_runtime::host::is_cuda_build() == Some(true)
}

/// A function that is called when a device is opened, and the device type of its argument.
type OpenHook = (fn(&'static CStr), &'static CStr);

static OPEN_HOOK: Mutex<Option<OpenHook>> = Mutex::new(None);

/// Calls `hook` when a device is opened. Then its access is known, and TensorFlow has constructed no kernel of it.
pub(crate) fn set_open_hook(hook: fn(&'static CStr), device_type: &'static CStr) {
    *lock_open_hook() = Some((hook, device_type));
    if HAS_IN_PLACE.load(Ordering::Relaxed) || has_other_devices() {
        call_open_hook();
    }
}

fn call_open_hook() {
    // The lock is released before the call.
    let hook = *lock_open_hook();
    if let Some((hook, device_type)) = hook {
        hook(device_type);
    }
}

fn lock_open_hook() -> MutexGuard<'static, Option<OpenHook>> {
    OPEN_HOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device that TensorFlow has open.
struct Open {
    handle: *mut c_void,
    ordinal: i32,
}

// SAFETY: the handle is an address; the device behind it is Send + Sync.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

static OPEN: RwLock<Vec<Open>> = RwLock::new(Vec::new());

/// The process that opened the last device.
static PROCESS: OwnerProcess = OwnerProcess::new();

/// Checks that this is not a forked child of the process that opened the devices.
///
/// # Errors
/// Returns an error in such a child.
#[inline]
pub(crate) fn check_process() -> Result<()> {
    PROCESS.check("the device")
}

fn remember(handle: *mut c_void, ordinal: i32) {
    PROCESS.set_current();
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    open.push(Open { handle, ordinal });
}

/// Takes the handle off the list; whether it was there.
fn forget(handle: *mut c_void) -> bool {
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    let place = open.iter().position(|device| device.handle == handle);
    place.map(|place| open.swap_remove(place)).is_some()
}

/// Returns the number that TensorFlow gave an open device.
pub(crate) fn ordinal<D: Device>(device: &D) -> Option<i32> {
    let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    let found = open
        .iter()
        .find(|it| ptr::eq(it.handle.cast::<D>(), device));
    found.map(|it| it.ordinal)
}
