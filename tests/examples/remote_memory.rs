//! A plugin whose device memory the host cannot address: its addresses are shifted to a range where no
//! process has memory. A kernel without a staging copy crashes at once.

use std::ffi::c_void;
use std::ptr;

use sp_abi::stream_executor::{DeviceFns, SP_DeviceMemoryBase, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::kernel::{HostIn, Kernel, Out, kernel, kernels};
use sp_plugin::{Device, Result, Staged, vtable};
use sp_runtime::{Prefix, PrefixMut, Versioned};

/// The offset of device addresses: not canonical on x86-64, not mapped on aarch64.
const SHIFT: usize = 1 << 56;

struct RemoteDevice {
    reference: CpuDevice,
}

// SAFETY: host memory and functions are those of the reference device, and copies access the given bytes.
unsafe impl Device for RemoteDevice {
    type Access = Staged;

    fn open(_: usize) -> Result<Self> {
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }
}

/// Returns `region` with its real address.
fn unshift(region: Prefix<'_, SP_DeviceMemoryBase>) -> SP_DeviceMemoryBase {
    let opaque = region
        .get(SP_DeviceMemoryBase::opaque)
        .unwrap_or(ptr::null_mut());
    SP_DeviceMemoryBase {
        struct_size: SP_DeviceMemoryBase::STRUCT_SIZE,
        ext: ptr::null_mut(),
        opaque: if opaque.is_null() {
            opaque
        } else {
            opaque.wrapping_byte_sub(SHIFT)
        },
        size: region.get(SP_DeviceMemoryBase::size).unwrap_or(0),
        payload: 0,
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for RemoteDevice {
    unsafe fn allocate(&self, size: u64, space: i64, mut mem: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let mut real = unshift(mem.as_prefix());
        // SAFETY: `real` is a live struct, borrowed mutably.
        unsafe {
            self.reference
                .allocate(size, space, PrefixMut::from_mut(&mut real))
        };
        let start = real.opaque;
        mem.set_struct_size();
        mem.set(
            SP_DeviceMemoryBase::opaque,
            if start.is_null() {
                start
            } else {
                start.wrapping_byte_add(SHIFT)
            },
        );
        mem.set(SP_DeviceMemoryBase::size, real.size);
    }

    unsafe fn deallocate(&self, memory: PrefixMut<'_, SP_DeviceMemoryBase>) {
        let mut real = unshift(memory.as_prefix());
        // SAFETY: the real region of one that `allocate` returned, which the caller frees once.
        unsafe { self.reference.deallocate(PrefixMut::from_mut(&mut real)) };
    }

    unsafe fn memcpy_dtoh(
        &self,
        _: &Self::Stream,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { self.sync_memcpy_dtoh(host_dst, device_src, size) }
    }

    unsafe fn memcpy_htod(
        &self,
        _: &Self::Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { self.sync_memcpy_htod(device_dst, host_src, size) }
    }

    unsafe fn memcpy_dtod(
        &self,
        _: &Self::Stream,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller has the same obligations.
        unsafe { self.sync_memcpy_dtod(device_dst, device_src, size) }
    }

    unsafe fn sync_memcpy_dtoh(
        &self,
        host_dst: *mut c_void,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        // SAFETY: the caller's obligations, for the region's real address.
        unsafe {
            self.reference
                .sync_memcpy_dtoh(host_dst, Prefix::from_ref(&unshift(device_src)), size)
        }
    }

    unsafe fn sync_memcpy_htod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        host_src: *const c_void,
        size: u64,
    ) -> Result<()> {
        let real = unshift(device_dst);
        // SAFETY: the caller's obligations, for the region's real address.
        unsafe {
            self.reference
                .sync_memcpy_htod(Prefix::from_ref(&real), host_src, size)
        }
    }

    unsafe fn sync_memcpy_dtod(
        &self,
        device_dst: Prefix<'_, SP_DeviceMemoryBase>,
        device_src: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let (dst, src) = (unshift(device_dst), unshift(device_src));
        // SAFETY: the caller's obligations, for the regions' real addresses.
        unsafe {
            self.reference
                .sync_memcpy_dtod(Prefix::from_ref(&dst), Prefix::from_ref(&src), size)
        }
    }

    unsafe fn mem_zero(
        &self,
        stream: &Self::Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        size: u64,
    ) -> Result<()> {
        let real = unshift(location);
        // SAFETY: the caller's obligations, for the region's real address.
        unsafe {
            self.reference
                .mem_zero(stream, Prefix::from_ref(&real), size)
        }
    }

    unsafe fn memset(
        &self,
        stream: &Self::Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u8,
        size: u64,
    ) -> Result<()> {
        let real = unshift(location);
        // SAFETY: the caller's obligations, for the region's real address.
        unsafe {
            self.reference
                .memset(stream, Prefix::from_ref(&real), pattern, size)
        }
    }

    unsafe fn memset32(
        &self,
        stream: &Self::Stream,
        location: Prefix<'_, SP_DeviceMemoryBase>,
        pattern: u32,
        size: u64,
    ) -> Result<()> {
        let real = unshift(location);
        // SAFETY: the caller's obligations, for the region's real address.
        unsafe {
            self.reference
                .memset32(stream, Prefix::from_ref(&real), pattern, size)
        }
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for RemoteDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for RemoteDevice {}

/// Writes the elements of an argument in host memory to an output in device memory.
#[kernel(Fill, T = [i32], index_type = [i32])]
fn host_argument(
    dims: HostIn<'_, i32>,
    value: HostIn<'_, i32>,
    output: Out<'_, i32>,
) -> Result<()> {
    value.scalar()?;
    output.uninit(dims.dims())?.copy_from_slice(dims.data())?;
    Ok(())
}

fn table() -> Vec<&'static Kernel> {
    kernels![host_argument]
}

sp_plugin::plugin! {
    device: RemoteDevice,
    device_type: c"REMOTE",
    platform_name: c"REMOTE",
    kernels: [table, sp_cpu::kernels::table],
}
