//! Bindings of the driver's C header `virtaccel.h`, written by `sp-gen new --driver`. Do not edit.
//!
//! No link to the library: [`Driver::get`] loads it at run time and looks up its functions. Names are those of the header.
//! Layouts are those of x86_64-unknown-linux-gnu, and the compiler checks them.
//!
//! 37 functions are bound.

#![allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports
)]

use ::core::ffi::{CStr, c_char, c_void};

pub use runtime::{Driver, Error, LoadError, Result};
use runtime::Lookup;
use runtime::check;

/// The library, unless [`LIBRARY_VARIABLE`] names another one.
pub const LIBRARY: &str = "libvirtaccel.so";

/// The environment variable that names another library.
pub const LIBRARY_VARIABLE: &str = "VIRTACCEL_LIBRARY";

/// The value of `va_status` that means success.
pub const SUCCESS: va_status = va_status(0);

type Status__ = va_status;

/// Loads the library. No name of the header is in scope here.
mod runtime {
    use ::core::ffi::{CStr, c_char, c_int, c_void};
    use ::std::ffi::CString;
    use ::std::sync::OnceLock;

    use super::{Functions, LIBRARY, LIBRARY_VARIABLE};
    use super::Status__;

    /// The driver's library and the addresses of its functions. It is never unloaded.
    pub struct Driver {
        pub(super) functions: Functions,
        missing: Vec<&'static str>,
    }

    /// A failed call of the driver.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Error {
        /// The library does not export the function.
        Missing {
            /// The function.
            function: &'static str,
        },
        /// The function returned another status than success.
        Status {
            /// The function.
            function: &'static str,
            /// The status.
            status: Status__,
        },
        /// A safe method cannot call the function, or cannot return its result.
        Invalid {
            /// The function.
            function: &'static str,
            /// The reason.
            reason: &'static str,
        },
    }

    impl Error {
        /// Returns the status that a function has returned, if that is the error.
        pub fn status(self) -> Option<Status__> {
            match self {
                Self::Status { status, .. } => Some(status),
                _ => None,
            }
        }
    }

    /// The result of a call of the driver.
    pub type Result<T, E = Error> = ::core::result::Result<T, E>;

    /// The driver cannot be used.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum LoadError {
        /// The library cannot be loaded, with the loader's message.
        Library(String),
        /// The library lacks functions: it is too old.
        TooOld {
            /// The library.
            library: String,
            /// The functions.
            missing: Vec<&'static str>,
        },
    }

    impl Driver {
        /// Returns the driver, which is loaded at the first call. It must export the functions `required`, such as
        /// [`FUNCTIONS`](super::FUNCTIONS).
        ///
        /// # Errors
        /// Returns an error if the library cannot be loaded, or lacks a function.
        pub fn get(required: &[&str]) -> Result<&'static Self, LoadError> {
            static DRIVER: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
            let driver = DRIVER.get_or_init(Self::load).as_ref();
            let driver = driver.map_err(LoadError::clone)?;
            driver.require(required)?;
            Ok(driver)
        }

        /// Loads the library that [`LIBRARY_VARIABLE`] or [`LIBRARY`] names.
        ///
        /// # Errors
        /// Returns an error if the library cannot be loaded.
        pub fn load() -> Result<Self, LoadError> {
            // SAFETY: the person who runs the program selects the driver of this header, by the loader's folders or the
            // environment variable.
            unsafe { Self::load_from(&library_name()) }
        }

        /// Loads a library by its path, or by its name in the loader's folders.
        ///
        /// # Errors
        /// Returns an error if the library cannot be loaded.
        ///
        /// # Safety
        /// - A function that the library exports has the type that the header declares for its name.
        /// - Running the initializers of the library is sound.
        pub unsafe fn load_from(library: &str) -> Result<Self, LoadError> {
            let mut lookup = Lookup::open(library)?;
            let functions = Functions::find(&mut lookup);
            Ok(Self {
                functions,
                missing: lookup.missing,
            })
        }

        /// Returns the bound functions that the library does not export.
        pub fn missing(&self) -> &[&'static str] {
            &self.missing
        }

        /// Checks that the library exports functions.
        ///
        /// # Errors
        /// Returns an error with those that it lacks.
        pub fn require(&self, functions: &[&str]) -> Result<(), LoadError> {
            let missing = self.missing.iter().filter(|name| functions.contains(name));
            let missing: Vec<_> = missing.copied().collect();
            match missing.is_empty() {
                true => Ok(()),
                false => Err(LoadError::TooOld {
                    library: library_name(),
                    missing,
                }),
            }
        }
    }

    fn library_name() -> String {
        let name = ::std::env::var(LIBRARY_VARIABLE);
        let name = name.ok().filter(|name| !name.is_empty());
        name.unwrap_or_else(|| LIBRARY.to_owned())
    }

/// Returns an error if the status is not success.
    pub(super) fn check(function: &'static str, status: Status__) -> Result<()> {
        match status == super::SUCCESS {
            true => Ok(()),
            false => Err(Error::Status { function, status }),
        }
    }

impl ::core::fmt::Display for Error {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Missing { function } => write!(f, "{function}: the driver does not export it"),
                Self::Status { function, status } => write!(f, "{function}: {status:?}"),
                Self::Invalid { function, reason } => write!(f, "{function}: {reason}"),
            }
        }
    }

    impl ::std::error::Error for Error {}

    impl ::core::fmt::Display for LoadError {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            match self {
                Self::Library(message) => write!(f, "the driver cannot be loaded: {message}"),
                Self::TooOld { library, missing } => {
                    let first = missing.first().copied().unwrap_or_default();
                    write!(f, "the driver {library} is too old: it lacks {first}")?;
                    match missing.len() {
                        0 | 1 => Ok(()),
                        count => write!(f, " and {} more functions", count - 1),
                    }
                }
            }
        }
    }

    impl ::std::error::Error for LoadError {}

    /// A loaded library and the functions that it lacks.
    pub(super) struct Lookup {
        library: *mut c_void,
        missing: Vec<&'static str>,
    }

    mod loader {
        use super::{c_char, c_int, c_void};

        unsafe extern "C" {
            pub fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
            pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
            pub fn dlerror() -> *const c_char;
        }
    }

    impl Lookup {
        fn open(library: &str) -> Result<Self, LoadError> {
            /// `RTLD_NOW`: a missing dependency is an error here, not at a later call.
            const NOW: c_int = 2;
            let name = CString::new(library);
            let name = name.map_err(|_| LoadError::Library(format!("invalid name {library:?}")))?;
            // SAFETY: the name is a C string. The library's initializers run, as those of any driver.
            let handle = unsafe { loader::dlopen(name.as_ptr(), NOW) };
            if handle.is_null() {
                return Err(LoadError::Library(load_message()));
            }
            // SAFETY: the library was loaded and is never closed. The symbol is a C string.
            let entry = unsafe { loader::dlsym(handle, c"SE_InitPlugin".as_ptr()) };
            match entry.is_null() {
                true => Ok(Self {
                    library: handle,
                    missing: Vec::new(),
                }),
                // A library with the plugin's file name, which the loader finds first.
                false => Err(LoadError::Library(format!(
                    "{library} is a plugin of TensorFlow, not the driver"
                ))),
            }
        }

        /// Returns a function of the library, or `None` if it does not export the symbol.
        ///
        /// # Safety
        /// - `F` is the type of a function pointer, and that of the function with this name.
        pub(super) unsafe fn function<F: Copy>(&mut self, symbol: &CStr, name: &'static str) -> Option<F> {
            const { assert!(::core::mem::size_of::<F>() == ::core::mem::size_of::<*mut c_void>()) };
            // SAFETY: the library was loaded and is never closed. The symbol is a C string.
            let address = unsafe { loader::dlsym(self.library, symbol.as_ptr()) };
            if address.is_null() {
                self.missing.push(name);
                return None;
            }
            // SAFETY: the sizes agree, and the caller guarantees the type.
            Some(unsafe { ::core::mem::transmute_copy(&address) })
        }
    }

    fn load_message() -> String {
        // SAFETY: `dlerror` returns null or a C string that is valid until the thread's next call of the loader.
        let message = unsafe { loader::dlerror() };
        match message.is_null() {
            true => "unknown error".to_owned(),
            // SAFETY: as above; the text is copied.
            false => unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned(),
        }
    }

}

