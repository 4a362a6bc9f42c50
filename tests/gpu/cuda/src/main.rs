//! Opens the CUDA driver, copies tensors to the device, launches a kernel given as PTX, waits, and checks the result. Prints one line
//! of JSON. Exits with 77 without the driver's library or without a device.

#![forbid(unsafe_code)]

use std::error::Error;
use std::ffi::CString;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Instant;
use std::{env, fs, process};

use bindings::driver::CUdevice_attribute as Attribute;
use bindings::driver::safe::{CUmodule, CUstream, Driver};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const KERNEL: &str = include_str!("multiply_add.ptx");
const COUNT: usize = 1 << 20;
const GROUP: u32 = 256;

/// Bytes of the copies that are measured.
const COPIED: usize = 1 << 28;

fn main() -> ExitCode {
    let driver = match Driver::get(FUNCTIONS) {
        Ok(driver) => driver,
        Err(error) => return skip(&error.to_string()),
    };
    if let Err(error) = driver.cuInit(0) {
        return skip(&format!("the CUDA driver has no device: {error}"));
    }
    match check(driver) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cuda: {error}");
            ExitCode::FAILURE
        }
    }
}

fn skip(reason: &str) -> ExitCode {
    println!("skipped: {reason}");
    ExitCode::from(77)
}

/// Runs the kernel on the first device; returns the facts about it as JSON.
fn check(driver: Driver) -> Result<String> {
    let device = driver.cuDeviceGet(0)?;
    let name = driver.cuDeviceGetName(device)?;
    let _context = driver.cuCtxCreate_v2(0, device)?;
    let stream = driver.cuStreamCreate(0)?;
    let module = load(driver)?;
    check_kernel(driver, &stream, &module)?;
    check_failures(driver, &module)?;
    let [to_device, to_host] = copy_rates(driver, &stream)?;
    let attribute = |attribute| driver.cuDeviceGetAttribute(attribute, device);
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    // Kilohertz, twice a clock, and bits.
    let clock = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
    let width = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
    let memory_rate = f64::from(clock) * 1e3 * 2.0 * f64::from(width) / 8.0;
    let (version, memory) = (
        driver.cuDriverGetVersion()?,
        driver.cuDeviceTotalMem_v2(device)?,
    );
    Ok(format!(
        r#"{{"device": "{name}", "driver": {version}, "capability": "{major}.{minor}", "memory": {memory}, "memory_rate": {memory_rate:e}, "copy_to_device_rate": {to_device:e}, "copy_to_host_rate": {to_host:e}, "elements": {COUNT}}}"#
    ))
}

/// Loads the kernel from a file, since the driver takes the name of one.
fn load(driver: Driver) -> Result<CUmodule> {
    let path = env::temp_dir().join(format!("multiply_add-{}.ptx", process::id()));
    fs::write(&path, KERNEL)?;
    let module = driver.cuModuleLoad(&CString::new(
        path.to_str().ok_or("a path that is no text")?,
    )?);
    fs::remove_file(&path)?;
    Ok(module?)
}

/// Computes `2 * x + y` on the device, and compares each element.
fn check_kernel(driver: Driver, stream: &CUstream, module: &CUmodule) -> Result<()> {
    let values = |factor: f32| (0..COUNT).map(move |index| index as f32 * factor);
    let [x, y] = [0.5, -0.25].map(|factor| {
        values(factor)
            .flat_map(f32::to_le_bytes)
            .collect::<Vec<_>>()
    });
    let bytes = 4 * COUNT;
    let (x_address, y_address) = (driver.cuMemAlloc_v2(bytes)?, driver.cuMemAlloc_v2(bytes)?);
    driver.cuMemcpyHtoDAsync_v2(x_address as usize, x, stream)?;
    driver.cuMemcpyHtoDAsync_v2(y_address as usize, y, stream)?;
    let arguments = [x_address, y_address, COUNT as u64];
    let arguments: Vec<u8> = arguments.into_iter().flat_map(u64::to_le_bytes).collect();
    let (address, size) = driver.cuModuleGetGlobal_v2(module, c"arguments")?;
    if size != arguments.len() {
        return Err(format!("the kernel's arguments have {size} bytes").into());
    }
    driver.cuMemcpyHtoDAsync_v2(address as usize, arguments, stream)?;
    let kernel = driver.cuModuleGetFunction(module, c"multiply_add")?;
    let groups = (COUNT as u32).div_ceil(GROUP);
    kernel.cuLaunchKernel(groups, 1, 1, GROUP, 1, 1, 0, stream)?;
    let found = read(driver, stream, y_address as usize, bytes)?;
    for address in [x_address, y_address] {
        driver.cuMemFree_v2(address)?;
    }
    let found = found
        .chunks_exact(4)
        .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]));
    // All numbers are exact.
    let expected = values(0.5).zip(values(-0.25)).map(|(x, y)| 2.0 * x + y);
    match found
        .zip(expected)
        .enumerate()
        .find(|(_, (found, expected))| found != expected)
    {
        Some((index, (found, expected))) => {
            Err(format!("element {index}: expected {expected}, got {found}").into())
        }
        None => Ok(()),
    }
}

/// Copies memory of the device to the host, and waits.
fn read(driver: Driver, stream: &CUstream, address: usize, bytes: usize) -> Result<Vec<u8>> {
    let (send, received) = channel();
    let deliver = move |bytes| _ = send.send(bytes);
    driver.cuMemcpyDtoHAsync_v2(deliver, address, bytes, stream)?;
    stream.cuStreamSynchronize()?;
    Ok(received.recv()?)
}

/// Checks that what the driver rejects is an error.
fn check_failures(driver: Driver, module: &CUmodule) -> Result<()> {
    if driver.cuMemAlloc_v2(1 << 60).is_ok() {
        return Err("an allocation of 2^60 bytes succeeded".into());
    }
    if driver
        .cuModuleGetFunction(module, c"no_such_kernel")
        .is_ok()
    {
        return Err("a kernel was found that the module does not have".into());
    }
    if driver.cuModuleLoad(c"/no/such/file.ptx").is_ok() {
        return Err("a module was loaded from a file that does not exist".into());
    }
    Ok(())
}

/// Returns the rates of copies to the device and back, in bytes a second. The host's memory is not page-locked.
fn copy_rates(driver: Driver, stream: &CUstream) -> Result<[f64; 2]> {
    let address = driver.cuMemAlloc_v2(COPIED)?;
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..4 {
        let bytes = vec![1_u8; COPIED];
        let start = Instant::now();
        driver.cuMemcpyHtoDAsync_v2(address as usize, bytes, stream)?;
        stream.cuStreamSynchronize()?;
        seconds[0] = seconds[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        drop(read(driver, stream, address as usize, COPIED)?);
        seconds[1] = seconds[1].min(start.elapsed().as_secs_f64());
    }
    driver.cuMemFree_v2(address)?;
    Ok(seconds.map(|it| COPIED as f64 / it))
}

/// The functions that the program calls.
const FUNCTIONS: &[&str] = &[
    "cuInit",
    "cuCtxCreate_v2",
    "cuLaunchHostFunc",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuModuleLoad",
    "cuStreamCreate",
    "cuStreamSynchronize",
];
