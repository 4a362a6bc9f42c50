//! The functions that TensorFlow calls for a kernel. `compute` exists once for each device, not for each kernel.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

use sp_abi::kernels::{TF_OpKernelConstruction, TF_OpKernelContext};
use sp_runtime::guard;

use crate::kernel::attribute::Construction;
use crate::kernel::call::context::{self, ContextRef};
use crate::kernel::call::execution::run;
use crate::kernel::call::instance::{Instance, OwnsInstance};
use crate::kernel::compare::{self, Reference};
use crate::kernel::definition::{ComputeFunction, Kernel, KernelTable, PrepareFunction};
use crate::kernel::fused_use::FusedUses;
use crate::kernel::spec::{ArgumentSpec, CallCounts, Constraint, KernelSpec, OpSpec, Options};
use crate::status::CallStatus;
use crate::{Device, Error, Result};

// Here, since `create` needs all that a kernel refers to.
impl Kernel {
    /// Creates the kernel that is at `INDEX` in the table `T`.
    ///
    /// # Safety
    /// - `op` is the definition of the op in all known releases.
    /// - `constraints` leave each argument only the element type that the functions read or write.
    /// - `T::kernels()` has this kernel at `INDEX`.
    /// - An argument that they read or write as host memory is marked so in `inputs` or `outputs`.
    pub const unsafe fn new<T: KernelTable, const INDEX: usize>(
        op: &'static OpSpec,
        constraints: &'static [Constraint],
        [inputs, outputs]: [&'static [ArgumentSpec]; 2],
        options: &'static Options,
        (prepare, compute): (PrepareFunction, ComputeFunction),
    ) -> Self {
        Self {
            spec: KernelSpec {
                op,
                constraints,
                inputs,
                outputs,
                options,
                counts: CallCounts::new(),
                has_known_shapes: AtomicBool::new(false),
            },
            create: create::<T, INDEX>,
            prepare,
            compute,
            fused_uses: FusedUses::new(),
        }
    }
}

/// The kernel of a node, for TensorFlow, which has a share of it. Commands of its calls have others.
#[repr(C)]
struct ConstructedKernel {
    instance: Instance,
    /// The kernel with which this one is compared.
    reference: Option<Box<Reference>>,
}

impl OwnsInstance for ConstructedKernel {
    fn instance(&self) -> &Instance {
        &self.instance
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
    let construction = unsafe { Construction::from_raw(construction, kernel.spec.op) };
    let instance = guard::catch_panic("a kernel's construction", || {
        let mut instance = kernel.construct(&construction)?;
        let reference = Reference::new(kernel, &construction);
        Ok(Arc::new_cyclic(|shared: &Weak<ConstructedKernel>| {
            instance.shared = Some(shared.clone());
            ConstructedKernel {
                instance,
                reference,
            }
        }))
    });
    match instance {
        Ok(instance) => Arc::into_raw(instance).cast_mut().cast(),
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
    // SAFETY: TensorFlow passes the instance, and lends the context for this call.
    unsafe {
        compute_with(instance, context, |it, context| {
            run::<D>(&it.instance, context)
        })
    }
}

/// Computes one call of the kernel whose instance this is, and compares it with the reference kernel.
pub(super) unsafe extern "C" fn compute_compared<D: Device>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
) {
    // SAFETY: TensorFlow passes the instance, and lends the context for this call.
    unsafe {
        compute_with(instance, context, |it, context| {
            compare::run::<D>(&it.instance, it.reference.as_deref(), context)
        })
    }
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
    run: impl FnOnce(&ConstructedKernel, ContextRef<'_>) -> Result<()>,
) {
    if instance.is_null() {
        let error = Error::internal("the kernel's construction failed");
        // SAFETY: the caller guarantees that the context is live.
        return unsafe { fail(context, &error) };
    }
    // SAFETY: `create` returned the instance, which the caller does not delete.
    let instance = unsafe { &*instance.cast::<ConstructedKernel>() };
    let computed = guard::catch_panic("a kernel", || {
        let status = CallStatus::new(&instance.instance.status);
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

/// Deletes an instance.
pub(super) unsafe extern "C" fn delete(instance: *mut c_void) {
    if !instance.is_null() {
        guard::run_with_default("a kernel's deletion", (), || {
            // SAFETY: `create` returned the instance, and TensorFlow deletes it once.
            drop(unsafe { Arc::from_raw(instance.cast::<ConstructedKernel>()) });
        });
    }
}

/// Writes an error that could not be reported to the log.
fn report_failure(error: &Error, reported: Result<()>) {
    if reported.is_err() {
        sp_runtime::report!(Error, "a kernel failed and could not report it: {error}");
    }
}