/// The functions of the header that are bound.
pub const FUNCTIONS: &[&str] = &[
    "va_driver_version",
    "va_error_string",
    "va_shutdown",
    "va_inject",
    "va_device_count",
    "va_device_open",
    "va_device_close",
    "va_device_get_info",
    "va_device_clock",
    "va_device_synchronize",
    "va_alloc",
    "va_free",
    "va_pointer_get_info",
    "va_host_alloc",
    "va_host_free",
    "va_get_copy_counts",
    "va_queue_create",
    "va_queue_destroy",
    "va_queue_synchronize",
    "va_queue_query",
    "va_queue_get_error",
    "va_queue_cancel",
    "va_copy_to_device",
    "va_copy_to_host",
    "va_copy_within",
    "va_copy_peer",
    "va_fill",
    "va_launch_host_function",
    "va_launch",
    "va_kernel_name",
    "va_fence_create",
    "va_fence_destroy",
    "va_fence_record",
    "va_fence_wait",
    "va_fence_synchronize",
    "va_fence_query",
    "va_fence_elapsed",
    "va_fence_time",
];

/// The functions of the library.
#[derive(Clone, Copy)]
struct Functions {
    va_driver_version: Option<unsafe extern "C-unwind" fn(*mut u32) -> va_status>,
    va_error_string: Option<unsafe extern "C-unwind" fn(va_status) -> *const c_char>,
    va_shutdown: Option<unsafe extern "C-unwind" fn() -> va_status>,
    va_inject: Option<unsafe extern "C-unwind" fn(va_fault, u64) -> va_status>,
    va_device_count: Option<unsafe extern "C-unwind" fn(*mut u32) -> va_status>,
    va_device_open: Option<
        unsafe extern "C-unwind" fn(u32, *mut va_device) -> va_status,
    >,
    va_device_close: Option<unsafe extern "C-unwind" fn(va_device) -> va_status>,
    va_device_get_info: Option<
        unsafe extern "C-unwind" fn(va_device, *mut va_device_info) -> va_status,
    >,
    va_device_clock: Option<
        unsafe extern "C-unwind" fn(va_device, *mut u64) -> va_status,
    >,
    va_device_synchronize: Option<unsafe extern "C-unwind" fn(va_device) -> va_status>,
    va_alloc: Option<
        unsafe extern "C-unwind" fn(va_device, u64, *mut *mut c_void) -> va_status,
    >,
    va_free: Option<unsafe extern "C-unwind" fn(va_device, *mut c_void) -> va_status>,
    va_pointer_get_info: Option<
        unsafe extern "C-unwind" fn(*const c_void, *mut va_pointer_info) -> va_status,
    >,
    va_host_alloc: Option<
        unsafe extern "C-unwind" fn(u64, *mut *mut c_void) -> va_status,
    >,
    va_host_free: Option<unsafe extern "C-unwind" fn(*mut c_void) -> va_status>,
    va_get_copy_counts: Option<
        unsafe extern "C-unwind" fn(*mut va_copy_counts) -> va_status,
    >,
    va_queue_create: Option<
        unsafe extern "C-unwind" fn(
            va_device,
            *const va_queue_options,
            *mut va_queue,
        ) -> va_status,
    >,
    va_queue_destroy: Option<unsafe extern "C-unwind" fn(va_queue) -> va_status>,
    va_queue_synchronize: Option<unsafe extern "C-unwind" fn(va_queue) -> va_status>,
    va_queue_query: Option<unsafe extern "C-unwind" fn(va_queue) -> va_status>,
    va_queue_get_error: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            i32,
            *mut va_status,
            *mut c_char,
            usize,
        ) -> va_status,
    >,
    va_queue_cancel: Option<unsafe extern "C-unwind" fn(va_queue) -> va_status>,
    va_copy_to_device: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            *mut c_void,
            *const c_void,
            u64,
        ) -> va_status,
    >,
    va_copy_to_host: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            *mut c_void,
            *const c_void,
            u64,
        ) -> va_status,
    >,
    va_copy_within: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            *mut c_void,
            *const c_void,
            u64,
        ) -> va_status,
    >,
    va_copy_peer: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            *mut c_void,
            *const c_void,
            u64,
        ) -> va_status,
    >,
    va_fill: Option<
        unsafe extern "C-unwind" fn(va_queue, *mut c_void, u32, u32, u64) -> va_status,
    >,
    va_launch_host_function: Option<
        unsafe extern "C-unwind" fn(va_queue, va_host_function, *mut c_void) -> va_status,
    >,
    va_launch: Option<
        unsafe extern "C-unwind" fn(
            va_queue,
            *const c_char,
            *const va_argument,
            u32,
        ) -> va_status,
    >,
    va_kernel_name: Option<
        unsafe extern "C-unwind" fn(u32, *mut *const c_char) -> va_status,
    >,
    va_fence_create: Option<
        unsafe extern "C-unwind" fn(va_device, *mut va_fence) -> va_status,
    >,
    va_fence_destroy: Option<unsafe extern "C-unwind" fn(va_fence) -> va_status>,
    va_fence_record: Option<
        unsafe extern "C-unwind" fn(va_fence, va_queue) -> va_status,
    >,
    va_fence_wait: Option<unsafe extern "C-unwind" fn(va_queue, va_fence) -> va_status>,
    va_fence_synchronize: Option<unsafe extern "C-unwind" fn(va_fence) -> va_status>,
    va_fence_query: Option<unsafe extern "C-unwind" fn(va_fence) -> va_status>,
    va_fence_elapsed: Option<
        unsafe extern "C-unwind" fn(va_fence, va_fence, *mut u64) -> va_status,
    >,
    va_fence_time: Option<unsafe extern "C-unwind" fn(va_fence, *mut u64) -> va_status>,
}

impl Functions {
    fn find(lookup__: &mut Lookup) -> Self {
        Self {
            va_driver_version: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(*mut u32) -> va_status,
                        >(c"va_driver_version", "va_driver_version")
                }
            },
            va_error_string: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_status) -> *const c_char,
                        >(c"va_error_string", "va_error_string")
                }
            },
            va_shutdown: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn() -> va_status,
                        >(c"va_shutdown", "va_shutdown")
                }
            },
            va_inject: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fault, u64) -> va_status,
                        >(c"va_inject", "va_inject")
                }
            },
            va_device_count: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(*mut u32) -> va_status,
                        >(c"va_device_count", "va_device_count")
                }
            },
            va_device_open: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(u32, *mut va_device) -> va_status,
                        >(c"va_device_open", "va_device_open")
                }
            },
            va_device_close: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_device) -> va_status,
                        >(c"va_device_close", "va_device_close")
                }
            },
            va_device_get_info: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_device,
                                *mut va_device_info,
                            ) -> va_status,
                        >(c"va_device_get_info", "va_device_get_info")
                }
            },
            va_device_clock: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_device, *mut u64) -> va_status,
                        >(c"va_device_clock", "va_device_clock")
                }
            },
            va_device_synchronize: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_device) -> va_status,
                        >(c"va_device_synchronize", "va_device_synchronize")
                }
            },
            va_alloc: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_device,
                                u64,
                                *mut *mut c_void,
                            ) -> va_status,
                        >(c"va_alloc", "va_alloc")
                }
            },
            va_free: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_device,
                                *mut c_void,
                            ) -> va_status,
                        >(c"va_free", "va_free")
                }
            },
            va_pointer_get_info: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                *const c_void,
                                *mut va_pointer_info,
                            ) -> va_status,
                        >(c"va_pointer_get_info", "va_pointer_get_info")
                }
            },
            va_host_alloc: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                u64,
                                *mut *mut c_void,
                            ) -> va_status,
                        >(c"va_host_alloc", "va_host_alloc")
                }
            },
            va_host_free: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(*mut c_void) -> va_status,
                        >(c"va_host_free", "va_host_free")
                }
            },
            va_get_copy_counts: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(*mut va_copy_counts) -> va_status,
                        >(c"va_get_copy_counts", "va_get_copy_counts")
                }
            },
            va_queue_create: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_device,
                                *const va_queue_options,
                                *mut va_queue,
                            ) -> va_status,
                        >(c"va_queue_create", "va_queue_create")
                }
            },
            va_queue_destroy: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_queue) -> va_status,
                        >(c"va_queue_destroy", "va_queue_destroy")
                }
            },
            va_queue_synchronize: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_queue) -> va_status,
                        >(c"va_queue_synchronize", "va_queue_synchronize")
                }
            },
            va_queue_query: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_queue) -> va_status,
                        >(c"va_queue_query", "va_queue_query")
                }
            },
            va_queue_get_error: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                i32,
                                *mut va_status,
                                *mut c_char,
                                usize,
                            ) -> va_status,
                        >(c"va_queue_get_error", "va_queue_get_error")
                }
            },
            va_queue_cancel: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_queue) -> va_status,
                        >(c"va_queue_cancel", "va_queue_cancel")
                }
            },
            va_copy_to_device: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *mut c_void,
                                *const c_void,
                                u64,
                            ) -> va_status,
                        >(c"va_copy_to_device", "va_copy_to_device")
                }
            },
            va_copy_to_host: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *mut c_void,
                                *const c_void,
                                u64,
                            ) -> va_status,
                        >(c"va_copy_to_host", "va_copy_to_host")
                }
            },
            va_copy_within: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *mut c_void,
                                *const c_void,
                                u64,
                            ) -> va_status,
                        >(c"va_copy_within", "va_copy_within")
                }
            },
            va_copy_peer: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *mut c_void,
                                *const c_void,
                                u64,
                            ) -> va_status,
                        >(c"va_copy_peer", "va_copy_peer")
                }
            },
            va_fill: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *mut c_void,
                                u32,
                                u32,
                                u64,
                            ) -> va_status,
                        >(c"va_fill", "va_fill")
                }
            },
            va_launch_host_function: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                va_host_function,
                                *mut c_void,
                            ) -> va_status,
                        >(c"va_launch_host_function", "va_launch_host_function")
                }
            },
            va_launch: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_queue,
                                *const c_char,
                                *const va_argument,
                                u32,
                            ) -> va_status,
                        >(c"va_launch", "va_launch")
                }
            },
            va_kernel_name: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                u32,
                                *mut *const c_char,
                            ) -> va_status,
                        >(c"va_kernel_name", "va_kernel_name")
                }
            },
            va_fence_create: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_device,
                                *mut va_fence,
                            ) -> va_status,
                        >(c"va_fence_create", "va_fence_create")
                }
            },
            va_fence_destroy: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fence) -> va_status,
                        >(c"va_fence_destroy", "va_fence_destroy")
                }
            },
            va_fence_record: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fence, va_queue) -> va_status,
                        >(c"va_fence_record", "va_fence_record")
                }
            },
            va_fence_wait: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_queue, va_fence) -> va_status,
                        >(c"va_fence_wait", "va_fence_wait")
                }
            },
            va_fence_synchronize: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fence) -> va_status,
                        >(c"va_fence_synchronize", "va_fence_synchronize")
                }
            },
            va_fence_query: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fence) -> va_status,
                        >(c"va_fence_query", "va_fence_query")
                }
            },
            va_fence_elapsed: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(
                                va_fence,
                                va_fence,
                                *mut u64,
                            ) -> va_status,
                        >(c"va_fence_elapsed", "va_fence_elapsed")
                }
            },
            va_fence_time: {
                // SAFETY: the header declares the function with this type.
                unsafe {
                    lookup__
                        .function::<
                            unsafe extern "C-unwind" fn(va_fence, *mut u64) -> va_status,
                        >(c"va_fence_time", "va_fence_time")
                }
            },
        }
    }
}

