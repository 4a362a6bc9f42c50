//! The functions that TensorFlow calls for a kernel. `compute` exists once for each device, not for each kernel.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use sp_abi::kernels::{TF_OpKernelConstruction, TF_OpKernelContext};
use sp_runtime::{Host, guard, handle};

use super::attribute::Construction;
use super::call::{Call, CallMemory};
use super::compare::{self, Reference};
use super::context::{self, ContextRef, device_of_stream};
use super::spec::{ArgumentSpec, Count, Kernel, KernelTable, State, is_running};
use super::status::{CallStatus, InstanceStatus};
use crate::access::StreamMemory;
use crate::{Device, Error, Result, platform, trace};

/// A kernel that TensorFlow has constructed for a node.
// What every call reads comes first, in as few cache lines as possible.
#[repr(C)]
pub(super) struct Instance {
    status: InstanceStatus,
    compute: fn(&Call<'_>) -> Result<()>,
    pub kernel: &'static Kernel,
    pub state: InstanceState,
    has_host_access: bool,
    /// True if the element types of tensors are to be checked in each call.
    pub checks_types: bool,
    pub inputs: Ranges,
    pub outputs: Ranges,
    /// The node's name, for messages of kernels of a device; empty for others.
    pub node: Arc<str>,
    /// The kernel with which this one is compared.
    pub reference: Option<Box<Reference>>,
}

/// The state of an instance, whose type is known without a call through its table.
pub(super) struct InstanceState {
    id: TypeId,
    state: State,
}

impl InstanceState {
    fn new(state: State) -> Self {
        let id = (*state).type_id();
        Self { id, state }
    }

    /// Returns the state if it is an `S`.
    #[inline]
    pub fn get<S: 'static>(&self) -> Option<&S> {
        let state: *const (dyn Any + Send + Sync) = &raw const *self.state;
        // SAFETY: `new` has read `id` from the value in the box, which nobody replaces. If it is that of `S`, the value is an
        // `S`. It lives as long as `self`, and is only lent as a shared reference.
        (self.id == TypeId::of::<S>()).then(|| unsafe { &*state.cast::<S>() })
    }
}

/// The tensors of each argument.
pub(super) enum Ranges {
    /// One tensor for each argument.
    Singles,
    /// The first tensor of each argument, and the number of all tensors.
    Starts(Box<[usize]>),
}

impl Ranges {
    fn new(arguments: &[ArgumentSpec], construction: &Construction<'_>) -> Result<Self> {
        let is_single = |it: &ArgumentSpec| it.count == Count::One && is_running(it.releases);
        if arguments.iter().all(is_single) {
            return Ok(Self::Singles);
        }
        let mut starts = vec![0];
        let mut end = 0;
        for argument in arguments {
            end += match (is_running(argument.releases), argument.count) {
                (false, _) => 0,
                (true, Count::One) => 1,
                (true, Count::Attribute(name)) => construction.attribute::<usize>(name)?,
                (true, Count::TypeList(name)) => construction.list_len(name)?,
            };
            starts.push(end);
        }
        Ok(Self::Starts(starts.into()))
    }

    /// Returns the first tensor of an argument, and the number of its tensors.
    #[inline]
    pub fn range(&self, position: usize) -> (usize, usize) {
        match self {
            Self::Singles => (position, 1),
            Self::Starts(starts) => (starts[position], starts[position + 1] - starts[position]),
        }
    }

    /// Returns the position of the argument that has tensor `index`.
    fn position(&self, index: usize) -> usize {
        match self {
            Self::Singles => index,
            Self::Starts(starts) => starts.iter().take_while(|start| **start <= index).count() - 1,
        }
    }
}

