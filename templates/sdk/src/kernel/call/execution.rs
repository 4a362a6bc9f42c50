//! Computes one call of a kernel.

use std::sync::Arc;

use sp_abi::kernels::TF_StepId;

use super::context::{ContextRef, device_of_stream};
use super::instance::Instance;
use super::{Call, CallMemory, behind};
use crate::access::StreamMemory;
use crate::trace::{ActiveCall, CallDetails};
use crate::{Device, Result, platform};

/// Computes one call whose tensors are all in host memory. It is neither counted nor traced.
///
/// # Errors
/// Returns the error of the kernel.
pub(in crate::kernel) fn compute_on_host<D: Device>(
    instance: &Instance,
    context: ContextRef<'_>,
) -> Result<()> {
    let call = Call::new::<D>(context, instance, CallMemory::IN_PLACE);
    call.finish((instance.compute)(&call))
}

/// Computes one call.
#[inline]
pub(in crate::kernel) fn run<D: Device>(
    instance: &Instance,
    context: ContextRef<'_>,
) -> Result<()> {
    platform::check_process()?;
    let memory = match instance.has_host_access {
        false => CallMemory::CLOSED,
        // Neither the device nor the stream is needed, so TensorFlow is not asked for them.
        true if platform::has_only_in_place_devices() => CallMemory::IN_PLACE,
        true => return run_with_stream::<D>(instance, context),
    };
    run_traced::<D>(&mut Call::new::<D>(context, instance, memory))
}

#[inline(never)]
fn run_with_stream<D: Device>(instance: &Instance, context: ContextRef<'_>) -> Result<()> {
    // SAFETY: `compute::<D>` is registered for the device type of `D`'s platform.
    let (device, stream) = unsafe { device_of_stream::<D>(context.stream()?)? };
    if instance.runs_behind && behind::run(instance, context, device, stream)? {
        return Ok(());
    }
    let memory = StreamMemory::open(device, stream)?;
    let mut call = Call::new::<D>(context, instance, CallMemory::new(&memory));
    run_traced::<D>(&mut call)
}

#[inline]
fn run_traced<D: Device>(call: &mut Call<'_>) -> Result<()> {
    call.begin_trace();
    let (call, instance) = (&*call, call.instance());
    let computed = call.finish((instance.compute)(call));
    if let Some(trace) = call.trace() {
        let bytes = call.copies().map_or(0, |it| it.bytes);
        record::<D>(trace, instance, call.context(), (bytes, false));
    }
    instance.spec.counts.count(instance.spec, call.copies());
    computed
}

/// Records a call that has returned, with the bytes that it copies, and true if it runs behind.
#[cold]
pub(super) fn record<D: Device>(
    trace: &ActiveCall,
    instance: &Instance,
    context: ContextRef<'_>,
    (copied_bytes, is_behind): (u64, bool),
) {
    // SAFETY: as in `run_with_stream`.
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