/// The functions by their C names.
///
/// # Safety
/// Of every function: the arguments are as the driver's documentation demands. The types guarantee no more than C's do.
impl Driver {
    /// `va_status va_driver_version(uint32_t* version)`, virtaccel.h:140
    pub unsafe fn va_driver_version(&self, version: *mut u32) -> Result<()> {
        let function__ = self
            .functions
            .va_driver_version
            .ok_or(Error::Missing {
                function: "va_driver_version",
            })?;
        check(
            "va_driver_version",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(version) }
            },
        )
    }

    /// `const char* va_error_string(va_status status)`, virtaccel.h:142
    pub unsafe fn va_error_string(&self, status: va_status) -> Result<*const c_char> {
        let function__ = self
            .functions
            .va_error_string
            .ok_or(Error::Missing {
                function: "va_error_string",
            })?;
        Ok({
            // SAFETY: the caller fulfills the driver's obligations, and the function has this type.
            unsafe { function__(status) }
        })
    }

    /// `va_status va_shutdown(void)`, virtaccel.h:145
    pub unsafe fn va_shutdown(&self) -> Result<()> {
        let function__ = self
            .functions
            .va_shutdown
            .ok_or(Error::Missing {
                function: "va_shutdown",
            })?;
        check(
            "va_shutdown",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__() }
            },
        )
    }

    /// `va_status va_inject(va_fault fault, uint64_t n)`, virtaccel.h:147
    pub unsafe fn va_inject(&self, fault: va_fault, n: u64) -> Result<()> {
        let function__ = self
            .functions
            .va_inject
            .ok_or(Error::Missing {
                function: "va_inject",
            })?;
        check(
            "va_inject",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fault, n) }
            },
        )
    }

    /// `va_status va_device_count(uint32_t* count)`, virtaccel.h:151
    pub unsafe fn va_device_count(&self, count: *mut u32) -> Result<()> {
        let function__ = self
            .functions
            .va_device_count
            .ok_or(Error::Missing {
                function: "va_device_count",
            })?;
        check(
            "va_device_count",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(count) }
            },
        )
    }

    /// `va_status va_device_open(uint32_t ordinal, va_device* device)`, virtaccel.h:152
    pub unsafe fn va_device_open(
        &self,
        ordinal: u32,
        device: *mut va_device,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_device_open
            .ok_or(Error::Missing {
                function: "va_device_open",
            })?;
        check(
            "va_device_open",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(ordinal, device) }
            },
        )
    }

    /// `va_status va_device_close(va_device device)`, virtaccel.h:153
    pub unsafe fn va_device_close(&self, device: va_device) -> Result<()> {
        let function__ = self
            .functions
            .va_device_close
            .ok_or(Error::Missing {
                function: "va_device_close",
            })?;
        check(
            "va_device_close",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device) }
            },
        )
    }

    /// `va_status va_device_get_info(va_device device, va_device_info* info)`, virtaccel.h:154
    pub unsafe fn va_device_get_info(
        &self,
        device: va_device,
        info: *mut va_device_info,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_device_get_info
            .ok_or(Error::Missing {
                function: "va_device_get_info",
            })?;
        check(
            "va_device_get_info",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, info) }
            },
        )
    }

    /// `va_status va_device_clock(va_device device, uint64_t* ticks)`, virtaccel.h:155
    pub unsafe fn va_device_clock(
        &self,
        device: va_device,
        ticks: *mut u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_device_clock
            .ok_or(Error::Missing {
                function: "va_device_clock",
            })?;
        check(
            "va_device_clock",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, ticks) }
            },
        )
    }

    /// `va_status va_device_synchronize(va_device device)`, virtaccel.h:157
    pub unsafe fn va_device_synchronize(&self, device: va_device) -> Result<()> {
        let function__ = self
            .functions
            .va_device_synchronize
            .ok_or(Error::Missing {
                function: "va_device_synchronize",
            })?;
        check(
            "va_device_synchronize",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device) }
            },
        )
    }

    /// `va_status va_alloc(va_device device, uint64_t size, void** address)`, virtaccel.h:162
    pub unsafe fn va_alloc(
        &self,
        device: va_device,
        size: u64,
        address: *mut *mut c_void,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_alloc
            .ok_or(Error::Missing {
                function: "va_alloc",
            })?;
        check(
            "va_alloc",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, size, address) }
            },
        )
    }

    /// `va_status va_free(va_device device, void* address)`, virtaccel.h:163
    pub unsafe fn va_free(&self, device: va_device, address: *mut c_void) -> Result<()> {
        let function__ = self
            .functions
            .va_free
            .ok_or(Error::Missing {
                function: "va_free",
            })?;
        check(
            "va_free",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, address) }
            },
        )
    }

    /// `va_status va_pointer_get_info(const void* address, va_pointer_info* info)`, virtaccel.h:164
    pub unsafe fn va_pointer_get_info(
        &self,
        address: *const c_void,
        info: *mut va_pointer_info,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_pointer_get_info
            .ok_or(Error::Missing {
                function: "va_pointer_get_info",
            })?;
        check(
            "va_pointer_get_info",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(address, info) }
            },
        )
    }

    /// `va_status va_host_alloc(uint64_t size, void** memory)`, virtaccel.h:168
    pub unsafe fn va_host_alloc(
        &self,
        size: u64,
        memory: *mut *mut c_void,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_host_alloc
            .ok_or(Error::Missing {
                function: "va_host_alloc",
            })?;
        check(
            "va_host_alloc",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(size, memory) }
            },
        )
    }

    /// `va_status va_host_free(void* memory)`, virtaccel.h:169
    pub unsafe fn va_host_free(&self, memory: *mut c_void) -> Result<()> {
        let function__ = self
            .functions
            .va_host_free
            .ok_or(Error::Missing {
                function: "va_host_free",
            })?;
        check(
            "va_host_free",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(memory) }
            },
        )
    }

    /// `va_status va_get_copy_counts(va_copy_counts* counts)`, virtaccel.h:171
    pub unsafe fn va_get_copy_counts(&self, counts: *mut va_copy_counts) -> Result<()> {
        let function__ = self
            .functions
            .va_get_copy_counts
            .ok_or(Error::Missing {
                function: "va_get_copy_counts",
            })?;
        check(
            "va_get_copy_counts",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(counts) }
            },
        )
    }

    /// `va_status va_queue_create(va_device device, const va_queue_options* options, va_queue* queue)`, virtaccel.h:178
    pub unsafe fn va_queue_create(
        &self,
        device: va_device,
        options: *const va_queue_options,
        queue: *mut va_queue,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_create
            .ok_or(Error::Missing {
                function: "va_queue_create",
            })?;
        check(
            "va_queue_create",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, options, queue) }
            },
        )
    }

    /// `va_status va_queue_destroy(va_queue queue)`, virtaccel.h:180
    pub unsafe fn va_queue_destroy(&self, queue: va_queue) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_destroy
            .ok_or(Error::Missing {
                function: "va_queue_destroy",
            })?;
        check(
            "va_queue_destroy",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue) }
            },
        )
    }

    /// `va_status va_queue_synchronize(va_queue queue)`, virtaccel.h:182
    pub unsafe fn va_queue_synchronize(&self, queue: va_queue) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_synchronize
            .ok_or(Error::Missing {
                function: "va_queue_synchronize",
            })?;
        check(
            "va_queue_synchronize",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue) }
            },
        )
    }

    /// `va_status va_queue_query(va_queue queue)`, virtaccel.h:184
    pub unsafe fn va_queue_query(&self, queue: va_queue) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_query
            .ok_or(Error::Missing {
                function: "va_queue_query",
            })?;
        check(
            "va_queue_query",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue) }
            },
        )
    }

    /// `va_status va_queue_get_error(va_queue queue, int32_t clear, va_status* error, char* operation, size_t size)`, virtaccel.h:187
    pub unsafe fn va_queue_get_error(
        &self,
        queue: va_queue,
        clear: i32,
        error: *mut va_status,
        operation: *mut c_char,
        size: usize,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_get_error
            .ok_or(Error::Missing {
                function: "va_queue_get_error",
            })?;
        check(
            "va_queue_get_error",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, clear, error, operation, size) }
            },
        )
    }

    /// `va_status va_queue_cancel(va_queue queue)`, virtaccel.h:189
    pub unsafe fn va_queue_cancel(&self, queue: va_queue) -> Result<()> {
        let function__ = self
            .functions
            .va_queue_cancel
            .ok_or(Error::Missing {
                function: "va_queue_cancel",
            })?;
        check(
            "va_queue_cancel",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue) }
            },
        )
    }

    /// `va_status va_copy_to_device(va_queue queue, void* target, const void* host, uint64_t size)`, virtaccel.h:193
    pub unsafe fn va_copy_to_device(
        &self,
        queue: va_queue,
        target: *mut c_void,
        host: *const c_void,
        size: u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_copy_to_device
            .ok_or(Error::Missing {
                function: "va_copy_to_device",
            })?;
        check(
            "va_copy_to_device",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, target, host, size) }
            },
        )
    }

    /// `va_status va_copy_to_host(va_queue queue, void* host, const void* source, uint64_t size)`, virtaccel.h:194
    pub unsafe fn va_copy_to_host(
        &self,
        queue: va_queue,
        host: *mut c_void,
        source: *const c_void,
        size: u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_copy_to_host
            .ok_or(Error::Missing {
                function: "va_copy_to_host",
            })?;
        check(
            "va_copy_to_host",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, host, source, size) }
            },
        )
    }

    /// `va_status va_copy_within(va_queue queue, void* target, const void* source, uint64_t size)`, virtaccel.h:196
    pub unsafe fn va_copy_within(
        &self,
        queue: va_queue,
        target: *mut c_void,
        source: *const c_void,
        size: u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_copy_within
            .ok_or(Error::Missing {
                function: "va_copy_within",
            })?;
        check(
            "va_copy_within",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, target, source, size) }
            },
        )
    }

    /// `va_status va_copy_peer(va_queue queue, void* target, const void* source, uint64_t size)`, virtaccel.h:198
    pub unsafe fn va_copy_peer(
        &self,
        queue: va_queue,
        target: *mut c_void,
        source: *const c_void,
        size: u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_copy_peer
            .ok_or(Error::Missing {
                function: "va_copy_peer",
            })?;
        check(
            "va_copy_peer",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, target, source, size) }
            },
        )
    }

    /// `va_status va_fill(va_queue queue, void* target, uint32_t pattern, uint32_t pattern_size, uint64_t size)`, virtaccel.h:200
    pub unsafe fn va_fill(
        &self,
        queue: va_queue,
        target: *mut c_void,
        pattern: u32,
        pattern_size: u32,
        size: u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_fill
            .ok_or(Error::Missing {
                function: "va_fill",
            })?;
        check(
            "va_fill",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, target, pattern, pattern_size, size) }
            },
        )
    }

    /// `va_status va_launch_host_function(va_queue queue, va_host_function function, void* user_data)`, virtaccel.h:202
    pub unsafe fn va_launch_host_function(
        &self,
        queue: va_queue,
        function: va_host_function,
        user_data: *mut c_void,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_launch_host_function
            .ok_or(Error::Missing {
                function: "va_launch_host_function",
            })?;
        check(
            "va_launch_host_function",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, function, user_data) }
            },
        )
    }

    /// `va_status va_launch(va_queue queue, const char* kernel, const va_argument* arguments, uint32_t count)`, virtaccel.h:204
    pub unsafe fn va_launch(
        &self,
        queue: va_queue,
        kernel: *const c_char,
        arguments: *const va_argument,
        count: u32,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_launch
            .ok_or(Error::Missing {
                function: "va_launch",
            })?;
        check(
            "va_launch",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, kernel, arguments, count) }
            },
        )
    }

    /// `va_status va_kernel_name(uint32_t index, const char** name)`, virtaccel.h:206
    pub unsafe fn va_kernel_name(
        &self,
        index: u32,
        name: *mut *const c_char,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_kernel_name
            .ok_or(Error::Missing {
                function: "va_kernel_name",
            })?;
        check(
            "va_kernel_name",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(index, name) }
            },
        )
    }

    /// `va_status va_fence_create(va_device device, va_fence* fence)`, virtaccel.h:211
    pub unsafe fn va_fence_create(
        &self,
        device: va_device,
        fence: *mut va_fence,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_create
            .ok_or(Error::Missing {
                function: "va_fence_create",
            })?;
        check(
            "va_fence_create",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(device, fence) }
            },
        )
    }

    /// `va_status va_fence_destroy(va_fence fence)`, virtaccel.h:212
    pub unsafe fn va_fence_destroy(&self, fence: va_fence) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_destroy
            .ok_or(Error::Missing {
                function: "va_fence_destroy",
            })?;
        check(
            "va_fence_destroy",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fence) }
            },
        )
    }

    /// `va_status va_fence_record(va_fence fence, va_queue queue)`, virtaccel.h:213
    pub unsafe fn va_fence_record(
        &self,
        fence: va_fence,
        queue: va_queue,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_record
            .ok_or(Error::Missing {
                function: "va_fence_record",
            })?;
        check(
            "va_fence_record",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fence, queue) }
            },
        )
    }

    /// `va_status va_fence_wait(va_queue queue, va_fence fence)`, virtaccel.h:216
    pub unsafe fn va_fence_wait(&self, queue: va_queue, fence: va_fence) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_wait
            .ok_or(Error::Missing {
                function: "va_fence_wait",
            })?;
        check(
            "va_fence_wait",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(queue, fence) }
            },
        )
    }

    /// `va_status va_fence_synchronize(va_fence fence)`, virtaccel.h:217
    pub unsafe fn va_fence_synchronize(&self, fence: va_fence) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_synchronize
            .ok_or(Error::Missing {
                function: "va_fence_synchronize",
            })?;
        check(
            "va_fence_synchronize",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fence) }
            },
        )
    }

    /// `va_status va_fence_query(va_fence fence)`, virtaccel.h:219
    pub unsafe fn va_fence_query(&self, fence: va_fence) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_query
            .ok_or(Error::Missing {
                function: "va_fence_query",
            })?;
        check(
            "va_fence_query",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fence) }
            },
        )
    }

    /// `va_status va_fence_elapsed(va_fence start, va_fence end, uint64_t* nanoseconds)`, virtaccel.h:221
    pub unsafe fn va_fence_elapsed(
        &self,
        start: va_fence,
        end: va_fence,
        nanoseconds: *mut u64,
    ) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_elapsed
            .ok_or(Error::Missing {
                function: "va_fence_elapsed",
            })?;
        check(
            "va_fence_elapsed",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(start, end, nanoseconds) }
            },
        )
    }

    /// `va_status va_fence_time(va_fence fence, uint64_t* ticks)`, virtaccel.h:210
    pub unsafe fn va_fence_time(&self, fence: va_fence, ticks: *mut u64) -> Result<()> {
        let function__ = self
            .functions
            .va_fence_time
            .ok_or(Error::Missing {
                function: "va_fence_time",
            })?;
        check(
            "va_fence_time",
            {
                // SAFETY: the caller fulfills the driver's obligations, and the function has this
                // type.
                unsafe { function__(fence, ticks) }
            },
        )
    }
}