impl Instance {
    pub fn new(kernel: &'static Kernel, construction: &Construction<'_>) -> Result<Self> {
        Ok(Self {
            status: InstanceStatus::new()?,
            compute: kernel.functions.compute,
            kernel,
            state: InstanceState::new((kernel.functions.prepare)(construction)?),
            checks_types: cfg!(debug_assertions) || !Host::running().is_known(),
            inputs: Ranges::new(kernel.inputs, construction)?,
            outputs: Ranges::new(kernel.outputs, construction)?,
            node: match kernel.options.device {
                Some(_) => construction.node_name()?,
                None => Arc::default(),
            },
            has_host_access: kernel.has_host_access(),
            reference: None,
        })
    }

    /// Returns the error for an output that the kernel has not set.
    #[cold]
    pub fn unset_output(&self, index: usize) -> Error {
        let name = self.output_name(index);
        Error::internal(format!("the kernel has not set output {index}, `{name}`"))
    }

    /// Returns the name of the argument that has tensor `index` of the outputs.
    pub fn output_name(&self, index: usize) -> Cow<'static, str> {
        let argument = self.kernel.outputs.get(self.outputs.position(index));
        argument.map_or_else(Default::default, |it| it.name.to_string_lossy())
    }

    /// Returns true if tensor `index` of the inputs is in host memory.
    pub fn is_host_input(&self, index: usize) -> bool {
        let argument = self.kernel.inputs.get(self.inputs.position(index));
        argument.is_some_and(|it| it.parameter.is_host)
    }

    /// Returns true if tensor `index` of the outputs is in host memory.
    pub fn is_host_output(&self, index: usize) -> bool {
        let argument = self.kernel.outputs.get(self.outputs.position(index));
        argument.is_some_and(|it| it.parameter.is_host)
    }
}

/// Constructs a kernel of a table. TensorFlow passes no pointer of ours, so there is one function for each kernel.
pub(super) unsafe extern "C" fn create<T: KernelTable, const INDEX: usize>(
    construction: *mut TF_OpKernelConstruction,
) -> *mut c_void {
    // SAFETY: TensorFlow lends the construction for this call.
    unsafe { construct(construction, &T::kernels()[INDEX]) }
}

/// # Safety
/// `construction` is live.
unsafe fn construct(
    construction: *mut TF_OpKernelConstruction,
    kernel: &'static Kernel,
) -> *mut c_void {
    // SAFETY: the caller guarantees that the construction is live.
    let construction = unsafe { Construction::from_raw(construction, kernel.op) };
    let instance = guard::catch_panic("a kernel's construction", || {
        let mut instance = Instance::new(kernel, &construction)?;
        instance.reference = Reference::new(kernel, &construction);
        Ok(instance)
    });
    match instance {
        Ok(instance) => handle::into_raw(instance),
        Err(error) => {
            report_failure(&error, construction.fail(&error));
            ptr::null_mut()
        }
    }
}

/// A function that computes one call of the kernel whose instance it gets.
pub(super) type ComputeCall = unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext);

/// Computes one call of the kernel whose instance this is.
pub(super) unsafe extern "C" fn compute<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
) {
    // SAFETY: TensorFlow passes the instance, and lends the context for this call.
    unsafe { compute_with(instance, context, run::<D>) }
}

/// Computes one call of the kernel whose instance this is, and compares it with the reference kernel.
pub(super) unsafe extern "C" fn compute_compared<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
) {
    // SAFETY: TensorFlow passes the instance, and lends the context for this call.
    unsafe { compute_with(instance, context, compare::run::<D>) }
}

