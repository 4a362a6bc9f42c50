//! The functions that TensorFlow calls for a kernel. `compute` exists once for each device, not for each kernel.

use std::any::TypeId;
use std::ffi::c_void;
use std::ptr;

use sp_abi::kernels::{TF_OpKernelConstruction, TF_OpKernelContext};
use sp_runtime::{guard, handle};

use super::attribute::Construction;
use super::call::{Call, DeviceMemory};
use super::context::ContextRef;
use super::spec::{ArgumentSpec, Compute, Count, Kernel, State, is_running};
use crate::{Access, Device, Error, Result, platform, trace};

/// A kernel that TensorFlow has constructed for a node.
pub(super) struct Instance {
    pub kernel: &'static Kernel,
    pub state: State,
    pub inputs: Ranges,
    pub outputs: Ranges,
    has_host_access: bool,
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
    fn new(kernel: &'static Kernel, construction: &Construction<'_>) -> Result<Self> {
        Ok(Self {
            kernel,
            state: (kernel.functions.prepare)(construction)?,
            inputs: Ranges::new(kernel.inputs, construction)?,
            outputs: Ranges::new(kernel.outputs, construction)?,
            has_host_access: kernel.has_host_access(),
        })
    }

    /// Returns the error for an output that the kernel has not set.
    #[cold]
    pub fn unset_output(&self, index: usize) -> Error {
        let name = self.kernel.outputs.get(self.outputs.position(index));
        let name = name.map_or_else(Default::default, |it| it.name.to_string_lossy());
        Error::internal(format!("the kernel has not set output {index}, `{name}`"))
    }
}

/// Constructs the kernel of `K`. TensorFlow passes no pointer of ours, so there is one function for each kernel.
pub(super) unsafe extern "C" fn create<K: Compute>(
    construction: *mut TF_OpKernelConstruction,
) -> *mut c_void {
    // SAFETY: TensorFlow lends the construction for this call.
    unsafe { construct(construction, K::kernel()) }
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
        Instance::new(kernel, &construction)
    });
    match instance {
        Ok(instance) => handle::into_raw(instance),
        Err(error) => {
            report_failure(&error, construction.fail(&error));
            ptr::null_mut()
        }
    }
}

/// Computes one call of the kernel whose instance this is.
pub(super) unsafe extern "C" fn compute<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
) {
    // SAFETY: TensorFlow lends the context for this call.
    let context = unsafe { ContextRef::from_raw(context) };
    let computed = guard::catch_panic("a kernel", || {
        if instance.is_null() {
            return Err(Error::internal("the kernel's construction failed"));
        }
        // SAFETY: `create` returned the instance, which TensorFlow deletes after the last call.
        run::<D>(unsafe { handle::borrow::<Instance>(instance) }, context)
    });
    if let Err(error) = computed {
        report_failure(&error, context.fail(&error));
    }
}

fn run<D: Device>(instance: &Instance, context: ContextRef<'_>) -> Result<()> {
    let stream = context.stream()?.0;
    // SAFETY: `create_stream` of a `D` returned the stream; TensorFlow destroys neither it nor the device while
    // their kernels run.
    let (device, stream) = unsafe {
        // Neither is used in a forked child.
        handle::process::<D::Stream>(stream).check("the device")?;
        let device = handle::owner::<D, D::Stream>(stream);
        (device, handle::borrow::<D::Stream>(stream))
    };
    let device = device.ok_or_else(|| Error::internal("the call's stream has no device"))?;
    let memory = match instance.has_host_access {
        true => Some(D::Access::open(device, stream)?),
        false => None,
    };
    let memory = memory.as_ref().map(|it| it as &dyn DeviceMemory);
    let call = Call::new(context, instance, (device, stream), memory);
    run_traced(instance.kernel, &call, || platform::ordinal(device))
}

fn run_traced(
    kernel: &'static Kernel,
    call: &Call<'_>,
    ordinal: impl FnOnce() -> Option<i32>,
) -> Result<()> {
    let traced = trace::begin();
    let computed = (kernel.functions.compute)(call).and_then(|()| call.finish());
    if let Some(traced) = traced {
        traced.record(kernel.label(), ordinal().map_or(0, i32::unsigned_abs));
    }
    kernel.calls.count(kernel, call.is_staged());
    computed
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