/// `typedef struct va_device_st* va_device`, virtaccel.h:31
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_device(pub *mut c_void);
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Send for va_device {}
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Sync for va_device {}

impl va_device {
    /// The null handle.
    pub const NULL: Self = Self(::core::ptr::null_mut());
}

/// `typedef struct va_queue_st* va_queue`, virtaccel.h:32
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_queue(pub *mut c_void);
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Send for va_queue {}
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Sync for va_queue {}

impl va_queue {
    /// The null handle.
    pub const NULL: Self = Self(::core::ptr::null_mut());
}

/// `typedef struct va_fence_st* va_fence`, virtaccel.h:33
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_fence(pub *mut c_void);
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Send for va_fence {}
// SAFETY: the value is an address that only the driver dereferences, in calls that are unsafe.
unsafe impl Sync for va_fence {}

impl va_fence {
    /// The null handle.
    pub const NULL: Self = Self(::core::ptr::null_mut());
}

/// `enum va_status`, virtaccel.h:36
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_status(pub u32);

impl va_status {
    /// `VA_OK`
    pub const VA_OK: Self = Self(0);
    /// `VA_NOT_READY`
    pub const VA_NOT_READY: Self = Self(1);
    /// `VA_ERROR_INVALID_VALUE`
    pub const VA_ERROR_INVALID_VALUE: Self = Self(2);
    /// `VA_ERROR_INVALID_HANDLE`
    pub const VA_ERROR_INVALID_HANDLE: Self = Self(3);
    /// `VA_ERROR_INVALID_ADDRESS`
    pub const VA_ERROR_INVALID_ADDRESS: Self = Self(4);
    /// `VA_ERROR_OUT_OF_MEMORY`
    pub const VA_ERROR_OUT_OF_MEMORY: Self = Self(5);
    /// `VA_ERROR_NO_DEVICE`
    pub const VA_ERROR_NO_DEVICE: Self = Self(6);
    /// `VA_ERROR_UNKNOWN_KERNEL`
    pub const VA_ERROR_UNKNOWN_KERNEL: Self = Self(7);
    /// `VA_ERROR_LAUNCH_FAILED`
    pub const VA_ERROR_LAUNCH_FAILED: Self = Self(8);
    /// `VA_ERROR_ADDRESS_FAULT`
    pub const VA_ERROR_ADDRESS_FAULT: Self = Self(9);
    /// `VA_ERROR_CANCELLED`
    pub const VA_ERROR_CANCELLED: Self = Self(10);
    /// `VA_ERROR_NOT_SUPPORTED`
    pub const VA_ERROR_NOT_SUPPORTED: Self = Self(11);
    /// `VA_ERROR_WRONG_THREAD`
    pub const VA_ERROR_WRONG_THREAD: Self = Self(12);
    /// `VA_ERROR_SHUT_DOWN`
    pub const VA_ERROR_SHUT_DOWN: Self = Self(13);
    /// `VA_ERROR_INTERNAL`
    pub const VA_ERROR_INTERNAL: Self = Self(14);
    /// Returns the name in the header, or `None` for a value that it does not list.
    pub const fn name(self) -> Option<&'static str> {
        Some(
            match self.0 {
                0 => "VA_OK",
                1 => "VA_NOT_READY",
                2 => "VA_ERROR_INVALID_VALUE",
                3 => "VA_ERROR_INVALID_HANDLE",
                4 => "VA_ERROR_INVALID_ADDRESS",
                5 => "VA_ERROR_OUT_OF_MEMORY",
                6 => "VA_ERROR_NO_DEVICE",
                7 => "VA_ERROR_UNKNOWN_KERNEL",
                8 => "VA_ERROR_LAUNCH_FAILED",
                9 => "VA_ERROR_ADDRESS_FAULT",
                10 => "VA_ERROR_CANCELLED",
                11 => "VA_ERROR_NOT_SUPPORTED",
                12 => "VA_ERROR_WRONG_THREAD",
                13 => "VA_ERROR_SHUT_DOWN",
                14 => "VA_ERROR_INTERNAL",
                _ => return None,
            },
        )
    }
}

