//! How often each kernel ran. TensorFlow's placement log names the device also where core's own
//! kernels serve, so this count is what tells whether the plugin computed.

use std::any::TypeId;
use std::ffi::{CString, c_char};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::host_argument::HostArguments;

/// One registered kernel: its host arguments, and the counts of its calls.
pub struct Calls {
    label: String,
    host: HostArguments,
    ran: AtomicU64,
    staged: AtomicU64,
}

impl Calls {
    /// The op and its types.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The arguments that it was registered to have in host memory.
    pub fn host(&self) -> &HostArguments {
        &self.host
    }

    /// Counts one call.
    pub fn count(&self, staged: bool) {
        self.ran.fetch_add(1, Ordering::Relaxed);
        if staged && self.staged.fetch_add(1, Ordering::Relaxed) == 0 {
            sp_runtime::report!(
                Info,
                "{} runs on the host through copies of device memory",
                self.label
            );
        }
    }
}

/// Written while the plugin is loaded only. A child that is forked while another thread reads can read.
static TABLE: RwLock<Vec<(TypeId, &'static Calls)>> = RwLock::new(Vec::new());

fn table() -> RwLockReadGuard<'static, Vec<(TypeId, &'static Calls)>> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to count the kernel with this type. It is registered once in a process's life.
pub fn begin(kernel: TypeId, label: String, host: HostArguments) {
    let calls = Calls {
        label,
        host,
        ran: AtomicU64::new(0),
        staged: AtomicU64::new(0),
    };
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.push((kernel, Box::leak(Box::new(calls))));
}

/// The counts of the kernel with this type.
pub fn of(kernel: TypeId) -> Option<&'static Calls> {
    table()
        .iter()
        .find(|(id, _)| *id == kernel)
        .map(|(_, calls)| *calls)
}

/// One line for each registered kernel, in the table's order: op and types, `calls=N`, `staged=N`.
pub fn report() -> String {
    let mut text = String::new();
    for (_, calls) in table().iter() {
        let (ran, staged) = (
            calls.ran.load(Ordering::Relaxed),
            calls.staged.load(Ordering::Relaxed),
        );
        // Writing to a String does not fail.
        let _ = writeln!(text, "{} calls={ran} staged={staged}", calls.label);
    }
    text
}

/// Writes [`report`] as a C string, cut to `size` bytes; returns the bytes that all of it needs.
///
/// # Safety
/// `buffer` is null or writable for `size` bytes.
pub unsafe fn write_calls(buffer: *mut c_char, size: usize) -> usize {
    let text = CString::new(report()).unwrap_or_default();
    let bytes = text.as_bytes_with_nul();
    if !buffer.is_null() && size > 0 {
        let kept = bytes.len().min(size) - 1;
        // SAFETY: `kept + 1` is at most `size`, for which the caller vouches.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), kept);
            buffer.add(kept).write(0);
        }
    }
    bytes.len()
}
