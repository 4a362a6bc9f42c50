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
//!
//! The list is complete, since the ops come from core's registry. Alternatives were to decline the type, after which
//! such a host has no device; errors for all ops, after which `tf.linalg.inv` does not run, since soft placement
//! finds a kernel; and a kernel of one's own for each op, of which sp-cpu lacks about 230. The eager functions are no
//! part of a plugin's contract, so they are looked up, and their absence is one line of level error.

mod eager;
mod fallback;
mod registry;

use std::ffi::{CStr, CString};
use std::sync::Once;

use registry::Op;

use crate::{Error, Result, platform, settings};

/// The priority above core's kernels, which is 0 or 1, and below the errors that name a remedy and the plugin's own kernels.
const PRIORITY: i32 = 100;

/// Ops whose kernels of type GPU run no code for CUDA: they handle control flow, functions, iterators, lists of tensors, or
/// pass tensors on, and let the device copy.
///
/// - `AssignVariableOp` copies by CUDA only the variables that a sparse kernel of core has changed, and these are replaced.
/// - The collective ops call the kernels of `Add` and `Div`. In graphs that the plugin's optimizer changes, their hint is
///   `ring`; elsewhere core may use NCCL.
/// - `XlaLaunch`, `_XlaCompile`, `_XlaMerge` and `_XlaRun` run functions that ask for XLA: the optimizer and functions.py
///   change the request.
/// - `DataServiceDatasetV4` is placed on the CPU by placement.py.
#[rustfmt::skip]
const HOST_OPS: &[&str] = &[
    "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3", "AssignVariableOp", "BatchFunction", "CheckPinned",
    "CollectiveAllToAllV3", "CollectiveGather", "CollectiveInitializeCommunicator", "CollectiveReduce", "CollectiveReduceV3",
    "Const", "DataServiceDatasetV4", "DebugGradientIdentity", "DeleteIterator", "DeserializeSparse", "DestroyTemporaryVariable",
    "DummyIterationCounter", "EmptyTensorList", "Enter", "Exit", "ExperimentalMapDataset", "ExperimentalSleepDataset", "Fact",
    "FinalizeDataset", "GeneratorDataset", "GetOptions", "Identity", "IsTensorFloat32Enabled", "IsVariableInitialized",
    "IteratorFromStringHandleV2", "IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync",
    "IteratorToStringHandle", "IteratorV2", "MakeIterator", "Merge", "NextIteration", "OptionalFromValue", "OptionalGetValue",
    "OptionalHasValue", "OptionalNone", "OptionsDataset", "PlaceholderWithDefault", "PrefetchDataset", "PreventGradient",
    "RaggedTensorFromVariant", "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration", "RefSwitch",
    "SleepDataset", "SleepOp", "StopGradient", "Switch", "SyncDevice", "TemporaryVariable", "TensorArrayClose",
    "TensorArrayCloseV2", "TensorArrayCloseV3", "TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3",
    "TensorArrayGradWithShape", "TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3", "TensorListConcatLists",
    "TensorListElementShape", "TensorListLength", "TensorListPushBack", "TensorListReserve", "TensorListResize",
    "TensorListSetItem", "UnwrapDatasetVariant", "Variable", "VariableV2", "WrapDatasetVariant", "XlaLaunch",
    "_CopyFromGpuToHost", "_CopyFromHostToGpu", "_EagerConst", "_ScopedAllocator", "_ScopedAllocatorConcat",
    "_ScopedAllocatorSplit", "_SwitchN", "_XlaCompile", "_XlaMerge", "_XlaRun",
];

/// Records in the settings whether the running TensorFlow is built with CUDA.
pub(super) fn record_build() {
    let build = match sp_runtime::host::is_cuda_build() {
        Some(true) => "with CUDA",
        Some(false) => "without CUDA",
        None => "unknown",
    };
    settings::set("tensorflow_build", build);
}

/// Registers the kernels, once, if core has kernels for CUDA for this device type.
pub(super) fn register(device_type: &CStr) {
    static REGISTERED: Once = Once::new();
    if platform::has_kernels_for_cuda(device_type.to_bytes()) {
        REGISTERED.call_once(|| match Registered::register_all(device_type) {
            Ok(registered) => registered.report(),
            Err(error) => report_not_replaced(&error),
        });
    }
}

fn report_not_replaced(error: &Error) {
    sp_runtime::report!(
        Error,
        "kernels for CUDA are not replaced, and may end the process: {error}; use the package tensorflow-cpu"
    );
}

/// The numbers of ops by their kernels.
#[derive(Default)]
struct Registered {
    on_cpu: usize,
    rejected: usize,
}

impl Registered {
    /// Registers a kernel for each op. One that TensorFlow rejects is reported.
    fn register_all(device_type: &CStr) -> Result<Self> {
        let (ops, mut registered) = (registry::ops()?, Self::default());
        for (name, labels) in registry::ops_of_type_gpu()? {
            let Some(op) = ops.get(&name).filter(|_| !HOST_OPS.contains(&&*name)) else {
                continue;
            };
            for label in &labels {
                if let Err(error) = register_op(&name, label, op, device_type) {
                    report_not_replaced(&error);
                }
            }
            registered.count(op);
        }
        Ok(registered)
    }

    fn count(&mut self, op: &Op) {
        match op.has_resource {
            true => self.rejected += 1,
            false => self.on_cpu += 1,
        }
    }

    fn report(&self) {
        let Self { on_cpu, rejected } = self;
        let replaced = format!("{on_cpu} ops on the CPU, {rejected} errors");
        settings::set("cuda_kernels", &replaced);
        sp_runtime::report!(
            Info,
            "TensorFlow is built with CUDA: in {on_cpu} ops the CPU computes what the plugin does not, {rejected} ops are errors"
        );
    }
}

fn register_op(name: &str, label: &str, op: &Op, device_type: &CStr) -> Result<()> {
    let text = |it: &str| {
        let has_nul = |_| Error::internal(format!("the name {it:?} has a NUL"));
        CString::new(it).map_err(has_nul)
    };
    let arguments = op.arguments.iter().map(|it| text(it));
    let arguments: Vec<_> = arguments.collect::<Result<_>>()?;
    let kernel = match op {
        Op {
            has_resource: true, ..
        } => fallback::REJECTED,
        Op {
            is_stateful: true, ..
        } => fallback::STATEFUL,
        _ => fallback::STATELESS,
    };
    fallback::register(&text(name)?, &text(label)?, &arguments, device_type, kernel)
}
