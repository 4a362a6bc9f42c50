//! One kernel as TensorFlow registers it: op, types, places of arguments, three callbacks.

use std::any::TypeId;
use std::ffi::{CStr, c_void};
use std::fmt::Write;
use std::marker::PhantomData;
use std::ptr;

use sp_abi::kernels::{
    TF_KernelBuilder, TF_KernelBuilder_HostMemory, TF_KernelBuilder_Priority,
    TF_KernelBuilder_TypeConstraint, TF_OpKernelConstruction, TF_OpKernelConstruction_Failure,
    TF_OpKernelContext, TF_OpKernelContext_Failure,
};
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::{Host, HostFunction, Releases, Status, UnavailableFunction, guard, handle};

use super::attribute::{Attributes, Construction};
use super::builder::Builder;
use super::call::Call;
use super::calls::{self, Calls};
use super::host_argument::HostArguments;
use super::{Kernel, OnDevice};
use crate::{Device, Element, Error, Result, trace};

/// A kernel of device `D`, ready to be registered.
#[derive(Clone)]
pub struct Entry<D> {
    op: &'static CStr,
    constraints: Vec<(&'static CStr, TF_DataType)>,
    host: Vec<&'static CStr>,
    priority: i32,
    releases: Releases,
    required_functions: Vec<&'static dyn HostFunction>,
    callbacks: Callbacks,
    kernel: TypeId,
    device: PhantomData<fn() -> D>,
}

/// The functions that TensorFlow calls for a kernel.
#[derive(Clone, Copy)]
pub(super) struct Callbacks {
    pub create: unsafe extern "C" fn(*mut TF_OpKernelConstruction) -> *mut c_void,
    pub compute: unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext),
    pub delete: unsafe extern "C" fn(*mut c_void),
}

impl<D: Device> Entry<D> {
    /// `K` as the kernel of `op`, for all types.
    pub fn new<K: Kernel<D>>(op: &'static CStr) -> Self {
        Self {
            op,
            constraints: Vec::new(),
            host: Vec::new(),
            priority: 0,
            releases: Releases::ALL,
            required_functions: Vec::new(),
            callbacks: Callbacks {
                create: create::<D, K>,
                compute: compute::<D, K>,
                delete: delete::<K::Attributes>,
            },
            kernel: TypeId::of::<(D, K)>(),
            device: PhantomData,
        }
    }

    /// Serves only where the type attribute `name` is `T`.
    pub fn constrain<T: Element>(mut self, name: &'static CStr) -> Self {
        self.constraints.push((name, T::DTYPE));
        self
    }

    /// Wants the argument `name` in host memory.
    pub fn in_host_memory(mut self, name: &'static CStr) -> Self {
        self.host.push(name);
        self
    }

    /// Is preferred to kernels of the same op with a lower number; 0 unless said.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Serves these releases only: those whose core lacks the kernel, and offers the means for it.
    pub fn in_releases(mut self, releases: Releases) -> Self {
        self.releases = releases;
        self
    }

    /// Serves only hosts on which `function` can be called, since it computes through that. On others
    /// core's own kernel serves, if it has one.
    pub fn requires_function(mut self, function: &'static dyn HostFunction) -> Self {
        self.required_functions.push(function);
        self
    }

    /// What this host lacks for it.
    pub fn unavailable_function(&self) -> Option<UnavailableFunction> {
        self.required_functions
            .iter()
            .find_map(|it| it.check_available().err())
    }

    /// The op.
    pub fn op(&self) -> &'static CStr {
        self.op
    }

    /// Whether it is to be registered with this host.
    pub fn is_for_host(&self, host: &Host) -> bool {
        host.is_in(self.releases) != Some(false)
    }

    /// Returns true if this kernel serves every node that `other` serves: each constraint of this one is
    /// one of the other's.
    pub fn covers(&self, other: &Self) -> bool {
        let is_met = |constraint| other.constraints.contains(constraint);
        self.op == other.op && self.constraints.iter().all(is_met)
    }

    /// Returns true if there is a node that both kernels serve: no attribute is of one type here and of
    /// another there.
    pub fn overlaps(&self, other: &Self) -> bool {
        let differs = |(name, dtype): &(_, _)| {
            let mut others = other.constraints.iter();
            others.any(|(other_name, other_dtype)| other_name == name && other_dtype != dtype)
        };
        self.op == other.op && !self.constraints.iter().any(differs)
    }

    /// Adds `by` to the priority, within its range.
    pub(super) fn raise_priority(&mut self, by: i32) {
        self.priority = self.priority.saturating_add(by);
    }

    /// Returns the priority: of kernels that serve a node, TensorFlow runs the one with the highest.
    pub fn priority_value(&self) -> i32 {
        self.priority
    }

    /// The op and its types, for people: `Cast SrcT=TF_FLOAT DstT=TF_INT64`.
    pub fn label(&self) -> String {
        let mut text = self.op.to_string_lossy().into_owned();
        for (name, dtype) in &self.constraints {
            // Writing to a String does not fail.
            let _ = write!(text, " {}={dtype:?}", name.to_string_lossy());
        }
        text
    }

    /// Registers the kernel for devices of this type, and begins to count its calls.
    ///
    /// # Errors
    /// What TensorFlow says against it.
    pub fn register(&self, device_type: &CStr) -> Result<()> {
        let status = Status::new()?;
        let builder = Builder::new(self.op, device_type, self.callbacks)?;
        self.constrain_builder(builder.as_ptr(), &status)?;
        let host = HostArguments::new(self.op, self.host.clone());
        calls::begin(self.kernel, self.label(), host);
        builder.register(self.op, &status)
    }

    fn constrain_builder(&self, builder: *mut TF_KernelBuilder, status: &Status) -> Result<()> {
        let constrain = TF_KernelBuilder_TypeConstraint.get()?;
        for (name, dtype) in &self.constraints {
            // SAFETY: the builder is live, and TensorFlow copies the name.
            unsafe { constrain(builder, name.as_ptr(), *dtype, status.as_ptr()) };
            status.check()?;
        }
        let host = TF_KernelBuilder_HostMemory.get()?;
        for name in &self.host {
            // SAFETY: as above.
            unsafe { host(builder, name.as_ptr()) };
        }
        if self.priority != 0 {
            // SAFETY: the builder is live.
            unsafe { TF_KernelBuilder_Priority.get()?(builder, self.priority) };
        }
        Ok(())
    }
}

