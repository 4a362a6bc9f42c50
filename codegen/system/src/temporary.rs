//! Temporary files and folders that are also removed on a signal. `tempfile` removes them when they are dropped, but
//! a signal ends the process without dropping anything.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};

static STATE: Mutex<TemporaryState> = Mutex::new(TemporaryState {
    created: BTreeSet::new(),
    delays: 0,
    is_ending: false,
});

/// Notified when the last [`Delay`] is dropped.
static NO_DELAY: Condvar = Condvar::new();

struct TemporaryState {
    /// Paths of all temporary files so far. A path stays in the set after its file is deleted: names are random and
    /// not used again.
    created: BTreeSet<PathBuf>,
    delays: usize,
    /// True once a signal is removing the temporary files; no more may be created.
    is_ending: bool,
}

/// Calls `create` and registers the file or folder that it returns, so that a signal removes it.
///
/// # Errors
/// Returns the error of `create`.
pub fn removed_on_signal<T: AsRef<Path>>(create: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let _delay = delay_signals();
    let temporary = create()?;
    let path = std::path::absolute(&temporary);
    let path = path.unwrap_or_else(|_| temporary.as_ref().to_owned());
    state().created.insert(path);
    Ok(temporary)
}

/// Guard that delays signals while files are written or renamed: no signal ends the process before it is dropped.
#[derive(Debug)]
pub struct Delay(());

/// Returns a guard that delays signals; guards may be nested. Does not return if a signal is already ending the
/// process.
pub fn delay_signals() -> Delay {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch_signals);
    let mut state = state();
    if state.is_ending {
        drop(state);
        loop {
            std::thread::park();
        }
    }
    state.delays += 1;
    Delay(())
}

impl Drop for Delay {
    fn drop(&mut self) {
        state().delays -= 1;
        NO_DELAY.notify_all();
    }
}

/// Starts a thread that handles SIGINT, SIGTERM and SIGHUP: it removes temporary files and calls the registered
/// function. The process still ends by the signal, as a shell expects.
#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_all();
            ON_SIGNAL.get().inspect(|function| function());
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The function that [`call_on_signal`] registered.
static ON_SIGNAL: OnceLock<fn()> = OnceLock::new();

/// Registers a function to call when a signal ends the process, after temporary files are removed. Later calls have no
/// effect.
pub fn call_on_signal(function: fn()) {
    let _ = ON_SIGNAL.set(function);
}

/// Does nothing: only Unix has these signals.
#[cfg(not(unix))]
fn watch_signals() {}

/// Waits until no [`Delay`] exists, then removes all temporary files and blocks the creation of more.
fn remove_all() {
    let state = NO_DELAY.wait_while(state(), |state| state.delays > 0);
    let mut state = state.unwrap_or_else(PoisonError::into_inner);
    state.is_ending = true;
    for path in &state.created {
        let _ = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
    }
}

fn state() -> MutexGuard<'static, TemporaryState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
