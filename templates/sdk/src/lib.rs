//! SDK for TensorFlow plugins in Rust.
//!
//! An author implements [`Device`], or delegates slots to the reference backend. Kernels are functions under
//! `#[kernel(..)]`. [`plugin!`] names both and exports the entry points that TensorFlow calls. A graph
//! [`Optimizer`] and a [`Profiler`] are optional.
//!
//! | task | names |
//! |---|---|
//! | a first device and its kernels | [`prelude`] |
//! | parameters of kernels, attributes, state | [`kernel`] |
//! | a device over a driver, from ten methods | [`accelerator`] |
//! | ops of a plugin | [`op`] |
//! | a graph optimizer, fused chains | [`optimizer`], [`graph`] |
//! | a profiler | [`profiler`], [`trace`] |
//!
//! Memory spaces are types: [`kernel::In<'_, T>`](kernel::In) has elements, [`kernel::In<'_, T, D>`](kernel::In) an
//! address and a length on device `D`. Only on a [`HostAddressable`] device does the host use device memory in place.
//!
//! This crate connects the generated slots with an author's code, so it needs sp-abi, and sp-runtime is below sp-abi.
//! In sp-cpu it would make every plugin depend on a backend.
//!
//! No code of an author without `unsafe` can break what the `unsafe` code here relies on: the parameters of kernels
//! implement sealed traits, the context too. No expression of an author is inside an `unsafe` block of an expansion.

// A print panics if its stream cannot be written: `report!` does not.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

