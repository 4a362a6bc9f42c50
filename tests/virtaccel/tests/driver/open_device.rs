//! A device, a queue, and calls with slices.

use std::env;
use std::ffi::{CString, c_void};
use std::process::{Command, ExitStatus};
use std::ptr;
use std::sync::LazyLock;

use crate::bindings::*;

/// The library that cargo built for this test.
pub static DRIVER: LazyLock<Driver> = LazyLock::new(|| {
    let test = env::current_exe().expect("the test's path");
    let library = test.with_file_name("libvirtaccel.so");
    // SAFETY: cargo built the library with the functions of the header.
    unsafe { Driver::load_from(library.to_str().expect("a path in UTF-8")) }.expect("the library")
});

/// Runs `body` in a child process with these variables, since settings are read once and failures are planned for the
/// whole process. `name` is the test's path. Returns the child's status.
pub fn in_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<ExitStatus> {
    const CHILD: &str = "VIRTACCEL_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    let test = env::current_exe().expect("the test's path");
    let mut child = Command::new(test);
    child.args(["--exact", name, "--nocapture"]).env(CHILD, "1");
    child.envs(variables.iter().copied());
    let output = child.output().expect("the child runs");
    let ran = String::from_utf8_lossy(&output.stdout).contains("running 1 test");
    assert!(ran, "no test {name}");
    Some(output.status)
}

/// Asserts that `body` succeeds in a child process.
pub fn passes_in_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(status) = in_child(name, variables, body) {
        assert!(status.success(), "{name}: {status}");
    }
}

/// A device with a queue. Both are destroyed with it.
pub struct OpenDevice {
    pub device: va_device,
    pub queue: va_queue,
}

impl OpenDevice {
    pub fn new(ordinal: u32) -> Self {
        let mut device = va_device::NULL;
        // SAFETY: the pointer is that of a local variable.
        unsafe { DRIVER.va_device_open(ordinal, &mut device) }.expect("a device");
        let mut queue = va_queue::NULL;
        // SAFETY: as above; options may be null.
        unsafe { DRIVER.va_queue_create(device, ptr::null(), &mut queue) }.expect("a queue");
        Self { device, queue }
    }

    /// Allocates memory that holds `elements`, and copies them to it.
    pub fn upload<T: Copy>(&self, elements: &[T]) -> Array {
        let array = self.allocate(size_of_val(elements) as u64);
        self.write(array, elements);
        array
    }

    pub fn allocate(&self, size: u64) -> Array {
        self.try_allocate(size).expect("memory")
    }

    pub fn try_allocate(&self, size: u64) -> Result<Array> {
        let mut address = ptr::null_mut();
        // SAFETY: the pointer is that of a local variable.
        unsafe { DRIVER.va_alloc(self.device, size, &mut address) }?;
        Ok(Array { address, size })
    }

    /// Copies `elements` and waits.
    pub fn write<T: Copy>(&self, array: Array, elements: &[T]) {
        // SAFETY: the slice lives until the queue is synchronized.
        unsafe {
            let size = size_of_val(elements) as u64;
            let host = elements.as_ptr().cast();
            DRIVER
                .va_copy_to_device(self.queue, array.address, host, size)
                .expect("a copy");
        }
        self.synchronize().expect("the copy");
    }

    /// Adds a copy to the host and waits.
    pub fn read<T: Copy + Default>(&self, array: Array) -> Result<Vec<T>> {
        let mut elements = vec![T::default(); array.size as usize / size_of::<T>()];
        // SAFETY: the vector lives until the queue is synchronized.
        unsafe {
            let host = elements.as_mut_ptr().cast();
            DRIVER.va_copy_to_host(self.queue, host, array.address, array.size)?;
        }
        self.synchronize()?;
        Ok(elements)
    }

    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: any handle is allowed.
        unsafe { DRIVER.va_queue_synchronize(self.queue) }
    }

    /// Adds a launch.
    pub fn launch(&self, kernel: &str, arguments: &[va_argument]) -> Result<()> {
        let kernel = CString::new(kernel).expect("a name");
        let count = arguments.len() as u32;
        // SAFETY: the name and the arguments are valid for the call.
        unsafe { DRIVER.va_launch(self.queue, kernel.as_ptr(), arguments.as_ptr(), count) }
    }

    /// Adds a closure as host function.
    pub fn host_function(&self, body: impl FnOnce() + Send + 'static) {
        extern "C" fn call(data: *mut c_void) {
            // SAFETY: `data` is the box below, and the driver calls this function once.
            let body = unsafe { Box::from_raw(data.cast::<Box<dyn FnOnce() + Send>>()) };
            body();
        }
        let body: Box<Box<dyn FnOnce() + Send>> = Box::new(Box::new(body));
        let data = Box::into_raw(body).cast();
        // SAFETY: `call` accepts the data on any thread.
        let added = unsafe { DRIVER.va_launch_host_function(self.queue, Some(call), data) };
        added.expect("the host function");
    }

    pub fn free(&self, array: Array) {
        // SAFETY: any address is allowed.
        unsafe { DRIVER.va_free(self.device, array.address) }.expect("an allocation");
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: any handle is allowed.
        unsafe {
            let _ = DRIVER.va_queue_destroy(self.queue);
            let _ = DRIVER.va_device_close(self.device);
        }
    }
}

/// Memory of a device.
#[derive(Clone, Copy)]
pub struct Array {
    pub address: *mut c_void,
    pub size: u64,
}

/// Returns the status of a call.
pub fn status<T>(result: Result<T>) -> va_status {
    match result {
        Ok(_) => va_status::VA_OK,
        Err(Error::Status { status, .. }) => status,
        Err(missing) => panic!("{missing}"),
    }
}

pub fn tensor(array: Array, ty: va_type, shape: &[u64]) -> va_argument {
    let mut tensor = va_tensor {
        address: array.address,
        rank: shape.len() as u32,
        r#type: ty,
        ..Default::default()
    };
    tensor.dims[..shape.len()].copy_from_slice(shape);
    va_argument {
        kind: va_argument_kind::VA_TENSOR,
        value: va_argument__value { tensor },
    }
}

pub fn f32s(array: Array, shape: &[u64]) -> va_argument {
    tensor(array, va_type::VA_F32, shape)
}

pub fn integer(integer: i64) -> va_argument {
    va_argument {
        kind: va_argument_kind::VA_INTEGER,
        value: va_argument__value { integer },
    }
}

pub fn real(real: f64) -> va_argument {
    va_argument {
        kind: va_argument_kind::VA_REAL,
        value: va_argument__value { real },
    }
}
