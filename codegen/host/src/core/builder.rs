//! `TF_KernelBuilder`: the description of a kernel. Registration takes ownership of the builder, as in TensorFlow.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::argument::{Arg, Text};
use super::construction::Construction;
use super::context::Context;
use super::functions::functions;
use super::status::{Status, report};
use crate::Code;
use crate::dtype::DType;
use crate::objects::{self, Object, ObjectKind, Owner};

pub(crate) type Create = unsafe extern "C" fn(*mut Construction) -> *mut c_void;
pub(crate) type Delete = unsafe extern "C" fn(*mut c_void);

/// The compute function of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compute {
    Sync(unsafe extern "C" fn(*mut c_void, *mut Context)),
    Async(unsafe extern "C" fn(*mut c_void, *mut Context, *mut Done)),
}

/// A kernel's description.
#[derive(Debug, Clone)]
pub(crate) struct Builder {
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

/// Formats the kernel as TensorFlow formats a `KernelDef` in messages.
impl fmt::Display for Builder {
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
pub(crate) struct BuilderHandle(Mutex<Builder>);

impl Object for BuilderHandle {
    const KIND: ObjectKind = ObjectKind::KernelBuilder;
}

impl BuilderHandle {
    /// The kernel as it is described so far.
    pub(super) fn kernel(&self) -> Builder {
        self.builder().clone()
    }

    fn builder(&self) -> MutexGuard<'_, Builder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The completion callback of an asynchronous kernel.
#[derive(Default)]
pub(crate) struct Done(Arc<(Mutex<bool>, Condvar)>);

impl Object for Done {
    const KIND: ObjectKind = ObjectKind::Done;
}

/// The host's end of a [`Done`].
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
        let done = done.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(done, limit, |done| !*done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

static REGISTERED: Mutex<Vec<Builder>> = Mutex::new(Vec::new());

/// Returns the kernels that were registered since the last call.
pub(crate) fn take_registered_kernels() -> Vec<Builder> {
    std::mem::take(&mut *REGISTERED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Puts a kernel into the registry.
pub(super) fn record(kernel: Builder) {
    REGISTERED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(kernel);
}

fn new_builder(
    op: &Text,
    device: &Text,
    create: Option<Create>,
    compute: Option<Compute>,
    delete: Option<Delete>,
) -> *mut BuilderHandle {
    let builder = Builder {
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
        op: Text,
        device: Text,
        create: Option<Create>,
        compute: Option<unsafe extern "C" fn(*mut c_void, *mut Context)>,
        delete: Option<Delete>,
    ) -> *mut BuilderHandle {
        new_builder(&op, &device, create, compute.map(Compute::Sync), delete)
    }

    fn TF_NewAsyncKernelBuilder(
        op: Text,
        device: Text,
        create: Option<Create>,
        compute: Option<unsafe extern "C" fn(*mut c_void, *mut Context, *mut Done)>,
        delete: Option<Delete>,
    ) -> *mut BuilderHandle {
        new_builder(&op, &device, create, compute.map(Compute::Async), delete)
    }

    fn TF_KernelBuilder_TypeConstraint(
        builder: Arg<BuilderHandle>,
        attr: Text,
        dtype: u32,
        status: Arg<Status>,
    ) {
        let Some(builder) = builder.get(CALL) else { return };
        builder.builder().constraints.push((attr.string(), DType(dtype)));
        report(&status, CALL, Ok(()));
    }

    fn TF_KernelBuilder_HostMemory(builder: Arg<BuilderHandle>, argument: Text) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().host_memory.push(argument.string());
        }
    }

    fn TF_KernelBuilder_Priority(builder: Arg<BuilderHandle>, priority: i32) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().priority = priority;
        }
    }

    fn TF_KernelBuilder_Label(builder: Arg<BuilderHandle>, label: Text) {
        if let Some(builder) = builder.get(CALL) {
            builder.builder().label = label.string();
        }
    }

    fn TF_RegisterKernelBuilder(_name: Text, builder: Arg<BuilderHandle>, status: Arg<Status>) {
        let Some(builder) = builder.take(CALL) else {
            let text = "there is no such builder".to_owned();
            return report(&status, CALL, Err((Code::INVALID_ARGUMENT, text)));
        };
        record(builder.kernel());
        report(&status, CALL, Ok(()));
    }

    fn TF_DeleteKernelBuilder(builder: Arg<BuilderHandle>) {
        drop(builder.take(CALL));
    }

    fn TF_RunAsyncOpKernelDoneCallback(done: Arg<Done>) {
        let Some(done) = done.take(CALL) else { return };
        let (flag, changed) = &*done.0;
        *flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}