/// Computes one call by `run`.
///
/// # Safety
/// - `create` returned the instance, which is not deleted during the call.
/// - `context` is live during the call.
#[inline(always)]
unsafe fn compute_with(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
    run: impl FnOnce(&Instance, ContextRef<'_>) -> Result<()>,
) {
    if instance.is_null() {
        let error = Error::internal("the kernel's construction failed");
        // SAFETY: the caller guarantees that the context is live.
        return unsafe { fail(context, &error) };
    }
    // SAFETY: `create` returned the instance, which the caller does not delete.
    let instance = unsafe { handle::borrow::<Instance>(instance) };
    let computed = guard::catch_panic("a kernel", || {
        let status = CallStatus::new(&instance.status);
        // SAFETY: the caller guarantees that the context is live.
        run(instance, unsafe { ContextRef::from_raw(context, &status) })
    });
    if let Err(error) = computed {
        // SAFETY: the caller guarantees that the context is live.
        unsafe { fail(context, &error) }
    }
}

/// Reports that the call failed.
///
/// # Safety
/// `context` is live.
#[cold]
unsafe fn fail(context: *mut TF_OpKernelContext, error: &Error) {
    // SAFETY: the caller guarantees that the context is live.
    report_failure(error, unsafe { context::fail(context, error) });
}

/// Computes one call whose tensors are all in host memory. It is neither counted nor traced.
///
/// # Errors
/// Returns the error of the kernel.
pub(super) fn compute_on_host<D: Device>(
    instance: &Instance,
    context: ContextRef<'_>,
) -> Result<()> {
    let call = Call::new::<D>(context, instance, CallMemory::IN_PLACE);
    call.finish((instance.compute)(&call))
}

/// Computes one call.
#[inline]
pub(super) fn run<D: Device>(instance: &Instance, context: ContextRef<'_>) -> Result<()> {
    platform::check_process()?;
    let memory = match instance.has_host_access {
        false => CallMemory::CLOSED,
        // Neither the device nor the stream is needed, so TensorFlow is not asked for them.
        true if platform::has_only_in_place_devices() => CallMemory::IN_PLACE,
        true => return run_with_stream::<D>(instance, context),
    };
    run_traced::<D>(&Call::new::<D>(context, instance, memory))
}

#[inline(never)]
fn run_with_stream<D: Device>(instance: &Instance, context: ContextRef<'_>) -> Result<()> {
    // SAFETY: `compute::<D>` is registered for the device type of `D`'s platform.
    let (device, stream) = unsafe { device_of_stream::<D>(context.stream()?)? };
    let memory = StreamMemory::open(device, stream)?;
    run_traced::<D>(&Call::new::<D>(context, instance, CallMemory::new(&memory)))
}

#[inline]
fn run_traced<D: Device>(call: &Call<'_>) -> Result<()> {
    let (traced, instance) = (trace::begin(), call.instance());
    let computed = call.finish((instance.compute)(call));
    if let Some(traced) = traced {
        record::<D>(traced, call);
    }
    instance.kernel.calls.count(instance.kernel, call.copies());
    computed
}

#[cold]
fn record<D: Device>(traced: trace::ActiveCall, call: &Call<'_>) {
    let device = call.device::<D>().ok();
    let ordinal = device.and_then(|(device, _)| platform::ordinal(device));
    traced.record(
        call.instance().kernel.label(),
        ordinal.map_or(0, i32::unsigned_abs),
    );
}

/// Deletes an instance.
pub(super) unsafe extern "C" fn delete(instance: *mut c_void) {
    if !instance.is_null() {
        guard::run_with_default("a kernel's deletion", (), || {
            // SAFETY: `create` returned the instance, and TensorFlow deletes it once.
            drop(unsafe { handle::from_raw::<Instance>(instance) });
        });
    }
}

/// Writes an error that could not be reported to the log.
fn report_failure(error: &Error, reported: Result<()>) {
    if reported.is_err() {
        sp_runtime::report!(Error, "a kernel failed and could not report it: {error}");
    }
}

/// Returns true if the kernel can run on `D`.
pub(super) fn is_for_device<D: Device>(kernel: &Kernel) -> bool {
    kernel
        .options
        .device
        .is_none_or(|device| device() == TypeId::of::<D>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_another_type_is_not_returned() {
        let state = InstanceState::new(Box::new([7_u32, 8]));
        assert_eq!(state.get::<[u32; 2]>(), Some(&[7, 8]));
        assert_eq!(state.get::<[i32; 2]>(), None);
        assert_eq!(state.get::<u64>(), None);
        // The type of the box that has the value.
        assert!(state.get::<State>().is_none());
    }
}
