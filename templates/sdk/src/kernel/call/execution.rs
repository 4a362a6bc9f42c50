//! Computes one call of a kernel.

use super::context::{ContextRef, device_of_stream};
use super::instance::Instance;
use super::recording::record;
use super::{Call, CallMemory, behind};
use crate::access::StreamMemory;
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
