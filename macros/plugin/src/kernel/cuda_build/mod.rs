//! A device of type GPU in a build of TensorFlow with CUDA (the package `tensorflow`): no kernel of core for CUDA may run on it.
//!
//! Such a build has kernels of type GPU for about 700 ops. Each of these ops gets a kernel of a priority above core's:
//!
//! - if no argument is a resource or a reference, one that runs core's kernel for the CPU: TensorFlow copies the arguments to
//!   the host, and the results to the device;
//! - else an error that names the op, since only core can use what the argument refers to.
//!
//! The plugin's own kernels have a higher priority still.
//!
//! Core's kernels stay for the ops that run on the host whatever the device is, `HOST_OPS`. A library that registers
//! kernels for CUDA after the first device was opened is not covered.

mod eager;
mod fallback;
mod registry;

use std::ffi::{CStr, CString};

use registry::Op;

use super::rejected;
use crate::{Error, Result, settings};

/// The priority above core's kernels, which is 0 or 1, and below the errors that name a remedy and the plugin's own kernels.
const PRIORITY: i32 = 100;

/// Ops whose kernels of type GPU run no code for CUDA: they handle control flow, functions, iterators, lists of tensors, or
/// pass tensors on, and let the device copy.
///
/// - `AssignVariableOp` copies by CUDA only the variables that a sparse kernel of core has changed, and these are replaced.
/// - The collective ops add by other kernels; the plugin's optimizer keeps them from NCCL.
/// - `XlaLaunch` and its kind are of functions that ask for XLA: the optimizer and functions.py change the request.
/// - `DataServiceDatasetV4` is placed on the CPU by placement.py.
const HOST_OPS: &[&str] = &[
    "AnonymousIterator",
    "AnonymousIteratorV2",
    "AnonymousIteratorV3",
    "AssignVariableOp",
    "BatchFunction",
    "CheckPinned",
    "CollectiveAllToAllV3",
    "CollectiveGather",
    "CollectiveInitializeCommunicator",
    "CollectiveReduce",
    "CollectiveReduceV3",
    "Const",
    "DataServiceDatasetV4",
    "DebugGradientIdentity",
    "DeleteIterator",
    "DeserializeSparse",
    "DestroyTemporaryVariable",
    "DummyIterationCounter",
    "EmptyTensorList",
    "Enter",
    "Exit",
    "ExperimentalMapDataset",
    "ExperimentalSleepDataset",
    "Fact",
    "FinalizeDataset",
    "GeneratorDataset",
    "GetOptions",
    "Identity",
    "IsTensorFloat32Enabled",
    "IsVariableInitialized",
    "IteratorFromStringHandleV2",
    "IteratorGetNext",
    "IteratorGetNextAsOptional",
    "IteratorGetNextSync",
    "IteratorToStringHandle",
    "IteratorV2",
    "MakeIterator",
    "Merge",
    "NextIteration",
    "OptionalFromValue",
    "OptionalGetValue",
    "OptionalHasValue",
    "OptionalNone",
    "OptionsDataset",
    "PlaceholderWithDefault",
    "PrefetchDataset",
    "PreventGradient",
    "RaggedTensorFromVariant",
    "RefEnter",
    "RefExit",
    "RefIdentity",
    "RefMerge",
    "RefNextIteration",
    "RefSwitch",
    "SleepDataset",
    "SleepOp",
    "StopGradient",
    "Switch",
    "SyncDevice",
    "TemporaryVariable",
    "TensorArrayClose",
    "TensorArrayCloseV2",
    "TensorArrayCloseV3",
    "TensorArrayGrad",
    "TensorArrayGradV2",
    "TensorArrayGradV3",
    "TensorArrayGradWithShape",
    "TensorArraySize",
    "TensorArraySizeV2",
    "TensorArraySizeV3",
    "TensorListConcatLists",
    "TensorListElementShape",
    "TensorListLength",
    "TensorListPushBack",
    "TensorListReserve",
    "TensorListResize",
    "TensorListSetItem",
    "UnwrapDatasetVariant",
    "Variable",
    "VariableV2",
    "WrapDatasetVariant",
    "XlaLaunch",
    "_CopyFromGpuToHost",
    "_CopyFromHostToGpu",
    "_EagerConst",
    "_ScopedAllocator",
    "_ScopedAllocatorConcat",
    "_ScopedAllocatorSplit",
    "_SwitchN",
    "_XlaCompile",
    "_XlaMerge",
    "_XlaRun",
];

/// Sets the setting that tells how the running TensorFlow was built.
pub(super) fn record_build() {
    let build = match sp_runtime::host::is_cuda_build() {
        Some(true) => "with CUDA",
        Some(false) => "without CUDA",
        None => "unknown",
    };
    settings::set("tensorflow_build", build);
}

/// Returns true if core has kernels for CUDA for this device type.
pub(super) fn has_kernels_for_cuda(device_type: &CStr) -> bool {
    device_type == c"GPU" && sp_runtime::host::is_cuda_build() == Some(true)
}

/// Registers the kernels.
pub(super) fn register(device_type: &CStr) {
    match register_all(device_type) {
        Ok(counts) => report(counts),
        Err(error) => sp_runtime::report!(
            Error,
            "TensorFlow is built with CUDA, and its kernels for CUDA are not replaced, which may end the process: {error}; use tensorflow-cpu"
        ),
    }
}

/// Registers a kernel for each op; returns the numbers of those that run on the CPU and of those that are errors.
fn register_all(device_type: &CStr) -> Result<[usize; 2]> {
    let (ops, mut counts) = (registry::ops()?, [0; 2]);
    for (name, labels) in registry::ops_of_type_gpu()? {
        let Some(op) = ops
            .get(&name)
            .filter(|_| !HOST_OPS.contains(&name.as_str()))
        else {
            continue;
        };
        counts[usize::from(op.has_resource)] += 1;
        for label in labels {
            register_op(&name, &label, op, device_type)?;
        }
    }
    Ok(counts)
}

fn register_op(name: &str, label: &str, op: &Op, device_type: &CStr) -> Result<()> {
    let text =
        |it: &str| CString::new(it).map_err(|_| Error::internal("a name of TensorFlow has a NUL"));
    let arguments: Vec<_> = op
        .arguments
        .iter()
        .map(|it| text(it))
        .collect::<Result<_>>()?;
    let kernel = if op.has_resource {
        fallback::REJECTED
    } else {
        fallback::ON_CPU
    };
    fallback::register(&text(name)?, &text(label)?, &arguments, device_type, kernel)
}

fn report([on_cpu, rejected]: [usize; 2]) {
    let replaced = format!("{on_cpu} ops on the CPU, {rejected} errors");
    settings::set("cuda_kernels", &replaced);
    sp_runtime::report!(
        Info,
        "TensorFlow is built with CUDA: the CPU computes what the plugin does not, in {on_cpu} ops, and {rejected} are errors"
    );
}

/// Returns the error of an op that uses what only core has.
#[cold]
fn rejection(op: &str) -> Error {
    let message = rejected::MESSAGE.to_string_lossy();
    Error::unimplemented(format!(
        "{op}: {message}, and TensorFlow's own is for CUDA; use tf.device(\"CPU\"), or the package tensorflow-cpu"
    ))
}
