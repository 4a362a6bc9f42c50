//! A TensorFlow plugin in Rust.
//!
//! An author implements [`Device`] (or lets the reference backend stand in for what is not written
//! yet), writes kernels as functions under `#[kernel(..)]`, and names both in [`plugin!`], which
//! exports the entry points that TensorFlow calls. An [`Optimizer`] of graphs and a [`Profiler`] may
//! stand beside them.
//!
//! Memory spaces are types: a [`kernel::Host`] kernel sees slices, a [`kernel::OnDevice`] kernel
//! sees addresses and lengths, and only a [`HostAddressable`] device lets the two meet in place.

// A print panics if its stream cannot be written: `report!` does not.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

mod access;
mod boolean;
mod buffer;
mod device;
mod element;
pub mod graph;
pub mod kernel;
mod limit;
pub mod optimizer; // since 2.6
mod part;
pub mod platform;
pub mod profiler; // since 2.7
mod proto;
mod tensor;
pub mod trace;

pub use access::{Access, InPlace, Memory, Staged};
pub use boolean::Bool;
pub use device::{Allocator, Description, Device, HostAddressable};
pub use element::Element;
pub use optimizer::Optimizer; // since 2.6
pub use profiler::Profiler; // since 2.7
pub use sp_runtime::host::FIRST;
pub use sp_runtime::{Code, Error, Release, Releases, Result, UnknownRelease, vtable};
pub use tensor::{DeviceTensor, DeviceTensorMut, HostTensor};

/// Exports the entry points of a plugin; stands in the root of its crate.
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
/// Both names match `[A-Z][A-Z_]*`, which TensorFlow demands. Where two tables have a kernel for
/// the same op and types, the earlier table's is registered. `optimizer` and `profiler` may be left
/// out; then the library has no entry point for them.
///
/// `unknown_release: KnownSizes` at the end chooses what happens in a release that is newer than this
/// crate's sp-abi: [`UnknownRelease`] has the choices, `ReadHost` is the default.
///
/// With `min_release: "2.8"` at the end the plugin declines older hosts, in the way TensorFlow
/// survives and with one line on stderr. No macro sees the other files of a crate, so what those name
/// is checked where they ask for it: `#[sp_runtime::plugin]` on a function, an `impl` or a module holds
/// it, at compile time, against the release that stands here.
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
        $(,)?
    ) => {
        #[cfg(panic = "abort")]
        compile_error!("a plugin needs panic = \"unwind\": a panic must become a TF_Status");

        /// The oldest release of TensorFlow that the plugin serves.
        pub const MIN_RELEASE: $crate::Release = $crate::oldest!($($min_release)?);

        const ABOUT: $crate::platform::About = $crate::platform::About {
            name: ::core::env!("CARGO_PKG_NAME"),
            device_type: $device_type,
            platform_name: $platform_name,
            min_release: MIN_RELEASE,
            unknown_release: $crate::unknown_release!($($unknown_release)?),
        };

        /// Where TensorFlow learns of the device.
        ///
        /// # Safety
        /// Called by TensorFlow, with its registration parameters and a live status.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn SE_InitPlugin(
            params: *mut $crate::platform::RegistrationParams,
            status: *mut $crate::platform::RawStatus,
        ) {
            // SAFETY: passed on from TensorFlow as it came.
            unsafe { $crate::platform::register::<$device>(ABOUT, params, status) }
        }

        /// Where TensorFlow learns of the kernels.
        #[unsafe(no_mangle)]
        pub extern "C" fn TF_InitKernel() {
            $crate::kernel::register::<$device>(&ABOUT, || {
                ::std::vec![$($table()),+]
            })
        }

        $(
            /// Where TensorFlow learns of the graph optimizer.
            ///
            /// # Safety
            /// Called by TensorFlow, with its registration parameters and a live status.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn TF_InitGraph(
                params: *mut $crate::optimizer::RegistrationParams,
                status: *mut $crate::platform::RawStatus,
            ) {
                // SAFETY: passed on from TensorFlow as it came.
                unsafe { $crate::optimizer::register::<$optimizer>(ABOUT, params, status) }
            }
        )?

        $(
            /// Where TensorFlow learns of the profiler.
            ///
            /// # Safety
            /// Called by TensorFlow, with its registration parameters and a live status.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn TF_InitProfiler(
                params: *mut $crate::profiler::RegistrationParams,
                status: *mut $crate::platform::RawStatus,
            ) {
                // SAFETY: passed on from TensorFlow as it came.
                unsafe { $crate::profiler::register::<$profiler>(ABOUT, params, status) }
            }
        )?

        /// Writes how often each kernel ran, one line each, as a C string of at most `size` bytes.
        /// Returns the bytes that the whole text needs, its NUL included.
        ///
        /// # Safety
        /// `buffer` is null or writable for `size` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn sp_kernel_calls(
            buffer: *mut ::core::ffi::c_char,
            size: usize,
        ) -> usize {
            // SAFETY: the caller vouches for `buffer`.
            unsafe { $crate::kernel::write_calls(buffer, size) }
        }
    };
}

/// The oldest release that `plugin!` was told, or the first that loads plugins.
#[doc(hidden)]
#[macro_export]
macro_rules! oldest {
    () => {
        $crate::FIRST
    };
    ($release:literal) => {
        $crate::Release::literal($release)
    };
}

/// The [`UnknownRelease`] that `plugin!` names, or the default.
#[doc(hidden)]
#[macro_export]
macro_rules! unknown_release {
    () => {
        $crate::UnknownRelease::ReadHost
    };
    ($choice:ident) => {
        $crate::UnknownRelease::$choice
    };
}
