//! `TF_KernelBuilder`: the description of a kernel. Registration takes ownership of the builder, as in TensorFlow.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::argument::{Arg, CStringArgument};
use super::construction::KernelConstruction;
use super::context::KernelContext;
use super::failure::invalid;
use super::functions::functions;
use crate::StatusCode;
use crate::dtype::DType;
use crate::lock;
use crate::objects::{self, HostObject, ObjectKind, Owner};
use crate::registration::RegisteredKernel;

pub(crate) type Create = unsafe extern "C" fn(*mut KernelConstruction) -> *mut c_void;
pub(crate) type Delete = unsafe extern "C" fn(*mut c_void);

/// The compute function of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compute {
    Sync(unsafe extern "C" fn(*mut c_void, *mut KernelContext)),
    Async(unsafe extern "C" fn(*mut c_void, *mut KernelContext, *mut Done)),
}

/// A kernel's description.
#[derive(Debug, Clone)]
pub(crate) struct KernelBuilder {
    pub op: String,
    pub device: String,
    pub create: Option<Create>,
    pub compute: Option<Compute>,
    pub delete: Option<Delete>,
    pub constraints: Vec<(String, DType)>,
    pub host_memory: Vec<String>,
    pub priority: i32,
    pub label: String,
}

impl From<&KernelBuilder> for RegisteredKernel {
    fn from(kernel: &KernelBuilder) -> Self {
        Self {
            op: kernel.op.clone(),
            device: kernel.device.clone(),
            constraints: kernel.constraints.clone(),
            host_memory: kernel.host_memory.clone(),
            priority: kernel.priority,
            label: kernel.label.clone(),
            is_async: matches!(kernel.compute, Some(Compute::Async(_))),
        }
    }
}

/// Formats the kernel as TensorFlow formats a `KernelDef` in messages.
impl fmt::Display for KernelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op: {:?} device_type: {:?}", self.op, self.device)?;
        for (name, dtype) in &self.constraints {
            let types = format!("list {{ type: DT_{dtype} }}");
            write!(
                f,
                " constraint {{ name: {name:?} allowed_values {{ {types} }} }}"
            )?;
        }
        for name in &self.host_memory {
            write!(f, " host_memory_arg: {name:?}")?;
        }
        Ok(())
    }
}

/// The object behind `TF_KernelBuilder*`.
pub(crate) struct BuilderHandle(Mutex<KernelBuilder>);

impl HostObject for BuilderHandle {
    const KIND: ObjectKind = ObjectKind::KernelBuilder;
}

impl BuilderHandle {
    /// Returns the description so far.
    pub(super) fn kernel(&self) -> KernelBuilder {
        self.builder().clone()
    }

    fn builder(&self) -> MutexGuard<'_, KernelBuilder> {
        lock(&self.0)
    }
}

/// The completion callback of an asynchronous kernel.
#[derive(Default)]
pub(crate) struct Done(Arc<(Mutex<bool>, Condvar)>);

impl HostObject for Done {
    const KIND: ObjectKind = ObjectKind::Done;
}

/// The host's side of a [`Done`], which waits for the call.
pub(crate) struct Wait(Arc<(Mutex<bool>, Condvar)>);

impl Done {
    pub fn wait(&self) -> Wait {
        Wait(Arc::clone(&self.0))
    }
}

impl Wait {
    /// Returns true if the kernel finishes within `limit`.
    pub fn done_within(&self, limit: Duration) -> bool {
        let (done, changed) = &*self.0;
        let done = lock(done);
        let waited = changed.wait_timeout_while(done, limit, |done| !*done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

static REGISTERED: Mutex<Vec<KernelBuilder>> = Mutex::new(Vec::new());

/// Returns the kernels that were registered since the last call.
pub(crate) fn take_registered_kernels() -> Vec<KernelBuilder> {
    std::mem::take(&mut *lock(&REGISTERED))
}

/// Puts a kernel into the registry.
pub(super) fn record(kernel: KernelBuilder) {
    lock(&REGISTERED).push(kernel);
}

fn new_builder(
    op: &CStringArgument,
    device: &CStringArgument,
    create: Option<Create>,
    compute: Option<Compute>,
    delete: Option<Delete>,
) -> *mut BuilderHandle {
    let builder = KernelBuilder {
        op: op.string(),
        device: device.string(),
        create,
        compute,
        delete,
        constraints: vec![],
        host_memory: vec![],
        priority: 0,
        label: String::new(),
    };
    objects::create(BuilderHandle(Mutex::new(builder)), Owner::Plugin)
}

functions! {
    fn TF_NewKernelBuilder(
        op: CStringArgument,
        device: CStringArgument,
        create: Option<Create>,
        compute: Option<unsafe extern "C" fn(*mut c_void, *mut KernelContext)>,
        delete: Option<Delete>,
    ) -> *mut BuilderHandle {
        new_builder(&op, &device, create, compute.map(Compute::Sync), delete)
    }

    fn TF_NewAsyncKernelBuilder(
        op: CStringArgument,
        device: CStringArgument,
        create: Option<Create>,
        compute: Option<unsafe extern "C" fn(*mut c_void, *mut KernelContext, *mut Done)>,
        delete: Option<Delete>,
    ) -> *mut BuilderHandle {
        new_builder(&op, &device, create, compute.map(Compute::Async), delete)
    }

    fn TF_KernelBuilder_TypeConstraint(
        builder: Arg<BuilderHandle>, attr: CStringArgument, dtype: u32; status
    ) {
        let builder = builder.live(CALL)?;
        // TensorFlow knows the types up to uint64 here.
        if dtype > DType::UINT64.0 {
            return Err((StatusCode::UNIMPLEMENTED, format!("Unexpected type {dtype}")).into());
        }
        builder.builder().constraints.push((attr.string(), DType(dtype)));
        Ok(())
    }

    fn TF_KernelBuilder_HostMemory(builder: Arg<BuilderHandle>, argument: CStringArgument) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().host_memory.push(argument.string());
        }
    }

    fn TF_KernelBuilder_Priority(builder: Arg<BuilderHandle>, priority: i32) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().priority = priority;
        }
    }

    fn TF_KernelBuilder_Label(builder: Arg<BuilderHandle>, label: CStringArgument) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().label = label.string();
        }
    }

    fn TF_RegisterKernelBuilder(_name: CStringArgument, builder: Arg<BuilderHandle>; status) {
        let builder = builder.take(CALL).ok_or_else(|| invalid("there is no such builder"))?;
        record(builder.kernel());
        Ok(())
    }

    fn TF_DeleteKernelBuilder(builder: Arg<BuilderHandle>) {
        drop(builder.take(CALL));
    }

    fn TF_RunAsyncOpKernelDoneCallback(done: Arg<Done>) {
        if done.find().is_none() {
            let address = done.address();
            let text = format!("{CALL} got {address:p}, which was called before, or ended when compute returned");
            return objects::record_fault(text);
        }
        let Some(done) = done.take(CALL) else { return };
        let (flag, changed) = &*done.0;
        *lock(flag) = true;
        changed.notify_all();
    }
}