impl ::core::fmt::Debug for va_status {
    fn fmt(&self, f__: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        match self.name() {
            Some(name__) => f__.write_str(name__),
            None => write!(f__, "{}({})", "va_status", self.0),
        }
    }
}

/// `enum va_type`, virtaccel.h:55
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_type(pub u32);

impl va_type {
    /// `VA_F32`
    pub const VA_F32: Self = Self(1);
    /// `VA_F64`
    pub const VA_F64: Self = Self(2);
    /// `VA_I32`
    pub const VA_I32: Self = Self(3);
    /// `VA_I64`
    pub const VA_I64: Self = Self(4);
    /// Returns the name in the header, or `None` for a value that it does not list.
    pub const fn name(self) -> Option<&'static str> {
        Some(
            match self.0 {
                1 => "VA_F32",
                2 => "VA_F64",
                3 => "VA_I32",
                4 => "VA_I64",
                _ => return None,
            },
        )
    }
}

impl ::core::fmt::Debug for va_type {
    fn fmt(&self, f__: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        match self.name() {
            Some(name__) => f__.write_str(name__),
            None => write!(f__, "{}({})", "va_type", self.0),
        }
    }
}

/// `enum va_argument_kind`, virtaccel.h:63
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_argument_kind(pub u32);

impl va_argument_kind {
    /// `VA_TENSOR`
    pub const VA_TENSOR: Self = Self(1);
    /// `VA_INTEGER`
    pub const VA_INTEGER: Self = Self(2);
    /// `VA_REAL`
    pub const VA_REAL: Self = Self(3);
    /// Returns the name in the header, or `None` for a value that it does not list.
    pub const fn name(self) -> Option<&'static str> {
        Some(
            match self.0 {
                1 => "VA_TENSOR",
                2 => "VA_INTEGER",
                3 => "VA_REAL",
                _ => return None,
            },
        )
    }
}

impl ::core::fmt::Debug for va_argument_kind {
    fn fmt(&self, f__: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        match self.name() {
            Some(name__) => f__.write_str(name__),
            None => write!(f__, "{}({})", "va_argument_kind", self.0),
        }
    }
}

/// `enum va_fault`, virtaccel.h:70
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct va_fault(pub u32);

impl va_fault {
    /// `VA_FAULT_NONE`
    pub const VA_FAULT_NONE: Self = Self(0);
    /// `VA_FAULT_ALLOCATION`
    pub const VA_FAULT_ALLOCATION: Self = Self(1);
    /// `VA_FAULT_LAUNCH`
    pub const VA_FAULT_LAUNCH: Self = Self(2);
    /// `VA_FAULT_HANG`
    pub const VA_FAULT_HANG: Self = Self(3);
    /// `VA_FAULT_SLOW_COPY`
    pub const VA_FAULT_SLOW_COPY: Self = Self(4);
    /// `VA_FAULT_JITTER`
    pub const VA_FAULT_JITTER: Self = Self(5);
    /// Returns the name in the header, or `None` for a value that it does not list.
    pub const fn name(self) -> Option<&'static str> {
        Some(
            match self.0 {
                0 => "VA_FAULT_NONE",
                1 => "VA_FAULT_ALLOCATION",
                2 => "VA_FAULT_LAUNCH",
                3 => "VA_FAULT_HANG",
                4 => "VA_FAULT_SLOW_COPY",
                5 => "VA_FAULT_JITTER",
                _ => return None,
            },
        )
    }
}

impl ::core::fmt::Debug for va_fault {
    fn fmt(&self, f__: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        match self.name() {
            Some(name__) => f__.write_str(name__),
            None => write!(f__, "{}({})", "va_fault", self.0),
        }
    }
}

/// `struct va_device_info`, virtaccel.h:84
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_device_info {
    /// `size_t struct_size`
    pub struct_size: usize,
    /// `char name[32]`
    pub name: [c_char; 32],
    /// `char pci_bus_id[16]`
    pub pci_bus_id: [c_char; 16],
    /// `uint64_t total_memory`
    pub total_memory: u64,
    /// `uint64_t free_memory`
    pub free_memory: u64,
    /// `uint64_t peak_memory`
    pub peak_memory: u64,
    /// `uint64_t clock_frequency`
    pub clock_frequency: u64,
    /// `uint32_t ordinal`
    pub ordinal: u32,
    /// `int32_t numa_node`
    pub numa_node: i32,
}

