//! The types of `virtaccel.h`.

use std::ffi::{CStr, c_char, c_void};

/// `va_status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub i32);

/// The result of a function of the driver.
pub type Result<T = ()> = std::result::Result<T, Status>;

macro_rules! statuses {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        #[allow(missing_docs, reason = "the header has the documentation")]
        impl Status {
            $(pub const $name: Self = Self($value);)*

            /// Returns the text of `va_error_string`.
            pub fn text(self) -> &'static CStr {
                match self {
                    $(Self::$name => $text,)*
                    _ => c"unknown status",
                }
            }
        }
    };
}

statuses! {
    OK = 0, c"success";
    NOT_READY = 1, c"work is not complete";
    INVALID_VALUE = 2, c"invalid value";
    INVALID_HANDLE = 3, c"invalid handle";
    INVALID_ADDRESS = 4, c"invalid address";
    OUT_OF_MEMORY = 5, c"out of memory";
    NO_DEVICE = 6, c"no such device";
    UNKNOWN_KERNEL = 7, c"unknown kernel";
    LAUNCH_FAILED = 8, c"kernel failed";
    ADDRESS_FAULT = 9, c"access to memory that was freed";
    CANCELLED = 10, c"cancelled";
    NOT_SUPPORTED = 11, c"not supported by this driver version";
    WRONG_THREAD = 12, c"call not allowed on this thread";
    SHUT_DOWN = 13, c"driver is shut down";
    INTERNAL = 14, c"internal error";
}

/// Length of names in structs.
pub const NAME_SIZE: usize = 32;
/// The largest rank of a tensor.
pub const MAX_DIMS: usize = 8;
/// The version of the header.
pub const VERSION: u32 = (1 << 16) | 3;

/// `va_device_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DeviceInfo {
    pub struct_size: usize,
    pub name: [c_char; NAME_SIZE],
    pub pci_bus_id: [c_char; 16],
    pub total_memory: u64,
    pub free_memory: u64,
    pub peak_memory: u64,
    pub clock_frequency: u64,
    pub ordinal: u32,
    pub numa_node: i32,
}

/// `va_pointer_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PointerInfo {
    pub struct_size: usize,
    pub base: *mut c_void,
    pub size: u64,
    pub device: usize,
}

/// `va_copy_counts`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CopyCounts {
    pub struct_size: usize,
    pub direct: u64,
    pub direct_bytes: u64,
    pub bounced: u64,
    pub bounced_bytes: u64,
}

/// `va_queue_options`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QueueOptions {
    pub struct_size: usize,
    pub priority: i32,
    pub flags: u32,
}

/// `va_tensor`. `ty` is a `va_type`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tensor {
    pub address: *mut c_void,
    pub dims: [u64; MAX_DIMS],
    pub rank: u32,
    pub ty: i32,
}

/// `va_argument`. `kind` is a `va_argument_kind`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Argument {
    pub kind: i32,
    pub value: ArgumentValue,
}

/// The union in `va_argument`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ArgumentValue {
    pub tensor: Tensor,
    pub integer: i64,
    pub real: f64,
}

/// `va_host_function`, which may be null.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