/// Defines the methods `len` and `is_empty` of a type with a number of `$items`.
macro_rules! len_methods {
    ($items:literal, $self:ident => $len:expr) => {
        #[doc = concat!("Returns the number of ", $items, ".")]
        pub fn len(&$self) -> usize {
            $len
        }

        #[doc = concat!("Returns true if there are no ", $items, ".")]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
}

/// Evaluates to an error with a code and a message, which is as `format!` takes it.
macro_rules! fail {
    ($code:ident, $($message:tt)*) => {
        Err($crate::Error::$code(format!($($message)*)))
    };
}

#[doc(hidden)]
pub mod __private;
pub mod accelerator;
mod access;
mod boolean;
mod buffer;
mod c_string;
mod converter;
mod device;
mod dims;
mod element;
mod functions;
pub mod graph;
mod host_memory;
mod host_work;
mod jit_compile;
pub mod kernel;
mod lacking;
mod limit;
pub mod op;
pub mod optimizer; // since 2.6
mod part;
mod platform;
mod plugin_info;
pub mod prelude;
pub mod profiler; // since 2.7
mod python; // since 2.6
mod registered;
mod release;
mod runtime_line;
pub mod settings;
mod small_shape;
mod status;
mod synchronous;
mod tensor;
pub mod trace;

pub use access::{Access, InPlace, Staged};
pub use boolean::Bool;
pub use device::{Allocator, Description, Device, DeviceProperties, HostAddressable, MemoryAccess};
pub use element::{
    Bf16, Complex64, Complex128, Element, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ,
    F16, Int4, QInt8, QInt16, QInt32, QUint8, QUint16, Uint4,
};
pub use host_memory::HostMemory;
pub use host_work::HostQueue;
pub use jit_compile::JitCompile;
pub use optimizer::Optimizer; // since 2.6
pub use profiler::Profiler; // since 2.7
pub use sp_runtime::allocation;
pub use sp_runtime::host::is_cuda_build;
pub use sp_runtime::release::FIRST_SUPPORTED;
pub use sp_runtime::{Code, Error, Release, Releases, Result, UnknownRelease, vtable};

/// Exports the entry points of a plugin. The invocation has to be in the root of the plugin's crate.
///
/// ```text
/// sp_plugin::plugin! {
///     device: MyAccel,
///     device_type: c"MYACCEL",
///     platform_name: c"MYACCEL",
///     kernels: [kernels::table, sp_cpu::kernels::table],
///     optimizer: optimizer::Simplify,
///     profiler: profiler::Timeline,
/// }
/// ```
///
/// TensorFlow requires both names to match `[A-Z][A-Z_]*`. If two tables have a kernel for the same op and
/// types, the one of the earlier table is registered. `optimizer` and `profiler` are optional; without them
/// the library has no such entry point.
///
/// `min_release: "2.8"`, after these, declines older hosts: TensorFlow continues without the plugin, which
/// writes one line to stderr. A macro cannot see the other files of a crate. So add `#[sp_runtime::plugin]`
/// to a function, an `impl` or a module to check at compile time that this release has what it uses.
///
/// `unknown_release: KnownSizes`, at the end, selects the treatment of releases that are newer than this
/// crate's sp-abi. [`UnknownRelease`] has the choices; `ReadHost` is the default.
///
/// `jit_compile: Error`, as the last one, makes functions that ask for XLA an error. [`JitCompile`] has the choices; `Ignore` is
/// the default. A user overrides it with `SP_JIT_COMPILE=ignore` or `SP_JIT_COMPILE=error`.
#[macro_export]
macro_rules! plugin {
    (
        device: $device:ty,
        device_type: $device_type:expr,
        platform_name: $platform_name:expr,
        kernels: [$($table:expr),+ $(,)?]
        $(, optimizer: $optimizer:ty)?
        $(, profiler: $profiler:ty)?
        $(, min_release: $min_release:literal)?
        $(, unknown_release: $unknown_release:ident)?
        $(, jit_compile: $jit_compile:ident)?
        $(,)?
    ) => {
        #[cfg(panic = "abort")]
        compile_error!("a plugin needs panic = \"unwind\": a panic must become a TF_Status");

        /// The oldest release of TensorFlow that the plugin supports.
        pub const MIN_RELEASE: $crate::Release = $crate::__min_release!($($min_release)?);

        const PLUGIN_INFO: $crate::__private::PluginInfo = $crate::__private::PluginInfo {
            name: ::core::env!("CARGO_PKG_NAME"),
            device_type: $device_type,
            platform_name: $platform_name,
            min_release: MIN_RELEASE,
            unknown_release: $crate::__variant!(UnknownRelease: $($unknown_release,)? ReadHost),
            jit_compile: $crate::__variant!(JitCompile: $($jit_compile,)? Ignore),
        };

        /// The line of the runtime in a section of the library, which `sp-gen diff` reads.
        #[unsafe(no_mangle)]
        #[cfg_attr(
            target_vendor = "apple",
            unsafe(link_section = "__DATA,sp_optional")
        )]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "sp_optional"))]
        #[allow(non_upper_case_globals)]
        pub static sp_plugin_runtime: [u8; $crate::__private::RUNTIME_LINE.len()] =
            $crate::__private::RUNTIME_LINE;

        /// Returns the names that the library has registered, `PLATFORM DEVICE_TYPE`, or null. A plugin with one of them
        /// that is loaded later declines the host.
        #[unsafe(no_mangle)]
        pub extern "C" fn sp_plugin_platform() -> *const ::core::ffi::c_char {
            $crate::__private::registered_platform()
        }

        $crate::__entry_point!(SE_InitPlugin: PlatformPart<$device>);

        /// Entry point: registers the kernels.
        #[unsafe(no_mangle)]
        pub extern "C" fn TF_InitKernel() {
            let tables = || ::std::vec![$($table()),+];
            // SAFETY: `SE_InitPlugin` registers the platform of this type with the same device.
            unsafe { $crate::__private::register_kernels::<$device>(&PLUGIN_INFO, tables) }
        }

        $($crate::__entry_point!(TF_InitGraph: OptimizerPart<$optimizer>);)?

        $($crate::__entry_point!(TF_InitProfiler: ProfilerPart<$profiler>);)?

        /// Writes the number of calls of each kernel to `buffer`, one line each, as a C string of at most `size`
        /// bytes. Returns the size of the whole text in bytes, with its NUL.
        ///
        /// # Safety
        /// `buffer` is null or writable for `size` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn sp_kernel_calls(
            buffer: *mut ::core::ffi::c_char,
            size: usize,
        ) -> usize {
            // SAFETY: the caller guarantees that `buffer` is null or writable for `size` bytes.
            unsafe { $crate::__private::write_calls(buffer, size) }
        }

        /// Writes the settings in force and the ops without a kernel to `buffer`, as lines `KEY=VALUE` of a C string of
        /// at most `size` bytes. Returns the size of the whole text in bytes, with its NUL.
        ///
        /// # Safety
        /// `buffer` is null or writable for `size` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn sp_plugin_settings(
            buffer: *mut ::core::ffi::c_char,
            size: usize,
        ) -> usize {
            // SAFETY: the caller guarantees that `buffer` is null or writable for `size` bytes.
            unsafe { $crate::__private::write_settings(buffer, size) }
        }
    };
}

/// The entry point of a part of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point {
    ($name:ident: $part:ident<$author:ty>) => {
        /// Entry point: registers a part of the plugin.
        ///
        /// # Safety
        /// - `params` points to TensorFlow's registration parameters, with `struct_size` set.
        /// - `status` is a live status object.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            params: *mut <$crate::__private::$part<$author> as $crate::__private::Part>::Params,
            status: *mut $crate::__private::RawStatus,
        ) {
            type Part = $crate::__private::$part<$author>;
            // SAFETY: the obligations are those of this function.
            unsafe { $crate::__private::register_part::<Part>(PLUGIN_INFO, params, status) }
        }
    };
}

/// The `min_release` of `plugin!`, or the first release that loads plugins.
#[doc(hidden)]
#[macro_export]
macro_rules! __min_release {
    () => {
        $crate::FIRST_SUPPORTED
    };
    ($release:literal) => {
        $crate::Release::from_literal($release)
    };
}

/// The first one of these variants of an enum: that which `plugin!` names, or the default.
#[doc(hidden)]
#[macro_export]
macro_rules! __variant {
    ($ty:ident: $first:ident $(, $default:ident)?) => {
        $crate::$ty::$first
    };
}