impl Default for va_device_info {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_device_info > () == 96);

const _: () = assert!(::core::mem::align_of:: < va_device_info > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_device_info, struct_size) == 0);

const _: () = assert!(::core::mem::offset_of!(va_device_info, name) == 8);

const _: () = assert!(::core::mem::offset_of!(va_device_info, pci_bus_id) == 40);

const _: () = assert!(::core::mem::offset_of!(va_device_info, total_memory) == 56);

const _: () = assert!(::core::mem::offset_of!(va_device_info, free_memory) == 64);

const _: () = assert!(::core::mem::offset_of!(va_device_info, peak_memory) == 72);

const _: () = assert!(::core::mem::offset_of!(va_device_info, clock_frequency) == 80);

const _: () = assert!(::core::mem::offset_of!(va_device_info, ordinal) == 88);

const _: () = assert!(::core::mem::offset_of!(va_device_info, numa_node) == 92);

/// `struct va_pointer_info`, virtaccel.h:97
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_pointer_info {
    /// `size_t struct_size`
    pub struct_size: usize,
    /// `void* base`
    pub base: *mut c_void,
    /// `uint64_t size`
    pub size: u64,
    /// `va_device device`
    pub device: va_device,
}

impl Default for va_pointer_info {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_pointer_info > () == 32);

const _: () = assert!(::core::mem::align_of:: < va_pointer_info > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_pointer_info, struct_size) == 0);

const _: () = assert!(::core::mem::offset_of!(va_pointer_info, base) == 8);

const _: () = assert!(::core::mem::offset_of!(va_pointer_info, size) == 16);

const _: () = assert!(::core::mem::offset_of!(va_pointer_info, device) == 24);

/// `struct va_copy_counts`, virtaccel.h:105
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_copy_counts {
    /// `size_t struct_size`
    pub struct_size: usize,
    /// `uint64_t direct`
    pub direct: u64,
    /// `uint64_t direct_bytes`
    pub direct_bytes: u64,
    /// `uint64_t bounced`
    pub bounced: u64,
    /// `uint64_t bounced_bytes`
    pub bounced_bytes: u64,
}

impl Default for va_copy_counts {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_copy_counts > () == 40);

const _: () = assert!(::core::mem::align_of:: < va_copy_counts > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_copy_counts, struct_size) == 0);

const _: () = assert!(::core::mem::offset_of!(va_copy_counts, direct) == 8);

const _: () = assert!(::core::mem::offset_of!(va_copy_counts, direct_bytes) == 16);

const _: () = assert!(::core::mem::offset_of!(va_copy_counts, bounced) == 24);

const _: () = assert!(::core::mem::offset_of!(va_copy_counts, bounced_bytes) == 32);

/// `struct va_queue_options`, virtaccel.h:113
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_queue_options {
    /// `size_t struct_size`
    pub struct_size: usize,
    /// `int32_t priority`
    pub priority: i32,
    /// `uint32_t flags`
    pub flags: u32,
}

impl Default for va_queue_options {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_queue_options > () == 16);

const _: () = assert!(::core::mem::align_of:: < va_queue_options > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_queue_options, struct_size) == 0);

const _: () = assert!(::core::mem::offset_of!(va_queue_options, priority) == 8);

const _: () = assert!(::core::mem::offset_of!(va_queue_options, flags) == 12);

/// `struct va_tensor`, virtaccel.h:120
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_tensor {
    /// `void* address`
    pub address: *mut c_void,
    /// `uint64_t dims[8]`
    pub dims: [u64; 8],
    /// `uint32_t rank`
    pub rank: u32,
    /// `va_type type`
    pub r#type: va_type,
}

impl Default for va_tensor {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_tensor > () == 80);

const _: () = assert!(::core::mem::align_of:: < va_tensor > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_tensor, address) == 0);

const _: () = assert!(::core::mem::offset_of!(va_tensor, dims) == 8);

const _: () = assert!(::core::mem::offset_of!(va_tensor, rank) == 72);

