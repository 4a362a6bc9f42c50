//! A profiler: what an author writes, and how TensorFlow learns of it.
//!
//! TensorFlow starts, stops and collects, once a session and in this order, whatever the device's
//! type; what is collected stands beside what TensorFlow has recorded itself.

mod declined;
mod space;

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use sp_abi::pluggable_profiler::TF_ProfilerRegistrationParams as RegistrationParams;
use sp_abi::pluggable_profiler::{DECLARED, ProfilerFns, TP_Profiler, TP_ProfilerFns};
use sp_runtime::declared::Api;
use sp_runtime::host::Clue;
use sp_runtime::{PrefixMut, RawStatus, guard};

pub use self::space::{Line, Plane, Space};
use crate::part::{self, Offer};
use crate::platform::{About, present};
use crate::{Error, Result};

/// A profiler. There is one for the process; sessions come one after the other.
pub trait Profiler: Default + Send + 'static {
    /// Begins to record.
    ///
    /// # Errors
    /// TensorFlow logs the error, and the session goes on without this profiler.
    fn start(&mut self) -> Result<()>;

    /// Ends recording.
    ///
    /// # Errors
    /// TensorFlow logs the error.
    fn stop(&mut self) -> Result<()>;

    /// What was recorded since it was started. Asked once a session, and also where there was none:
    /// then there is nothing.
    ///
    /// # Errors
    /// TensorFlow logs the error, and the session has nothing of this profiler's.
    fn collect(&mut self) -> Result<Space>;
}

/// Registers `P`: the body of `TF_InitProfiler`.
///
/// # Safety
/// `params` and `status` are what TensorFlow passed to `TF_InitProfiler`.
pub unsafe fn register<P: Profiler>(
    about: About,
    params: *mut RegistrationParams,
    status: *mut RawStatus,
) {
    // SAFETY: TensorFlow sets struct_size before the call and lends the structs for it.
    let offer = || unsafe { Handed::<P>::of(params) };
    // SAFETY: the status is TensorFlow's own.
    unsafe { guard::status("TF_InitProfiler", status, || part::register(&about, offer)) }
}

/// What TensorFlow hands to `TF_InitProfiler`: three structs of its own to fill in.
struct Handed<'a, P> {
    params: PrefixMut<'a, RegistrationParams>,
    profiler: PrefixMut<'a, TP_Profiler>,
    fns: PrefixMut<'a, TP_ProfilerFns>,
    of: PhantomData<P>,
}

impl<P> Handed<'_, P> {
    /// # Safety
    /// `params` is what TensorFlow passed, lent for the value's life.
    unsafe fn of(params: *mut RegistrationParams) -> Result<Self> {
        // SAFETY: the caller vouches for it.
        let mut params = unsafe { PrefixMut::new(params) };
        let fixed = params.fixed();
        let profiler = present(fixed.get(RegistrationParams::profiler), "profiler")?;
        let fns = present(fixed.get(RegistrationParams::profiler_fns), "profiler_fns")?;
        // SAFETY: TensorFlow lends both for the call, with their struct_size set.
        let (profiler, fns) = unsafe { (PrefixMut::new(profiler), PrefixMut::new(fns)) };
        Ok(Self {
            params,
            profiler,
            fns,
            of: PhantomData,
        })
    }
}

impl<P: Profiler> Offer for Handed<'_, P> {
    const PART: &'static str = "profiler";
    const API: &'static Api = &DECLARED;

    fn clues(&self) -> [Clue; 3] {
        [
            self.params.releases(),
            self.profiler.releases(),
            self.fns.releases(),
        ]
    }

    fn accept(&mut self, about: &About) -> Result<()> {
        self.params.announce();
        hold(&mut self.params);
        self.profiler.announce();
        let name = about.device_type.as_ptr();
        self.profiler.set(TP_Profiler::device_type, name);
        self.profiler.set(TP_Profiler::ext, Session::<P>::begin());
        TP_ProfilerFns::fill::<Session<P>>(&mut self.fns);
        Ok(())
    }

    /// An empty profile.
    fn decline(&mut self, about: &About) {
        hold(&mut self.params.fixed());
        let name = about.device_type.as_ptr();
        self.profiler.fixed().set(TP_Profiler::device_type, name);
        // SAFETY: a table of functions; those that a session calls are replaced below.
        unsafe { part::fill_with_stubs(&mut self.fns) };
        declined::fill(&mut self.fns.fixed());
    }
}

fn hold(params: &mut PrefixMut<'_, RegistrationParams>) {
    params.set(RegistrationParams::destroy_profiler, Some(keep_profiler));
    params.set(
        RegistrationParams::destroy_profiler_fns,
        Some(keep_profiler_fns),
    );
}

// TensorFlow calls both while it still loads the plugin, for copies that it drops.
unsafe extern "C" fn keep_profiler(_: *mut TP_Profiler) {}
unsafe extern "C" fn keep_profiler_fns(_: *mut TP_ProfilerFns) {}

/// The author's profiler, and what it has collected between TensorFlow's question for the size and
/// the one for the bytes.
#[derive(Default)]
struct Session<P>(Mutex<State<P>>);

#[derive(Default)]
struct State<P> {
    profiler: P,
    collected: Option<Vec<u8>>,
}

/// The profilers that TensorFlow has. They never end: it says that copies of its struct do, and uses
/// others. Kept here, so that a leak checker sees that they are no leak.
static BEGUN: Mutex<Vec<&(dyn Any + Send + Sync)>> = Mutex::new(Vec::new());

impl<P: Profiler> Session<P> {
    /// A new one, as a handle.
    fn begin() -> *mut c_void {
        let session: &'static Self = Box::leak(Box::default());
        let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        begun.push(session);
        ptr::from_ref(session).cast_mut().cast()
    }

    fn state(&self) -> MutexGuard<'_, State<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Profiler> State<P> {
    /// What is collected: asked of the author once for both questions.
    fn collected(&mut self) -> Result<&[u8]> {
        if self.collected.is_none() {
            self.collected = Some(self.profiler.collect()?.to_bytes());
        }
        Ok(self.collected.as_deref().unwrap_or_default())
    }
}

impl<P: Profiler> ProfilerFns for Session<P> {
    fn start(&self) -> Result<()> {
        let mut state = self.state();
        state.collected = None;
        state.profiler.start()
    }

    fn stop(&self) -> Result<()> {
        self.state().profiler.stop()
    }

    unsafe fn collect_data_xspace(&self, buffer: *mut u8, size: *mut usize) -> Result<()> {
        let mut state = self.state();
        if buffer.is_null() {
            // TensorFlow goes by the size whatever the status says, and has not set it.
            // SAFETY: TensorFlow lends a place for the size.
            unsafe { size.write(0) };
            let len = state.collected()?.len();
            // SAFETY: as above.
            unsafe { size.write(len) };
            if len == 0 {
                state.collected = None;
            }
            return Ok(());
        }
        let bytes = state.collected()?;
        // SAFETY: TensorFlow says how large its buffer is.
        let room = unsafe { size.read() };
        if room < bytes.len() {
            let message = format!("{room} bytes are no room for a profile of {}", bytes.len());
            return Err(Error::invalid_argument(message));
        }
        // SAFETY: the buffer has room for as many.
        unsafe { buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        state.collected = None;
        Ok(())
    }
}
