//! Counts of the calls of each kernel. TensorFlow's placement log names the device also where core's own kernels run,
//! so these counts show that the plugin has computed.

use std::ffi::{CStr, CString, c_char};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use super::spec::{Constraint, Kernel};

/// The counts of a kernel.
pub(super) struct Calls {
    label: OnceLock<String>,
    all: AtomicU64,
    staged: AtomicU64,
}

impl Calls {
    pub const fn new() -> Self {
        Self {
            label: OnceLock::new(),
            all: AtomicU64::new(0),
            staged: AtomicU64::new(0),
        }
    }

    /// Returns the op and the types. The first call formats them.
    pub fn label(&self, op: &CStr, constraints: &[Constraint]) -> &str {
        self.label.get_or_init(|| format_label(op, constraints))
    }

    /// Counts one call of `kernel`.
    pub fn count(&self, kernel: &Kernel, is_staged: bool) {
        self.all.fetch_add(1, Ordering::Relaxed);
        if is_staged && self.staged.fetch_add(1, Ordering::Relaxed) == 0 {
            let label = kernel.label();
            sp_runtime::report!(
                Info,
                "{label} runs on the host through copies of device memory"
            );
        }
    }
}

fn format_label(op: &CStr, constraints: &[Constraint]) -> String {
    let mut text = op.to_string_lossy().into_owned();
    for it in constraints {
        // Writing to a String does not fail.
        let _ = write!(text, " {}={:?}", it.attribute.to_string_lossy(), it.dtype);
    }
    text
}

/// The registered kernels, in the order of the tables. Written while the plugin is loaded only, so a child that is
/// forked while another thread reads can read.
static REGISTERED: RwLock<Vec<&'static Kernel>> = RwLock::new(Vec::new());

/// Adds a kernel to the report. A kernel that is registered for a second host is there already.
pub(super) fn add(kernel: &'static Kernel) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if !registered.iter().any(|it| std::ptr::eq(*it, kernel)) {
        // The label is formatted here, so that no call allocates it.
        kernel.label();
        registered.push(kernel);
    }
}

/// Returns one line for each registered kernel: op and types, `calls=N`, `staged=N`.
pub fn report() -> String {
    let mut text = String::new();
    for kernel in REGISTERED
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        let [all, staged] =
            [&kernel.calls.all, &kernel.calls.staged].map(|it| it.load(Ordering::Relaxed));
        // Writing to a String does not fail.
        let _ = writeln!(text, "{} calls={all} staged={staged}", kernel.label());
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
        let written = bytes.len().min(size) - 1;
        // SAFETY: the caller guarantees `size` bytes, and `written + 1` is at most that.
        unsafe {
            buffer
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), written);
            buffer.add(written).write(0);
        }
    }
    bytes.len()
}
