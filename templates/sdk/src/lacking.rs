//! Ops that have no kernel in this process, and why: the host lacks a function that the plugin's kernels need.
//!
//! That is normal for some releases. One line states the number, when a device is opened; the list has level debug, and
//! `sp_plugin_settings` writes it for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use sp_runtime::Host;

/// The reason why an op has no kernel, and the op.
pub(crate) type Lacking = (String, &'static CStr);

/// All of them in this process. Another host of the process adds the same ones.
static ALL: Mutex<BTreeSet<Lacking>> = Mutex::new(BTreeSet::new());

fn lock() -> MutexGuard<'static, BTreeSet<Lacking>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records ops that have no kernel.
pub(crate) fn add(lacking: &[Lacking]) {
    lock().extend(lacking.iter().cloned());
}

/// Records ops of the plugin that TensorFlow cannot have, and reports them.
pub(crate) fn add_undefined_ops(ops: &[&'static CStr], reason: &str) {
    let lacking: Vec<_> = ops.iter().map(|op| (reason.to_owned(), *op)).collect();
    add(&lacking);
    report(&lacking, "not defined");
}

/// Reports these ops and what becomes of them: a line of level debug for each reason.
pub(crate) fn report(lacking: &[Lacking], consequence: &str) {
    let mut ops: BTreeMap<&str, BTreeSet<&CStr>> = BTreeMap::new();
    for (reason, op) in lacking {
        ops.entry(reason).or_default().insert(op);
    }
    for (reason, ops) in ops {
        let ops: Vec<_> = ops.into_iter().map(CStr::to_string_lossy).collect();
        let ops = ops.join(", ");
        sp_runtime::report!(Debug, "{ops}: {consequence}, since {reason}");
    }
}

/// Reports once how many ops have no kernel, if there are any.
pub(crate) fn report_count() {
    static REPORTED: Once = Once::new();
    let ops: BTreeSet<&CStr> = lock().iter().map(|(_, op)| *op).collect();
    if ops.is_empty() {
        return;
    }
    let (count, host) = (ops.len(), Host::running().name());
    let subject = if count == 1 { "op has" } else { "ops have" };
    REPORTED.call_once(|| {
        // Such ops are normal for a release: TensorFlow's own kernels run.
        sp_runtime::report!(
            Debug,
            "{count} {subject} no kernel in {host}, which lacks functions for it (sp-gen doctor lists them)"
        );
    });
}

/// Returns a line `lacking=OP: REASON` for each op.
pub(crate) fn lines() -> String {
    let mut text = String::new();
    for (reason, op) in lock().iter() {
        // Writing to a String does not fail.
        let _ = writeln!(text, "lacking={}: {reason}", op.to_string_lossy());
    }
    text
}
