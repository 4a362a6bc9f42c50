//! Temporary files and folders, which a signal removes too: `tempfile` removes them when they are dropped, but a
//! signal ends the process without dropping anything.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use tempfile::{NamedTempFile, TempDir};

static STATE: Mutex<State> = Mutex::new(State {
    made: BTreeSet::new(),
    delays: 0,
    is_ending: false,
});

/// Notified when the last [`Delay`] is dropped.
static NO_DELAY: Condvar = Condvar::new();

struct State {
    /// Everything made so far. A path stays after its file is gone: the names are random and not used again.
    made: BTreeSet<PathBuf>,
    delays: usize,
    /// True once temporary files are being removed; no more may be made.
    is_ending: bool,
}

/// A file or folder that removes itself when it is dropped.
pub trait Temporary {
    /// Its path.
    fn place(&self) -> &Path;
}

impl Temporary for TempDir {
    fn place(&self) -> &Path {
        self.path()
    }
}

impl Temporary for NamedTempFile {
    fn place(&self) -> &Path {
        self.path()
    }
}

/// Calls `make`, and returns what it made, which a signal now removes too.
///
/// # Errors
/// As `make`.
pub fn removed_on_signal<T: Temporary>(make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let _delay = delay_signals();
    let made = make()?;
    let path = std::path::absolute(made.place());
    let path = path.unwrap_or_else(|_| made.place().to_owned());
    state().made.insert(path);
    Ok(made)
}

/// A file to be renamed into its place. Temporary files are private by default; these are for everybody.
pub fn staged_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    removed_on_signal(|| builder.tempfile_in(folder))
}

/// As long as one is held, no signal ends the process: files are being written or exchanged.
#[derive(Debug)]
pub struct Delay(());

/// Returns the guard; guards may be nested. Does not return if a signal is ending the process.
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

/// From now on SIGINT, SIGTERM and SIGHUP remove temporary files and call the registered function before they end the
/// process. They still end it by the signal, as a shell expects.
#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_all();
            before_exit();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The function of [`call_on_signal`].
static ON_SIGNAL: OnceLock<fn()> = OnceLock::new();

/// Registers a function to call when a signal ends the process, after temporary files are removed. The first one stays.
pub fn call_on_signal(function: fn()) {
    let _ = ON_SIGNAL.set(function);
}

#[cfg(unix)]
fn before_exit() {
    if let Some(function) = ON_SIGNAL.get() {
        function();
    }
}

/// Signals are those of Unix.
#[cfg(not(unix))]
fn watch_signals() {}

/// Waits until nothing is being written, then removes everything and lets nothing more be made.
fn remove_all() {
    let state = NO_DELAY.wait_while(state(), |state| state.delays > 0);
    let mut state = state.unwrap_or_else(PoisonError::into_inner);
    state.is_ending = true;
    for path in &state.made {
        let _ = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
