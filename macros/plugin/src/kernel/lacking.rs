//! Ops of which the host lacks a function that the plugin's kernels need.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

/// An op without a kernel, after the function of the host that its kernels need.
pub(super) type Lacking = (String, &'static CStr);

/// Reports the ops without a kernel and what becomes of them, a line for each reason.
pub(super) fn report(lacking: &[Lacking], consequence: &str) {
    let mut ops: BTreeMap<&str, BTreeSet<Cow<'_, str>>> = BTreeMap::new();
    for (missing, op) in lacking {
        let of_reason = ops.entry(missing).or_default();
        of_reason.insert(op.to_string_lossy());
    }
    for (missing, ops) in ops {
        let ops: Vec<_> = ops.into_iter().collect();
        let ops = ops.join(", ");
        sp_runtime::report!(Warn, "{ops}: {consequence}, since {missing}");
    }
}
