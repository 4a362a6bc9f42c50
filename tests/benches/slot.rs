//! Time of a call through a shim: an author's empty method, called as TensorFlow calls it, compared with the
//! same slot in C. `cargo bench -p sp-tests --bench slot`; without a C compiler the slots in C are skipped.

use std::ffi::{CStr, CString, c_void};
use std::hint::black_box;
use std::mem::{transmute, zeroed};
use std::path::Path;
use std::process::Command;
use std::ptr;

use criterion::{Criterion, criterion_group, criterion_main};
use sp_abi::stream_executor::{DeviceFns, SP_Device, SP_DeviceFns, SP_StreamExecutor};
use sp_abi::tf_status::TF_Status;
use sp_cpu::CpuDevice;
use sp_plugin::Device;
use sp_runtime::{PrefixMut, Versioned, handle, vtable};

const C_SLOTS: &str = "
double get_gflops(const void *device) { (void)device; return 3.0; }
void synchronize(const void *device, void *status) { (void)device; (void)status; }
";

type Synchronize = unsafe extern "C" fn(*const SP_Device, *mut TF_Status);
type GetGflops = unsafe extern "C" fn(*const SP_Device) -> f64;

struct RustDevice;

#[vtable]
impl DeviceFns for RustDevice {
    fn get_gflops(&self) -> f64 {
        3.0
    }
}

/// Compiles and loads the slots in C.
///
/// # Errors
/// Returns the reason if there is no C compiler or it fails.
fn load_c_slots(folder: &Path) -> Result<(GetGflops, Synchronize), String> {
    let (source, library) = (folder.join("slots.c"), folder.join("slots.so"));
    std::fs::write(&source, C_SLOTS).map_err(|error| error.to_string())?;
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    match compiler.status() {
        Ok(status) if status.success() => {}
        failure => return Err(format!("cc has failed: {failure:?}")),
    }
    let path =
        CString::new(library.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the library has no initializers, stays loaded, and its functions have these signatures.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        let find = |name: &CStr| libc::dlsym(handle, name.as_ptr());
        let (gflops, synchronize) = (find(c"get_gflops"), find(c"synchronize"));
        if gflops.is_null() || synchronize.is_null() {
            return Err("the library has no such functions".into());
        }
        Ok((
            transmute::<*mut c_void, GetGflops>(gflops),
            transmute::<*mut c_void, Synchronize>(synchronize),
        ))
    }
}

fn device(handle: *mut c_void) -> SP_Device {
    SP_Device {
        struct_size: SP_Device::STRUCT_SIZE,
        ext: ptr::null_mut(),
        ordinal: 0,
        device_handle: handle,
        hardware_name: ptr::null(),
        device_vendor: ptr::null(),
        pci_bus_id: ptr::null(),
    }
}

fn rust_slots() -> (GetGflops, Synchronize) {
    // SAFETY: numbers and optional function pointers are valid as zeros.
    let (mut fns, mut executor): (SP_DeviceFns, SP_StreamExecutor) = unsafe { zeroed() };
    SP_DeviceFns::fill::<RustDevice>(&mut PrefixMut::from_mut(&mut fns));
    SP_StreamExecutor::fill::<CpuDevice>(&mut PrefixMut::from_mut(&mut executor));
    let synchronize = executor
        .synchronize_all_activity
        .expect("the slot is required");
    (
        fns.get_gflops.expect("the device implements the slot"),
        synchronize,
    )
}

fn slots(bench: &mut Criterion) {
    let folder = std::env::temp_dir().join(format!("sp-slot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let c = load_c_slots(&folder);
    // The library stays loaded without its file.
    let _ = std::fs::remove_dir_all(&folder);
    let rust = rust_slots();
    let rust_device = device(handle::into_raw(RustDevice));
    let cpu = device(handle::into_raw(CpuDevice::open(0).expect("a device")));
    let implementations = match c {
        Ok(c) => vec![("C", c), ("shim", rust)],
        Err(reason) => {
            println!("skipped: the slots in C: {reason}");
            vec![("shim", rust)]
        }
    };
    for (name, (gflops, synchronize)) in implementations {
        // SAFETY: the device's handle is an object of the type that the slot expects.
        let gflops = |device| unsafe { black_box(gflops)(device) };
        bench.bench_function(&format!("get_gflops/{name}"), |run| {
            run.iter(|| gflops(black_box(&raw const rust_device)));
        });
        // SAFETY: as above; a status is written on failure only, and the slot does not fail.
        let synchronize = |device| unsafe { black_box(synchronize)(device, ptr::null_mut()) };
        bench.bench_function(&format!("synchronize_all_activity/{name}"), |run| {
            run.iter(|| synchronize(black_box(&raw const cpu)));
        });
    }
}

criterion_group!(benches, slots);
criterion_main!(benches);
