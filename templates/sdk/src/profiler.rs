//! Profilers: the author's trait, and its registration with TensorFlow.
//!
//! TensorFlow calls start, stop and collect in this order, once per session, for every device type. The
//! collected data appears in the trace beside TensorFlow's own.

mod declined;
mod device_plane;
mod space;
mod timeline;

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sp_abi::pluggable_profiler::TF_ProfilerRegistrationParams as RegistrationParams;
use sp_abi::pluggable_profiler::{DECLARATIONS, ProfilerFns, TP_Profiler, TP_ProfilerFns};
use sp_runtime::declarations::KnownApi;
use sp_runtime::{PrefixMut, handle};

pub use self::device_plane::DevicePlane;
pub use self::space::{Line, Plane, Space, Stat};
use crate::part::{self, Part, PartStructs, StructField};
use crate::plugin_info::PluginInfo;
use crate::{Error, Result};

/// A profiler. A process has one, and its sessions do not overlap.
pub trait Profiler: Default + Send + 'static {
    /// The planes of the devices, as [`Recording::to_space`](crate::trace::Recording::to_space) names them.
    const PLANE: DevicePlane = DevicePlane::Gpu;

    /// Starts recording.
    ///
    /// # Errors
    /// Returns an error if recording cannot start. The SDK prints it, since TensorFlow discards it; the session continues without
    /// this profiler.
    fn start(&mut self) -> Result<()>;

    /// Stops recording.
    ///
    /// # Errors
    /// Returns an error if recording cannot stop. The SDK prints it, since TensorFlow discards it.
    fn stop(&mut self) -> Result<()>;

    /// Returns the data recorded since the start. TensorFlow calls it once per session, also if recording
    /// was never started; then the result is empty.
    ///
    /// # Errors
    /// Returns an error if there is no valid data. The SDK prints it, since TensorFlow discards it; the session has no data of
    /// this profiler.
    fn collect(&mut self) -> Result<Space>;
}

/// The profiler of a plugin.
#[doc(hidden)]
pub struct ProfilerPart<P>(PhantomData<P>);

// SAFETY: these are the parameters of `TF_InitProfiler`.
unsafe impl<P: Profiler> Part for ProfilerPart<P> {
    const NAME: &'static str = "profiler";
    const ENTRY_POINT: &'static str = "TF_InitProfiler";
    const API: &'static KnownApi = &DECLARATIONS;
    type Params = RegistrationParams;
    type First = TP_Profiler;
    type Second = TP_ProfilerFns;
    const FIRST: StructField<RegistrationParams, TP_Profiler> =
        (RegistrationParams::profiler, "profiler");
    const SECOND: StructField<RegistrationParams, TP_ProfilerFns> =
        (RegistrationParams::profiler_fns, "profiler_fns");

    fn accept(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) -> Result<()> {
        device_plane::set_device_type(info.device_type);
        structs.params.set_struct_size();
        set_destructors(&mut structs.params);
        let profiler = &mut structs.first;
        profiler.set_struct_size();
        profiler.set(TP_Profiler::device_type, info.device_type.as_ptr());
        profiler.set(TP_Profiler::ext, Session::<P>::create());
        TP_ProfilerFns::fill::<Session<P>>(&mut structs.second);
        Ok(())
    }

    /// Registers a profiler that returns an empty profile.
    fn decline(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) {
        set_destructors(&mut structs.params.fixed_fields());
        let mut profiler = structs.first.fixed_fields();
        profiler.set(TP_Profiler::device_type, info.device_type.as_ptr());
        // SAFETY: `TP_ProfilerFns` consists of functions after its first two fields. `declined::fill` replaces
        // those that TensorFlow calls.
        unsafe { part::fill_with_stubs(&mut structs.second) };
        declined::fill(&mut structs.second.fixed_fields());
    }
}

fn set_destructors(params: &mut PrefixMut<'_, RegistrationParams>) {
    params.set(RegistrationParams::destroy_profiler, Some(destroy_profiler));
    params.set(
        RegistrationParams::destroy_profiler_fns,
        Some(destroy_profiler_fns),
    );
}

// Both do nothing: TensorFlow calls them while it still loads the plugin, and uses its copies of the structs later.
unsafe extern "C" fn destroy_profiler(_: *mut TP_Profiler) {}
unsafe extern "C" fn destroy_profiler_fns(_: *mut TP_ProfilerFns) {}

/// The author's profiler, and the data that it has collected. TensorFlow requests the size and then the
/// bytes; the data is stored between these two calls.
#[derive(Default)]
struct Session<P>(Mutex<State<P>>);

#[derive(Default)]
struct State<P> {
    profiler: P,
    collected: Option<Vec<u8>>,
}

/// The profilers that TensorFlow has: leak-exempt allocations, held for the life of the process. TensorFlow
/// calls the destructor for one copy of its struct and goes on to use another, so a profiler is never freed.
/// References in a static make them reachable for a leak checker.
static SESSIONS: Mutex<Vec<&(dyn Any + Send + Sync)>> = Mutex::new(Vec::new());

impl<P: Profiler> Session<P> {
    /// Creates a session and returns its address.
    fn create() -> *mut c_void {
        let handle = handle::into_raw(Self::default());
        // SAFETY: `into_raw` has returned the handle, and nobody takes the value back.
        let session: &'static Self = unsafe { handle::borrow(handle) };
        let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(session);
        handle
    }

    fn state(&self) -> MutexGuard<'_, State<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Profiler> State<P> {
    /// Returns the collected data. Calls the author's `collect` on the first use in a session only.
    fn collected(&mut self) -> Result<&[u8]> {
        if self.collected.is_none() {
            let space = reported("collect", self.profiler.collect())?;
            self.collected = Some(space.to_bytes());
        }
        Ok(self.collected.as_deref().unwrap_or_default())
    }
}

/// Prints the error of an author's method, since TensorFlow discards it.
fn reported<T>(method: &str, result: Result<T>) -> Result<T> {
    if let Err(error) = &result {
        sp_runtime::report!(Warn, "`{method}` of the profiler: {error}");
    }
    result
}

impl<P: Profiler> ProfilerFns for Session<P> {
    fn start(&self) -> Result<()> {
        let mut state = self.state();
        state.collected = None;
        reported("start", state.profiler.start())
    }

    fn stop(&self) -> Result<()> {
        reported("stop", self.state().profiler.stop())
    }

    unsafe fn collect_data_xspace(&self, buffer: *mut u8, size: *mut usize) -> Result<()> {
        let mut state = self.state();
        if buffer.is_null() {
            // TensorFlow has not initialized the size, and reads it also after an error.
            // SAFETY: `size` is TensorFlow's output parameter, writable during the call.
            unsafe { size.write(0) };
            let len = state.collected()?.len();
            // SAFETY: `size` is TensorFlow's output parameter, writable during the call.
            unsafe { size.write(len) };
            if len == 0 {
                state.collected = None;
            }
            return Ok(());
        }
        let bytes = state.collected()?;
        // SAFETY: `size` is readable during the call: TensorFlow passes the size of its buffer in it.
        let capacity = unsafe { size.read() };
        if capacity < bytes.len() {
            let message = format!(
                "the profile is {} bytes, but TensorFlow's buffer is {capacity} bytes",
                bytes.len()
            );
            return Err(Error::invalid_argument(message));
        }
        // SAFETY: `buffer` is not null and writable for `capacity` bytes, which are enough. It is TensorFlow's
        // memory, so it does not overlap with `bytes`.
        unsafe { buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        state.collected = None;
        Ok(())
    }
}
