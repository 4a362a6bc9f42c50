//! The registered kernels: what passes of the optimizer and reports ask for.

use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::sync::{PoisonError, RwLock};

use sp_abi::tf_datatype::TF_DataType; // since 2.6
use sp_graph::{TypeNumber, is_earlier}; // since 2.6

use crate::c_string;
use crate::kernel::definition::Kernel;
use crate::kernel::spec::Constraint;

/// The registered kernels in the order of the tables, each with the position of its table. Written while the plugin is loaded only, so a child that is
/// forked while another thread reads can read.
static REGISTERED: RwLock<Vec<(&'static Kernel, usize)>> = RwLock::new(Vec::new());

/// Adds a kernel of a table to the report. A kernel that is registered for a second host is there already.
pub(super) fn add(kernel: &'static Kernel, table: usize) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if !registered.iter().any(|it| std::ptr::eq(it.0, kernel)) {
        // The label is formatted here, so that no call allocates it.
        kernel.label();
        registered.push((kernel, table));
    }
}

// since 2.6
/// Returns true if the plugin has a kernel for nodes of this op, whose type attributes have these names and values.
pub(crate) fn is_registered(op: &str, types: &[(&str, TypeNumber)]) -> bool {
    let has_type = |it: &Constraint| {
        let mut types = types.iter();
        types.any(|(name, dtype)| {
            it.attribute.to_bytes() == name.as_bytes() && it.dtype.0 == dtype.0
        })
    };
    find_table(op, has_type).is_some()
}

// since 2.6
/// Returns the position of the first table with a kernel of this op for nodes whose attribute `T` is this type.
pub(crate) fn first_table(op: &str, dtype: TF_DataType) -> Option<usize> {
    find_table(op, |it| it.attribute != c"T" || it.dtype == dtype)
}

// since 2.6
/// Returns true if the plugin has a kernel of this op with a label, and none without one in an earlier table.
pub(crate) fn may_select(op: &str, label: &CStr) -> bool {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let is_labelled = |kernel: &Kernel| {
        kernel.op().to_bytes() == op.as_bytes() && kernel.spec.options.label == Some(label)
    };
    let labelled = registered.iter().filter(|(kernel, _)| is_labelled(kernel));
    let table = labelled.map(|(_, table)| *table).min();
    drop(registered);
    table.is_some() && !is_earlier(find_table(op, |_| true), table)
}

// since 2.6
/// Returns the position of the first table with a kernel of this op, without a label, whose constraints all match.
fn find_table(op: &str, matches: impl Fn(&Constraint) -> bool) -> Option<usize> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let serves = |kernel: &Kernel| {
        kernel.op().to_bytes() == op.as_bytes()
            && kernel.spec.options.label.is_none()
            && kernel.spec.running_constraints().all(&matches)
    };
    let serving = registered.iter().filter(|(kernel, _)| serves(kernel));
    serving.map(|(_, table)| *table).min()
}

/// Returns one line for each registered kernel: op and types, `calls=N`, and of these the calls with staging copies,
/// their bytes and time: `staged=N staged_bytes=N staged_us=N`, then the crate that has the kernel: `owner=NAME`. One of which calls
/// have run behind has their number: `behind=N`. One of which calls were compared with the reference kernel has their number, and
/// that of those that differ: `compared=N different=N`.
fn report() -> String {
    let mut text = String::new();
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    for (kernel, _) in registered.iter() {
        let [all, staged, bytes, nanoseconds, behind, compared, different] =
            kernel.spec.counts.load();
        let (label, time) = (kernel.label(), nanoseconds / 1000);
        let owner = kernel.spec.options.owner;
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "{label} calls={all} staged={staged} staged_bytes={bytes} staged_us={time} owner={owner}"
        );
        if behind > 0 {
            let _ = write!(text, " behind={behind}");
        }
        if compared > 0 {
            let _ = write!(text, " compared={compared} different={different}");
        }
        text.push('\n');
    }
    text
}

/// Writes the report as a C string, cut to `size` bytes; returns the bytes that all of it needs.
///
/// # Safety
/// `buffer` is null or writable for `size` bytes.
pub unsafe fn write_calls(buffer: *mut c_char, size: usize) -> usize {
    // SAFETY: the obligation is the same.
    unsafe { c_string::write(&report(), buffer, size) }
}
