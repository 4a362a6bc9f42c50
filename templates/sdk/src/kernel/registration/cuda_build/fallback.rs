//! The kernels of ops for which the plugin has none: one runs core's kernel for the CPU, the other is an error.
//!
//! All arguments of such an op are in host memory, to and from which TensorFlow copies them.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use sp_abi::kernels::{TF_NumInputs, TF_NumOutputs, TF_OpKernelConstruction, TF_OpKernelContext};
use sp_runtime::{guard, handle};

use super::eager;
use crate::kernel::attribute::construction::ConstructionRef;
use crate::kernel::attribute::node_def::OpNode;
use crate::kernel::call::context::{self, ContextRef};
use crate::kernel::registration::rejection::rejection;
use crate::kernel::spec::{ComputeCall, CreateCall, KernelBuilder};
use crate::status::CallStatus;
use crate::{Error, Result, platform};
use sp_graph::proto::Message;

/// The functions of a kernel.
pub(super) struct Functions {
    create: CreateCall,
    compute: ComputeCall,
}

/// The kernel of an op that runs on the CPU.
pub(super) const STATELESS: Functions = Functions {
    create: create_stateless,
    compute,
};

/// The kernel of an op with a state, such as a random generator's, which runs on the CPU.
pub(super) const STATEFUL: Functions = Functions {
    create: create_stateful,
    compute,
};

/// The kernel of an op that is an error.
pub(super) const REJECTED: Functions = Functions {
    create: create_stateless,
    compute: reject,
};

/// Registers a kernel of an op for all types.
pub(super) fn register(
    op: &CStr,
    label: &CStr,
    arguments: &[CString],
    device_type: &CStr,
    Functions { create, compute }: Functions,
) -> Result<()> {
    // SAFETY: all three are functions of an `OpNode`, or of null after an error of `create`.
    let builder =
        unsafe { KernelBuilder::from_functions(op, device_type, (create, compute, delete))? };
    for argument in arguments {
        builder.place_in_host_memory(argument)?;
    }
    builder.set_priority(super::PRIORITY)?;
    if !label.is_empty() {
        builder.set_label(label)?;
    }
    builder.register(op)
}

unsafe extern "C" fn create_stateless(construction: *mut TF_OpKernelConstruction) -> *mut c_void {
    // SAFETY: the construction is live during this call.
    unsafe { create(construction, Ok) }
}

/// Constructs the kernel of an op whose state no other node shares: the eager context has one kernel for equal attributes.
unsafe extern "C" fn create_stateful(construction: *mut TF_OpKernelConstruction) -> *mut c_void {
    static NODES: AtomicU64 = AtomicU64::new(1);
    let number = |mut node: OpNode| {
        let number = NODES.fetch_add(1, Ordering::Relaxed);
        // `AttrValue.i`. Of an attribute with an underscore no definition of an op has to know.
        let value = Message::default().number(3, number).finish();
        node.attributes.push((c"_sp_node".to_owned(), value));
        Ok(node)
    };
    // SAFETY: the construction is live during this call.
    unsafe { create(construction, number) }
}

/// # Safety
/// `construction` is live.
unsafe fn create(
    construction: *mut TF_OpKernelConstruction,
    change: impl FnOnce(OpNode) -> Result<OpNode>,
) -> *mut c_void {
    // SAFETY: the caller guarantees that the construction is live.
    let construction = unsafe { ConstructionRef::from_raw(construction) };
    let node = guard::catch_panic("a kernel's construction", || {
        construction.node_def()?.op_node().and_then(change)
    });
    match node {
        Ok(node) => handle::into_raw(node),
        Err(error) => {
            // Without the function nothing can be reported, and `compute` fails.
            let _ = construction.fail(&error);
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn delete(node: *mut c_void) {
    if !node.is_null() {
        guard::run_with_default("a kernel's deletion", (), || {
            // SAFETY: `create` returned the node, and TensorFlow deletes it once.
            drop(unsafe { handle::from_raw::<OpNode>(node) });
        });
    }
}

unsafe extern "C" fn compute(node: *mut c_void, context: *mut TF_OpKernelContext) {
    // SAFETY: TensorFlow passes what `create` returned, and the context is live during this call.
    unsafe { run(node, context, compute_on_cpu) }
}

unsafe extern "C" fn reject(node: *mut c_void, context: *mut TF_OpKernelContext) {
    // SAFETY: as in `compute`.
    unsafe {
        run(node, context, |node, _, _| {
            let reason = "is for CUDA; use tf.device(\"CPU\"), or the package tensorflow-cpu";
            Err(rejection(&node.op.to_string_lossy(), reason))
        })
    }
}

/// # Safety
/// - `create` returned the node, which is not deleted during the call.
/// - `context` is live during the call.
unsafe fn run(
    node: *mut c_void,
    context: *mut TF_OpKernelContext,
    call: impl FnOnce(&OpNode, ContextRef<'_>, [usize; 2]) -> Result<()>,
) {
    let computed = guard::catch_panic("a kernel", || {
        if node.is_null() {
            return Err(Error::internal("the kernel's construction failed"));
        }
        platform::check_process()?;
        let status = CallStatus::of_thread();
        // SAFETY: the caller guarantees the node and the context.
        unsafe {
            let node = handle::borrow::<OpNode>(node);
            let counts = [TF_NumInputs.get()?(context), TF_NumOutputs.get()?(context)];
            let counts = counts.map(|it| usize::try_from(it).unwrap_or(0));
            call(node, ContextRef::from_raw(context, &status), counts)
        }
    });
    if let Err(error) = computed {
        // SAFETY: the caller guarantees that the context is live. Without the function nothing can be reported.
        let _ = unsafe { context::fail(context, &error) };
    }
}

fn compute_on_cpu(
    node: &OpNode,
    context: ContextRef<'_>,
    [inputs, outputs]: [usize; 2],
) -> Result<()> {
    let inputs: Vec<_> = (0..inputs)
        .map(|it| context.input(it))
        .collect::<Result<_>>()?;
    let outputs = eager::run(&node.op, &node.attributes, &inputs, outputs)?;
    let mut outputs = outputs.iter().enumerate();
    outputs.try_for_each(|(index, tensor)| context.set_output(index, tensor))
}
