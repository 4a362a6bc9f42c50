//! Counts of the calls of each kernel. TensorFlow's placement log names the device also where core's own kernels run,
//! so these counts show that the plugin has computed.

use std::ffi::CStr;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

use super::{Constraint, KernelSpec};
use crate::access::Copies;

/// The counts of a kernel.
pub struct CallCounts {
    label: OnceLock<String>,
    all: AtomicU64,
    staged: AtomicU64,
    staged_bytes: AtomicU64,
    staged_nanoseconds: AtomicU64,
    behind: AtomicU64,
    compared: AtomicU64,
    different: AtomicU64,
}

impl CallCounts {
    pub const fn new() -> Self {
        Self {
            label: OnceLock::new(),
            all: AtomicU64::new(0),
            staged: AtomicU64::new(0),
            staged_bytes: AtomicU64::new(0),
            staged_nanoseconds: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            compared: AtomicU64::new(0),
            different: AtomicU64::new(0),
        }
    }

    /// Returns the op and the types. The first call formats them.
    pub fn label(&self, op: &CStr, constraints: &[Constraint], label: Option<&CStr>) -> &str {
        let format = || format_label(op, constraints, label);
        self.label.get_or_init(format)
    }

    /// Counts one call of the kernel with its staging copies, if it has any.
    #[inline]
    pub fn count(&self, kernel: &KernelSpec, copies: Option<Copies>) {
        self.all.fetch_add(1, Ordering::Relaxed);
        if let Some(copies) = copies.filter(|it| it.bytes > 0) {
            self.count_staged(kernel, copies);
        }
    }

    /// Counts a call that has ended before the kernel computes.
    pub fn count_behind(&self) {
        self.behind.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if the results of an earlier call have differed from the reference kernel's.
    pub fn has_difference(&self) -> bool {
        self.different.load(Ordering::Relaxed) > 0
    }

    /// Counts a call that was compared with the reference kernel.
    pub fn count_compared(&self, is_different: bool) {
        self.compared.fetch_add(1, Ordering::Relaxed);
        self.different
            .fetch_add(is_different.into(), Ordering::Relaxed);
    }

    /// Returns the numbers of all calls, of those with staging copies, their bytes and nanoseconds, of those that have run behind, and
    /// of those that were compared and that differ.
    pub fn load(&self) -> [u64; 7] {
        [
            &self.all,
            &self.staged,
            &self.staged_bytes,
            &self.staged_nanoseconds,
            &self.behind,
            &self.compared,
            &self.different,
        ]
        .map(|it| it.load(Ordering::Relaxed))
    }

    #[cold]
    fn count_staged(&self, kernel: &KernelSpec, copies: Copies) {
        self.staged_bytes.fetch_add(copies.bytes, Ordering::Relaxed);
        let nanoseconds = u64::try_from(copies.time.as_nanos()).unwrap_or(u64::MAX);
        self.staged_nanoseconds
            .fetch_add(nanoseconds, Ordering::Relaxed);
        if self.staged.fetch_add(1, Ordering::Relaxed) == 0 {
            report_staged(kernel.label());
        }
    }
}

/// Reports the first call of a kernel with staging copies: to the user that there are such kernels, and each at level debug.
fn report_staged(label: &str) {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        sp_runtime::report!(
            Info,
            "kernels run on the host through copies of device memory (SP_LOG=debug lists them), the first is {label}"
        );
    });
    sp_runtime::report!(
        Debug,
        "{label} runs on the host through copies of device memory"
    );
}

fn format_label(op: &CStr, constraints: &[Constraint], label: Option<&CStr>) -> String {
    let mut text = op.to_string_lossy().into_owned();
    for it in constraints {
        // Writing to a String does not fail.
        let _ = write!(text, " {}={:?}", it.attribute.to_string_lossy(), it.dtype);
    }
    if let Some(label) = label {
        let _ = write!(text, " label={}", label.to_string_lossy());
    }
    text
}