/// A kernel that TensorFlow made: what `create` gives and `compute` is handed.
struct Instance<A> {
    attributes: A,
    calls: &'static Calls,
}

// The callbacks below are made anew for each kernel, so they only name it; the work is in
// `construct` and `run`, which are made once for a device.

unsafe extern "C" fn create<D: Device, K: Kernel<D>>(
    construction: *mut TF_OpKernelConstruction,
) -> *mut c_void {
    let read = |construction: &Construction<'_>, calls| {
        let attributes = K::Attributes::read(construction)?;
        Ok(handle::into_raw(Instance { attributes, calls }))
    };
    // SAFETY: TensorFlow lends the construction for this call.
    unsafe { construct(construction, TypeId::of::<(D, K)>(), &read) }
}

/// # Safety
/// `construction` is live.
unsafe fn construct(
    construction: *mut TF_OpKernelConstruction,
    kernel: TypeId,
    read: &dyn Fn(&Construction<'_>, &'static Calls) -> Result<*mut c_void>,
) -> *mut c_void {
    let made = guard::catch_panic("a kernel's construction", || {
        let calls = calls::of(kernel)
            .ok_or_else(|| Error::internal("a kernel was made that was never registered"))?;
        // SAFETY: the caller vouches for the construction.
        read(&unsafe { Construction::new(construction)? }, calls)
    });
    made.unwrap_or_else(|error| {
        // SAFETY: as above.
        unsafe { fail_construction(construction, &error) };
        ptr::null_mut()
    })
}

unsafe extern "C" fn compute<D: Device, K: Kernel<D>>(
    instance: *mut c_void,
    context: *mut TF_OpKernelContext,
) {
    let body = |cx: &OnDevice<'_, D>| {
        if instance.is_null() {
            return Err(Error::internal("the kernel's construction failed"));
        }
        // SAFETY: `create` of the same entry gave it, and TensorFlow deletes it after its calls.
        let instance = unsafe { handle::borrow::<Instance<K::Attributes>>(instance) };
        cx.call().set_kernel(instance.calls);
        let traced = trace::begin();
        let done = K::compute(cx, &instance.attributes);
        if let Some(traced) = traced {
            let device = cx.ordinal().map_or(0, i32::unsigned_abs);
            traced.record(instance.calls.label(), device);
        }
        instance.calls.count(cx.call().staged().get());
        done
    };
    // SAFETY: TensorFlow lends the context for this call.
    unsafe { run::<D>(context, &body) }
}

/// # Safety
/// `context` is live.
unsafe fn run<D: Device>(
    context: *mut TF_OpKernelContext,
    body: &dyn Fn(&OnDevice<'_, D>) -> Result<()>,
) {
    let done = guard::catch_panic("a kernel", || {
        // SAFETY: the caller vouches for the context.
        let call = unsafe { Call::new(context)? };
        body(&OnDevice::<D>::new(&call)?)
    });
    if let Err(error) = done {
        // SAFETY: as above.
        unsafe { fail_computation(context, &error) }
    }
}

unsafe extern "C" fn delete<A>(instance: *mut c_void) {
    if !instance.is_null() {
        guard::run_with_default("a kernel's deletion", (), || {
            // SAFETY: `create` of the same entry gave it, and TensorFlow deletes it once.
            drop(unsafe { handle::from_raw::<Instance<A>>(instance) });
        });
    }
}

/// # Safety
/// `construction` is live.
unsafe fn fail_construction(construction: *mut TF_OpKernelConstruction, error: &Error) {
    report_failure(error, |status| {
        // SAFETY: the caller vouches for the construction; TensorFlow copies the status.
        unsafe { TF_OpKernelConstruction_Failure.get()?(construction, status) }
        Ok(())
    });
}

/// # Safety
/// `context` is live.
unsafe fn fail_computation(context: *mut TF_OpKernelContext, error: &Error) {
    report_failure(error, |status| {
        // SAFETY: the caller vouches for the context; TensorFlow copies the status.
        unsafe { TF_OpKernelContext_Failure.get()?(context, status) }
        Ok(())
    });
}

/// Puts `error` into a status and passes that to `report`; if that fails, into the log.
fn report_failure(error: &Error, report: impl FnOnce(*mut sp_runtime::RawStatus) -> Result<()>) {
    let reported = Status::from_error(error).and_then(|status| report(status.as_ptr()));
    if reported.is_err() {
        sp_runtime::report!(Error, "a kernel failed and could not say so: {error}");
    }
}