const _: () = assert!(::core::mem::offset_of!(va_tensor, r#type) == 76);

/// `struct va_argument`, virtaccel.h:127
#[repr(C)]
#[derive(Clone, Copy)]
pub struct va_argument {
    /// `va_argument_kind kind`
    pub kind: va_argument_kind,
    /// `va_argument__value value`
    pub value: va_argument__value,
}

impl Default for va_argument {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_argument > () == 88);

const _: () = assert!(::core::mem::align_of:: < va_argument > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_argument, kind) == 0);

const _: () = assert!(::core::mem::offset_of!(va_argument, value) == 8);

/// `union va_argument__value`, virtaccel.h:129
#[repr(C)]
#[derive(Clone, Copy)]
pub union va_argument__value {
    /// `va_tensor tensor`
    pub tensor: va_tensor,
    /// `int64_t integer`
    pub integer: i64,
    /// `double real`
    pub real: f64,
}

impl Default for va_argument__value {
    /// Returns zeros.
    fn default() -> Self {
        // SAFETY: zeros are valid in every field: numbers, null pointers, and `None` for callbacks.
        unsafe { ::core::mem::zeroed() }
    }
}

const _: () = assert!(::core::mem::size_of:: < va_argument__value > () == 80);

const _: () = assert!(::core::mem::align_of:: < va_argument__value > () == 8);

const _: () = assert!(::core::mem::offset_of!(va_argument__value, tensor) == 0);

const _: () = assert!(::core::mem::offset_of!(va_argument__value, integer) == 0);

const _: () = assert!(::core::mem::offset_of!(va_argument__value, real) == 0);

/// `typedef void (*va_host_function)(void* user_data)`, virtaccel.h:136
pub type va_host_function = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// `VA_VERSION_MAJOR`, virtaccel.h:23
pub const VA_VERSION_MAJOR: u32 = 1;

/// `VA_VERSION_MINOR`, virtaccel.h:24
pub const VA_VERSION_MINOR: u32 = 3;

/// `VA_VERSION`, virtaccel.h:25
pub const VA_VERSION: u32 = 65539;

/// `VA_MAX_DIMS`, virtaccel.h:27
pub const VA_MAX_DIMS: u32 = 8;

/// `VA_NAME_SIZE`, virtaccel.h:28
pub const VA_NAME_SIZE: u32 = 32;

/// `VA_DEFAULT_LIBRARY`, virtaccel.h:29
pub const VA_DEFAULT_LIBRARY: &::core::ffi::CStr = c"libvirtaccel.so";

/// Safe methods and owned types. They rely on what the contract `virtaccel.toml` states about the driver.
pub mod safe {
    use super::*;
    use ::std::sync::Arc;
    /// The functions without a handle.
    #[derive(Clone, Copy)]
    pub struct Driver(&'static super::Driver);

    impl Driver {
        /// Returns the driver, which is loaded at the first call. It must export the functions that it is given.
        ///
        /// # Errors
        /// Returns an error if the library cannot be loaded, or lacks a function.
        pub fn get(required__: &[&str]) -> Result<Self, LoadError> {
            super::Driver::get(required__).map(Self)
        }

        /// `va_status va_driver_version(uint32_t* version)`, virtaccel.h:140
        pub fn va_driver_version(&self) -> Result<u32> {
            let driver__ = self.0;
            // SAFETY: zeros are valid in every bound type.
            let mut version: u32 = unsafe { ::core::mem::zeroed() };
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_driver_version(&mut version) };
            result__?;
            Ok(version)
        }

        /// `const char* va_error_string(va_status status)`, virtaccel.h:142
        pub fn va_error_string(
            &self,
            status: va_status,
        ) -> Result<Option<&'static CStr>> {
            let driver__ = self.0;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_error_string(status) };
            let result__ = result__?;
            // SAFETY: the driver returns null or a C string that is valid forever.
            let result__ = (!result__.is_null())
                .then(|| unsafe { CStr::from_ptr(result__) });
            Ok(result__)
        }

        /// `va_status va_shutdown(void)`, virtaccel.h:145
        pub fn va_shutdown(&self) -> Result<()> {
            let driver__ = self.0;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_shutdown() };
            result__?;
            Ok(())
        }

        /// `va_status va_device_count(uint32_t* count)`, virtaccel.h:151
        pub fn va_device_count(&self) -> Result<u32> {
            let driver__ = self.0;
            // SAFETY: zeros are valid in every bound type.
            let mut count: u32 = unsafe { ::core::mem::zeroed() };
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_device_count(&mut count) };
            result__?;
            Ok(count)
        }

        /// `va_status va_device_open(uint32_t ordinal, va_device* device)`, virtaccel.h:152
        pub fn va_device_open(&self, ordinal: u32) -> Result<va_device> {
            let driver__ = self.0;
            let mut device = super::va_device::NULL;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_device_open(ordinal, &mut device) };
            result__?;
            let device = if device == super::va_device::NULL {
                None
            } else {
                Some(
                    va_device(
                        Arc::new(va_device__owner {
                            driver: driver__,
                            value: device,
                            _created_with: vec![],
                        }),
                    ),
                )
            };
            Ok(
                device
                    .ok_or(Error::Invalid {
                        function: "va_device_open",
                        reason: "the driver returned null",
                    })?,
            )
        }
    }

    /// An owned `va_device`. Clones share it; `va_device_close` destroys it when the last one is dropped.
    #[derive(Clone)]
    pub struct va_device(Arc<va_device__owner>);
    struct va_device__owner {
        driver: &'static super::Driver,
        value: super::va_device,
        _created_with: Vec<Arc<dyn ::core::any::Any + Send + Sync>>,
    }

    impl Drop for va_device__owner {
        fn drop(&mut self) {
            // SAFETY: nobody else has the value, and what it was created with is alive. The
            // contract states that the driver takes it on any thread, also while enqueued work uses
            // it.
            let _ = unsafe { self.driver.va_device_close(self.value) };
        }
    }

    impl va_device {
        /// Returns the handle, which is valid as long as this value.
        pub fn handle(&self) -> super::va_device {
            self.0.value
        }
    }

    impl va_device {
        /// `va_status va_device_get_info(va_device device, va_device_info* info)`, virtaccel.h:154
        pub fn va_device_get_info(&self) -> Result<va_device_info> {
            let driver__ = self.0.driver;
            // SAFETY: zeros are valid in every bound type.
            let mut info: va_device_info = unsafe { ::core::mem::zeroed() };
            info.struct_size = ::core::mem::size_of::<va_device_info>() as _;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__.va_device_get_info(self.0.value, &mut info)
            };
            result__?;
            Ok(info)
        }

        /// `va_status va_alloc(va_device device, uint64_t size, void** address)`, virtaccel.h:162
        pub fn va_alloc(&self, size: u64) -> Result<va_memory> {
            let driver__ = self.0.driver;
            let mut address = ::core::ptr::null_mut();
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__.va_alloc(self.0.value, size, &mut address)
            };
            result__?;
            let address = if address.is_null() {
                None
            } else {
                Some(
                    va_memory(
                        Arc::new(va_memory__owner {
                            driver: driver__,
                            value: address as usize,
                            va_device: self.clone(),
                            _created_with: vec![],
                        }),
                    ),
                )
            };
            Ok(
                address
                    .ok_or(Error::Invalid {
                        function: "va_alloc",
                        reason: "the driver returned null",
                    })?,
            )
        }

        /// `va_status va_queue_create(va_device device, const va_queue_options* options, va_queue* queue)`, virtaccel.h:178
        pub fn va_queue_create(
            &self,
            options: Option<va_queue_options>,
        ) -> Result<va_queue> {
            let driver__ = self.0.driver;
            let mut options = options;
            if let Some(value__) = &mut options {
                value__.struct_size = ::core::mem::size_of::<va_queue_options>() as _;
            }
            let mut queue = super::va_queue::NULL;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_queue_create(
                        self.0.value,
                        options
                            .as_ref()
                            .map_or(::core::ptr::null(), ::core::ptr::from_ref),
                        &mut queue,
                    )
            };
            result__?;
            let queue = if queue == super::va_queue::NULL {
                None
            } else {
                Some(
                    va_queue(
                        Arc::new(va_queue__owner {
                            driver: driver__,
                            value: queue,
                            va_device: self.clone(),
                            _created_with: vec![],
                        }),
                    ),
                )
            };
            Ok(
                queue
                    .ok_or(Error::Invalid {
                        function: "va_queue_create",
                        reason: "the driver returned null",
                    })?,
            )
        }

        /// `va_status va_fence_create(va_device device, va_fence* fence)`, virtaccel.h:211
        pub fn va_fence_create(&self) -> Result<va_fence> {
            let driver__ = self.0.driver;
            let mut fence = super::va_fence::NULL;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_fence_create(self.0.value, &mut fence) };
            result__?;
            let fence = if fence == super::va_fence::NULL {
                None
            } else {
                Some(
                    va_fence(
                        Arc::new(va_fence__owner {
                            driver: driver__,
                            value: fence,
                            va_device: self.clone(),
                            _created_with: vec![],
                        }),
                    ),
                )
            };
            Ok(
                fence
                    .ok_or(Error::Invalid {
                        function: "va_fence_create",
                        reason: "the driver returned null",
                    })?,
            )
        }
    }

    /// An owned `va_fence`. Clones share it; `va_fence_destroy` destroys it when the last one is dropped.
    #[derive(Clone)]
    pub struct va_fence(Arc<va_fence__owner>);
    struct va_fence__owner {
        driver: &'static super::Driver,
        value: super::va_fence,
        va_device: va_device,
        _created_with: Vec<Arc<dyn ::core::any::Any + Send + Sync>>,
    }

    impl Drop for va_fence__owner {
        fn drop(&mut self) {
            // SAFETY: nobody else has the value, and what it was created with is alive. The
            // contract states that the driver takes it on any thread, also while enqueued work uses
            // it.
            let _ = unsafe { self.driver.va_fence_destroy(self.value) };
        }
    }

    impl va_fence {
        /// Returns the handle, which is valid as long as this value.
        pub fn handle(&self) -> super::va_fence {
            self.0.value
        }

        /// Returns the `va_device` that it was created with.
        pub fn va_device(&self) -> &va_device {
            &self.0.va_device
        }
    }

    impl va_fence {
        /// `va_status va_fence_record(va_fence fence, va_queue queue)`, virtaccel.h:213
        pub fn va_fence_record(&self, queue: &va_queue) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__.va_fence_record(self.0.value, queue.0.value)
            };
            result__?;
            Ok(())
        }

        /// `va_status va_fence_synchronize(va_fence fence)`, virtaccel.h:217
        pub fn va_fence_synchronize(&self) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_fence_synchronize(self.0.value) };
            result__?;
            Ok(())
        }

        /// `va_status va_fence_query(va_fence fence)`, virtaccel.h:219
        pub fn va_fence_query(&self) -> Result<bool> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_fence_query(self.0.value) };
            let result__ = match result__ {
                Err(Error::Status { status: va_status(1), .. }) => false,
                other__ => other__.map(|()| true)?,
            };
            Ok(result__)
        }

        /// `va_status va_fence_time(va_fence fence, uint64_t* ticks)`, virtaccel.h:210
        pub fn va_fence_time(&self) -> Result<u64> {
            let driver__ = self.0.driver;
            // SAFETY: zeros are valid in every bound type.
            let mut ticks: u64 = unsafe { ::core::mem::zeroed() };
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_fence_time(self.0.value, &mut ticks) };
            result__?;
            Ok(ticks)
        }
    }

    /// An owned `va_memory`. Clones share it; `va_free` destroys it when the last one is dropped.
    #[derive(Clone)]
    pub struct va_memory(Arc<va_memory__owner>);
    struct va_memory__owner {
        driver: &'static super::Driver,
        value: usize,
        va_device: va_device,
        _created_with: Vec<Arc<dyn ::core::any::Any + Send + Sync>>,
    }

    impl Drop for va_memory__owner {
        fn drop(&mut self) {
            // SAFETY: nobody else has the value, and what it was created with is alive. The
            // contract states that the driver takes it on any thread, also while enqueued work uses
            // it.
            let _ = unsafe {
                self.driver.va_free(self.va_device.0.value, self.value as *mut c_void)
            };
        }
    }

    impl va_memory {
        /// Returns the address.
        pub fn address(&self) -> usize {
            self.0.value
        }

        /// Returns the `va_device` that it was created with.
        pub fn va_device(&self) -> &va_device {
            &self.0.va_device
        }
    }

    impl va_memory {}

    /// An owned `va_queue`. Clones share it; `va_queue_destroy` destroys it when the last one is dropped.
    #[derive(Clone)]
    pub struct va_queue(Arc<va_queue__owner>);
    struct va_queue__owner {
        driver: &'static super::Driver,
        value: super::va_queue,
        va_device: va_device,
        _created_with: Vec<Arc<dyn ::core::any::Any + Send + Sync>>,
    }

    impl Drop for va_queue__owner {
        fn drop(&mut self) {
            // SAFETY: nobody else has the value, and what it was created with is alive. The
            // contract states that the driver takes it on any thread, also while enqueued work uses
            // it.
            let _ = unsafe { self.driver.va_queue_destroy(self.value) };
        }
    }

    impl va_queue {
        /// Returns the handle, which is valid as long as this value.
        pub fn handle(&self) -> super::va_queue {
            self.0.value
        }

        /// Returns the `va_device` that it was created with.
        pub fn va_device(&self) -> &va_device {
            &self.0.va_device
        }
    }

    impl va_queue {
        /// `va_status va_queue_synchronize(va_queue queue)`, virtaccel.h:182
        pub fn va_queue_synchronize(&self) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe { driver__.va_queue_synchronize(self.0.value) };
            result__?;
            Ok(())
        }

        /// `va_status va_queue_get_error(va_queue queue, int32_t clear, va_status* error, char* operation, size_t size)`, virtaccel.h:187
        pub fn va_queue_get_error(&self, clear: i32) -> Result<(va_status, String)> {
            let driver__ = self.0.driver;
            // SAFETY: zeros are valid in every bound type.
            let mut error: va_status = unsafe { ::core::mem::zeroed() };
            let mut operation = [0 as c_char; 256];
            let length_4__: usize = operation
                .len()
                .try_into()
                .map_err(|_| Error::Invalid {
                    function: "va_queue_get_error",
                    reason: "a length is too large",
                })?;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_queue_get_error(
                        self.0.value,
                        clear,
                        &mut error,
                        operation.as_mut_ptr(),
                        length_4__,
                    )
            };
            result__?;
            Ok((
                error,
                String::from_utf8_lossy(
                        &operation
                            .iter()
                            .map(|byte__| *byte__ as u8)
                            .take_while(|byte__| *byte__ != 0)
                            .collect::<Vec<u8>>(),
                    )
                    .into_owned(),
            ))
        }

        /// `va_status va_copy_to_device(va_queue queue, void* target, const void* host, uint64_t size)`, virtaccel.h:193
        pub fn va_copy_to_device(
            &self,
            target: usize,
            host: impl AsRef<[u8]> + Send + 'static,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            let host = Source__::new(host);
            let bytes_2__: *const [u8] = host.bytes();
            let length_3__: u64 = bytes_2__
                .len()
                .try_into()
                .map_err(|_| Error::Invalid {
                    function: "va_copy_to_device",
                    reason: "a length is too large",
                })?;
            let host = ::core::mem::ManuallyDrop::new(host);
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_copy_to_device(
                        self.0.value,
                        target as *mut c_void,
                        bytes_2__.cast(),
                        length_3__,
                    )
            };
            let result__ = result__
                .and(
                    self
                        .run_after__(
                            Box::new(move || drop(
                                ::core::mem::ManuallyDrop::into_inner(host),
                            )),
                        ),
                );
            result__?;
            Ok(())
        }

        /// `va_status va_copy_to_host(va_queue queue, void* host, const void* source, uint64_t size)`, virtaccel.h:194
        pub fn va_copy_to_host(
            &self,
            host: impl FnOnce(Vec<u8>) + Send + 'static,
            source: usize,
            size: usize,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            let mut bytes_1__ = Vec::new();
            bytes_1__
                .try_reserve_exact(size)
                .map_err(|_| Error::Invalid {
                    function: "va_copy_to_host",
                    reason: "no memory",
                })?;
            bytes_1__.resize(size, 0_u8);
            let length_3__: u64 = size
                .try_into()
                .map_err(|_| Error::Invalid {
                    function: "va_copy_to_host",
                    reason: "a length is too large",
                })?;
            let mut bytes_1__ = ::core::mem::ManuallyDrop::new(bytes_1__);
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_copy_to_host(
                        self.0.value,
                        bytes_1__.as_mut_ptr().cast(),
                        source as *const c_void,
                        length_3__,
                    )
            };
            let function__: HostFunction__ = match result__ {
                Ok(()) => {
                    Box::new(move || host(
                        ::core::mem::ManuallyDrop::into_inner(bytes_1__),
                    ))
                }
                Err(_) => {
                    Box::new(move || drop(
                        ::core::mem::ManuallyDrop::into_inner(bytes_1__),
                    ))
                }
            };
            let result__ = result__.and(self.run_after__(function__));
            result__?;
            Ok(())
        }

        /// `va_status va_copy_within(va_queue queue, void* target, const void* source, uint64_t size)`, virtaccel.h:196
        pub fn va_copy_within(
            &self,
            target: usize,
            source: usize,
            size: u64,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_copy_within(
                        self.0.value,
                        target as *mut c_void,
                        source as *const c_void,
                        size,
                    )
            };
            result__?;
            Ok(())
        }

        /// `va_status va_copy_peer(va_queue queue, void* target, const void* source, uint64_t size)`, virtaccel.h:198
        pub fn va_copy_peer(
            &self,
            target: usize,
            source: usize,
            size: u64,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_copy_peer(
                        self.0.value,
                        target as *mut c_void,
                        source as *const c_void,
                        size,
                    )
            };
            result__?;
            Ok(())
        }

        /// `va_status va_fill(va_queue queue, void* target, uint32_t pattern, uint32_t pattern_size, uint64_t size)`, virtaccel.h:200
        pub fn va_fill(
            &self,
            target: usize,
            pattern: u32,
            pattern_size: u32,
            size: u64,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_fill(
                        self.0.value,
                        target as *mut c_void,
                        pattern,
                        pattern_size,
                        size,
                    )
            };
            result__?;
            Ok(())
        }

        /// `va_status va_launch_host_function(va_queue queue, va_host_function function, void* user_data)`, virtaccel.h:202
        pub fn va_launch_host_function(
            &self,
            function: impl FnOnce() + Send + 'static,
        ) -> Result<()> {
            let driver__ = self.0.driver;
            let data_1__ = Box::into_raw(Box::new(Box::new(function) as HostFunction__));
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_launch_host_function(self.0.value, Some(run__), data_1__.cast())
            };
            if result__.is_err() {
                // SAFETY: the driver does not call the function after an error, so the box is still
                // owned here.
                drop(unsafe { Box::from_raw(data_1__) });
            }
            result__?;
            Ok(())
        }

        /// `va_status va_launch(va_queue queue, const char* kernel, const va_argument* arguments, uint32_t count)`, virtaccel.h:204
        pub fn va_launch(&self, kernel: &CStr, arguments: &[va_argument]) -> Result<()> {
            let driver__ = self.0.driver;
            let length_3__: u32 = arguments
                .len()
                .try_into()
                .map_err(|_| Error::Invalid {
                    function: "va_launch",
                    reason: "a length is too large",
                })?;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__
                    .va_launch(
                        self.0.value,
                        kernel.as_ptr(),
                        arguments.as_ptr(),
                        length_3__,
                    )
            };
            result__?;
            Ok(())
        }

        /// `va_status va_fence_wait(va_queue queue, va_fence fence)`, virtaccel.h:216
        pub fn va_fence_wait(&self, fence: &va_fence) -> Result<()> {
            let driver__ = self.0.driver;
            // SAFETY: the arguments are what the contract demands, for as long as it demands.
            let result__ = unsafe {
                driver__.va_fence_wait(self.0.value, fence.0.value)
            };
            result__?;
            Ok(())
        }

        /// Runs a function after the work so far, by "va_launch_host_function". After an error it is leaked, since the work may
        /// still use what it has.
        fn run_after__(&self, function__: HostFunction__) -> Result<()> {
            let data__ = Box::into_raw(Box::new(function__));
            // SAFETY: the handle is alive, and `run__` takes the box, which is not freed otherwise.
            unsafe {
                self.0
                    .driver
                    .va_launch_host_function(self.0.value, Some(run__), data__.cast())
            }
                .map(drop)
        }
    }
    type HostFunction__ = Box<dyn FnOnce() + Send>;
    unsafe extern "C" fn run__(data__: *mut c_void) {
        // SAFETY: the data is a box of this type, and the driver calls the function once.
        let function__ = unsafe { Box::from_raw(data__.cast::<HostFunction__>()) };
        ::core::mem::forget(
            ::std::panic::catch_unwind(::std::panic::AssertUnwindSafe(*function__)),
        );
    }

    /// A value with host memory that the driver reads. It has one address, also if the struct is moved.
    struct Source__<T>(*mut T);
    // SAFETY: the value is `Send`, and the struct is its only owner.
    unsafe impl<T: Send> Send for Source__<T> {}
    impl<T: AsRef<[u8]>> Source__<T> {
        fn new(value__: T) -> Self {
            Self(Box::into_raw(Box::new(value__)))
        }
        fn bytes(&self) -> &[u8] {
            // SAFETY: `new` has allocated the value, and only the drop frees it.
            let value__ = unsafe { &*self.0 };
            value__.as_ref()
        }
    }
    impl<T> Drop for Source__<T> {
        fn drop(&mut self) {
            // SAFETY: `new` has allocated the value, and it is freed once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}
