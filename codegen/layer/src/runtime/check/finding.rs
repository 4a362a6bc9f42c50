//! Findings: one line each on stderr, and in a file that the command counts.

use crate::runtime::log::thread_log;
use crate::runtime::settings::settings;
use crate::runtime::shared::Shared;
use crate::runtime::{report, system};
use std::collections::HashSet;
use std::ffi::CString;

/// A rule of the layer: its id, the rule in one line, the reason and the remedy.
pub type Rule = (&'static str, &'static str, &'static str);

/// The rules that `sp-gen verify` has no check for.
pub const RULES: &[Rule] = &[
    (
        "copy_bounds",
        "a copy or fill stays within one allocation",
        "The range of device memory is not inside a block that allocate has returned and that was not deallocated since. \
         Either the size that allocate stated in SP_DeviceMemoryBase is wrong, or the caller is.",
    ),
    (
        "host_memory_bounds",
        "a copy stays within its host memory",
        "The plugin or its driver has read or written host memory before or behind the `size` bytes of a copy. --guard places them \
         between inaccessible pages. Up to 63 bytes behind them, and those before them in their first page, are accessible: of \
         these only writes are found.",
    ),
    (
        "use_after_destroy",
        "an object is not used after it was destroyed",
        "The stream, event, timer, status, tensor, buffer or builder was destroyed or deleted by an earlier call, or no call has \
         created it. A builder is also consumed by the function that registers it, even if that fails.",
    ),
    (
        "destroyed_twice",
        "an object is destroyed once",
        "The object or block was destroyed or deleted by an earlier call, and nothing has created it since. The second call frees \
         memory that may be another object's.",
    ),
    (
        "status_misuse",
        "a TF_Status is used as the API states",
        "A plugin may not delete a status that core has passed to it, may not report a failure with a status that is OK, and may \
         set only the codes of TF_Code.",
    ),
    (
        "output_not_set",
        "a kernel sets every output, or reports a failure",
        "The kernel has returned without TF_OpKernelContext_Failure, and an output was neither allocated nor set. The next op gets \
         a tensor without memory, and the process ends. The check is not made for kernels that complete later by a callback, and \
         for ops that leave an output dead, such as Switch.",
    ),
    (
        "stream_dependency_missing",
        "two accesses to the same device memory are ordered",
        "A copy, a fill or a kernel writes memory that another one reads or writes on another stream, and neither an event, a \
         stream dependency nor a wait of the host orders the two. A kernel reads the inputs that it gets, and writes the outputs \
         that it allocates, on its stream (`TF_GetStream`). The result depends on the time that they take. TensorFlow 2.12 to 2.22 \
         itself copies so (`memcpy_htod`) when it calls a function for the first time: a constant may be in memory of a freed \
         tensor whose kernel has not run. Such a device lets a copy from the host wait for its other streams.",
    ),
    (
        "host_memory_in_use",
        "host memory is freed after the copies that use it",
        "host_memory_deallocate was called while an enqueued copy may still read or write the memory: the host has not waited for \
         the stream, nor for an event behind the copy.",
    ),
    (
        "concurrent_use",
        "an object is written by one thread at a time, and destroyed when no call uses it",
        "Another thread is in a call with the same object, and one of the two writes or destroys it. Core writes a TF_Status, and a \
         kernel's output and failure. A stream, event, timer, status, tensor, buffer or builder is destroyed. No lock protects these.",
    ),
    (
        "context_after_return",
        "a kernel's context is not used after the kernel has returned",
        "A TF_OpKernelConstruction ends when create_func returns, a TF_OpKernelContext when compute_func returns, or when an \
         asynchronous kernel calls TF_RunAsyncOpKernelDoneCallback. Its memory may be that of another kernel's then. Work that goes \
         on takes what it needs from the context before.",
    ),
    (
        "event_never_complete",
        "a recorded event is complete at some time",
        "The event is pending for 30 seconds after record_event. The work ahead of it hangs, or the plugin has lost the event. \
         SP_LAYER_EVENT_SECONDS sets another time.",
    ),
];

/// Returns the rule for an object that is not live, and that a call destroys or uses.
pub fn dead_object_rule(destroys: bool) -> &'static str {
    match destroys {
        true => "destroyed_twice",
        false => "use_after_destroy",
    }
}

/// Writes a finding about the function `subject`. A finding of the same rule, function and op is written once.
pub fn finding(rule: &'static str, subject: &str, detail: &str) {
    if !settings().validates {
        return;
    }
    static KNOWN: Shared<HashSet<String>> = Shared::new();
    let (op, node) = match thread_log().op() {
        Some(op) => (op.op, op.node.clone()),
        None => ("", String::new()),
    };
    if !KNOWN.with(|known| known.insert(format!("{rule} {subject} {op}"))) {
        return;
    }
    let place = match (op, &*node) {
        ("", _) => String::new(),
        (op, "") => format!(" in {op}"),
        (op, node) => format!(" in {op} \"{node}\""),
    };
    let line = format!("{rule}: {subject}{place}: {detail}");
    report::line(&line);
    if let Some(path) = &settings().findings {
        let file = system::open_append(&CString::new(path.as_str()).unwrap_or_default());
        system::write_all(file, (line + "\n").as_bytes());
        system::close(file);
    }
}
