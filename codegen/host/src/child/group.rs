//! Process groups of running children, killed with them and when the parent is ended by a signal.

use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

/// Groups of running children; 0 is a free entry.
static GROUPS: [AtomicI32; 512] = [const { AtomicI32::new(0) }; 512];

/// Signals that end this process, such as SIGINT of Ctrl-C. Children have their own sessions, so the terminal
/// does not send it to them.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

static INSTALL: Once = Once::new();

/// The group of a child that leads a session.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    number: i32,
    place: Option<usize>,
}

impl ProcessGroup {
    /// Registers the group that this child leads.
    pub fn new(child: u32) -> Self {
        INSTALL.call_once(install);
        let number = i32::try_from(child).expect("a process number");
        let place = GROUPS.iter().position(|group| {
            let taken = group.compare_exchange(0, number, Ordering::AcqRel, Ordering::Relaxed);
            taken.is_ok()
        });
        Self { number, place }
    }

    /// Kills all processes of the group. The child must not have been waited for: until then its
    /// number is not reused.
    pub fn kill(&self) {
        kill(self.number);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            GROUPS[place].store(0, Ordering::Release);
        }
    }
}

fn kill(group: i32) {
    // SAFETY: kill takes two numbers. A group that no longer exists is an error without effect.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Ends the children with this process. A signal that this process ignores or handles stays as it is.
fn install() {
    for signal in SIGNALS {
        // SAFETY: all-zero bytes are a valid `sigaction`: no flags and an empty mask.
        let (mut old, mut new): (libc::sigaction, libc::sigaction) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        new.sa_sigaction = on_signal as *const () as usize;
        new.sa_flags = libc::SA_RESETHAND;
        // SAFETY: both actions are live local variables, and the handler calls async-signal-safe functions only.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_DFL {
                libc::sigaction(signal, &raw const new, std::ptr::null_mut());
            }
        }
    }
}

/// Kills the groups of all running children. For a program that handles the signals itself, which keeps this module
/// from handling them.
pub fn kill_children() {
    for group in &GROUPS {
        match group.load(Ordering::Acquire) {
            0 => {}
            number => kill(number),
        }
    }
}

/// Kills the groups; then the signal's default action, which `SA_RESETHAND` has restored.
extern "C" fn on_signal(signal: libc::c_int) {
    kill_children();
    // SAFETY: raise takes a number. The signal is blocked until the handler returns, and then ends the process.
    unsafe { libc::raise(signal) };
}
