//! Records a call of a kernel in a profile.

use std::sync::Arc;

use sp_abi::kernels::TF_StepId;

use super::context::{ContextRef, device_of_stream};
use super::instance::Instance;
use crate::trace::{ActiveCall, CallDetails};
use crate::{Device, platform};

/// Records a call that has returned, with the bytes that it copies, and true if it runs behind.
#[cold]
pub(super) fn record<D: Device>(
    trace: &ActiveCall,
    instance: &Instance,
    context: ContextRef<'_>,
    (copied_bytes, is_behind): (u64, bool),
) {
    // SAFETY: the call is one of a kernel for the device type of `D`'s platform.
    let device = context
        .stream()
        .and_then(|it| unsafe { device_of_stream::<D>(it) });
    let ordinal = device
        .ok()
        .and_then(|(device, _)| platform::ordinal(device));
    let spec = instance.spec;
    trace.record(CallDetails {
        kernel: spec.label(),
        op: spec.op.name.to_str().unwrap_or_default(),
        node: node_name(instance, context),
        step: step_id(context),
        copied_bytes,
        is_behind,
        owner: spec.options.owner,
        is_reference: spec.options.owner == REFERENCE,
        device: ordinal.map_or(0, i32::unsigned_abs),
    });
}

/// The crate of the reference kernels.
const REFERENCE: &str = "sp_cpu";

/// Returns the number of the run of a graph; 0 if the host has no function for it.
fn step_id(context: ContextRef<'_>) -> i64 {
    match (TF_StepId.get(), context.to_raw()) {
        // SAFETY: the context is live.
        (Ok(get), Ok(context)) => unsafe { get(context) },
        _ => 0,
    }
}

/// Returns the name of the node. Kernels of a device have it from their construction, as all have before 2.10.
pub(super) fn node_name(instance: &Instance, context: ContextRef<'_>) -> Arc<str> {
    let node = instance.node.clone();
    // since 2.10
    if node.is_empty()
        && let Ok(name) = context.node_name()
    {
        return name.into();
    }
    node
}
