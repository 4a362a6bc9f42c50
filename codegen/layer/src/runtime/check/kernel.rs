//! Inputs and outputs of kernels.

use super::arguments::Arguments;
use super::finding::finding;
use super::{memory, order};
use crate::runtime::core;
use crate::runtime::description::Kind;
use crate::runtime::host;
use crate::runtime::log::thread_log;
use crate::runtime::shared::Shared;
use std::collections::{BTreeSet, HashMap};

/// Functions that set an output, and the parameter with its number; "" for the first output.
const SETTING: &[(&str, &str)] = &[
    ("TF_SetOutput", "i"),
    ("TF_AllocateOutput", "index"),
    ("TF_ForwardInputOrAllocateOutput", "output_index"),
    ("TF_GetMutableOutput", "i"),
    (
        "TF_OpKernelContext_ForwardRefInputToRefOutput",
        "output_index",
    ),
    ("TF_AssignRefVariable", "output_ref_index"),
    ("TF_AddNVariant", ""),
    ("TF_ZerosLikeVariant", ""),
    ("TF_TemporaryVariable", ""),
    ("TF_DestroyTemporaryVariable", ""),
];

/// Ops that may leave an output dead.
const MAY_LEAVE_DEAD: [&str; 5] = ["Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge"];

/// State of a running kernel: its uses of its context.
#[derive(Default)]
struct Outputs {
    set: BTreeSet<usize>,
    has_failed: bool,
    /// Its stream, if the device has one.
    stream: Option<u64>,
}

static RUNNING: Shared<HashMap<u64, Outputs>> = Shared::new();

fn is_compute(call: &Arguments<'_>) -> bool {
    call.function.kind == Kind::Callback && call.function.short_name() == "compute_func"
}

/// Returns the number of the output that a function of core sets.
fn set_output(call: &Arguments<'_>) -> Option<usize> {
    let (_, parameter) = SETTING.iter().find(|it| it.0 == call.function.name)?;
    Some(call.get(parameter).unwrap_or(0) as u32 as usize)
}

/// Returns the part of a context that a function of core writes: an output, or the failure.
pub fn set_result(call: &Arguments<'_>) -> Option<(&'static str, u64, u64)> {
    let context = *call.values.first()?;
    match call.function.name {
        "TF_OpKernelContext_Failure" => Some(("failure of TF_OpKernelContext", context, 0)),
        // It returns an output that was set before.
        "TF_GetMutableOutput" => None,
        _ => Some((
            "output of TF_OpKernelContext",
            context,
            set_output(call)? as u64,
        )),
    }
}

/// Notes a kernel that begins.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    if is_compute(call) {
        let outputs = Outputs {
            // SAFETY: the context is live.
            stream: unsafe { core::stream(call.values[1]) },
            ..Outputs::default()
        };
        RUNNING.with(|running| running.insert(call.values[1], outputs));
    }
}

/// Checks the order of a kernel's accesses to a tensor that it has got or set.
///
/// # Safety
/// The arguments are those of a call that has returned `result`.
unsafe fn check_access(call: &Arguments<'_>, result: u64) {
    let (tensor, writes) = match call.function.name {
        // SAFETY: core has stored a tensor, or null.
        "TF_GetInput" => (
            unsafe { (call.values[2] as *const u64).read_unaligned() },
            false,
        ),
        "TF_AllocateOutput" | "TF_ForwardInputOrAllocateOutput" => (result, true),
        _ => return,
    };
    let stream = RUNNING.with(|running| running.get(&call.values[0])?.stream);
    // SAFETY: the status and the tensor are live.
    let view = unsafe {
        match call.is_ok() {
            true => core::view(tensor),
            false => None,
        }
    };
    if let (Some(stream), Some(view)) = (stream, view)
        && view.size > 0
        && memory::is_in_block(view.address, view.size)
    {
        let range = (view.address, view.size);
        order::kernel_access(call.function.name, stream, range, writes);
    }
}

/// Notes an output that a call has set, or checks those of a kernel that has returned.
///
/// # Safety
/// The arguments are those of a call that has returned `result`.
pub unsafe fn after(call: &Arguments<'_>, result: u64) {
    if is_compute(call) {
        // SAFETY: the context lives until the kernel has returned to core.
        unsafe { check(call.values[1]) };
    }
    if call.function.kind != Kind::Host || call.values.is_empty() {
        return;
    }
    if call.function.name == "TF_OpKernelContext_Failure" {
        RUNNING.with(|running| {
            if let Some(outputs) = running.get_mut(&call.values[0]) {
                outputs.has_failed = true;
            }
        });
    }
    // SAFETY: as the caller states.
    unsafe { check_access(call, result) };
    let Some(index) = set_output(call) else {
        return;
    };
    RUNNING.with(|running| {
        if let Some(outputs) = running.get_mut(&call.values[0]) {
            outputs.set.insert(index);
        }
    });
}

/// # Safety
/// `context` is live.
unsafe fn check(context: u64) {
    let Some(outputs) = RUNNING.with(|running| running.remove(&context)) else {
        return;
    };
    let op = thread_log().op().map_or("", |it| it.op);
    if outputs.has_failed || MAY_LEAVE_DEAD.contains(&op) {
        return;
    }
    // SAFETY: as the caller states.
    let count = unsafe { host::output_count(context) }.unwrap_or(0);
    let missing: Vec<String> = (0..count)
        .filter(|it| !outputs.set.contains(it))
        .map(|it| it.to_string())
        .collect();
    if !missing.is_empty() {
        let detail = format!(
            "returned without output {} of {count}, and without a failure",
            missing.join(", ")
        );
        finding("output_not_set", "compute_func", &detail);
    }
}
