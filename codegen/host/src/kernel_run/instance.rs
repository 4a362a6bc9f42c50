//! A kernel's instance, made and computed by the plugin's functions.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

use crate::core::{Compute, Done, KernelBuilder, KernelConstruction, KernelContext, View, Wait};
use crate::objects::{self, BorrowedObject, Owner};
use crate::quirks::{Quirk, Quirks};
use crate::{Error, Op, fault};

/// Time limit of an asynchronous kernel.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// A created kernel; dropping it calls its delete function.
pub(crate) struct KernelInstance<'a> {
    pub(super) builder: &'a KernelBuilder,
    pub(super) node: String,
    object: *mut c_void,
}

impl<'a> KernelInstance<'a> {
    pub(crate) fn create(builder: &'a KernelBuilder, op: &Op) -> Result<Self, Error> {
        let node = op.node.clone();
        let node = node.unwrap_or_else(|| format!("{}_under_test", op.name));
        let construction = KernelConstruction::new(node.clone(), op.name.clone(), op.attrs.clone());
        let construction = BorrowedObject::new(construction);
        fault::set_current_call(&"a kernel's create function");
        let object = match builder.create {
            // SAFETY: the plugin registered this function with the signature of a create function, and the
            // construction is alive until `take` below.
            Some(create) => unsafe { create(construction.address()) },
            None => null_mut(),
        };
        let failure = construction
            .take()
            .and_then(|construction| construction.failure());
        let kernel = Self {
            builder,
            node,
            object,
        };
        match failure {
            Some((code, message)) => Err(Error::Status {
                call: op.name.clone(),
                code,
                message,
            }),
            None => Ok(kernel),
        }
    }

    pub(crate) fn compute(
        &self,
        context: &BorrowedObject<KernelContext>,
        quirks: Quirks,
    ) -> Result<(), Error> {
        let context = context.address();
        fault::set_current_call(&"a kernel's compute function");
        match self.builder.compute {
            // SAFETY: the plugin registered this function with this signature; `object` is the result of its
            // create function, and the caller borrows the context for the duration of the call.
            Some(Compute::Sync(compute)) => unsafe { compute(self.object, context) },
            Some(Compute::Async(compute)) => {
                let done = Done::default();
                let wait = done.wait();
                let done = objects::create(done, Owner::Plugin);
                // SAFETY: as for a synchronous kernel; `done` is alive until the plugin calls it.
                unsafe { compute(self.object, context, done) };
                let result = self.wait_for_done(&wait, quirks);
                if result.is_err() {
                    // A later call is a fault.
                    // SAFETY: the host has no reference to the object. A call of the plugin has taken it before, or finds none.
                    drop(unsafe { objects::take(done) });
                }
                result?;
            }
            None => {
                let op = &self.builder.op;
                let text =
                    format!("the kernel of {op} has no compute function, and TensorFlow calls it");
                return Err(Error::Refused(text));
            }
        }
        Ok(())
    }
}

impl KernelInstance<'_> {
    /// Takes the outputs from the context, or the error that the kernel has set.
    pub(super) fn outputs(&self, context: &KernelContext) -> Result<Vec<Option<View>>, Error> {
        let mut state = context.state();
        match state.failure.take() {
            Some((code, message)) => Err(Error::Status {
                call: self.builder.op.clone(),
                code,
                message,
            }),
            None => Ok(state.output_views.iter_mut().map(Option::take).collect()),
        }
    }

    /// Waits until the kernel has called `done`, for as long as TensorFlow's callback exists.
    fn wait_for_done(&self, wait: &Wait, quirks: Quirks) -> Result<(), Error> {
        let ends_with_compute = quirks.has(Quirk::DoneEndsWithCompute);
        let limit = if ends_with_compute {
            Duration::ZERO
        } else {
            TIMEOUT
        };
        if wait.done_within(limit) {
            return Ok(());
        }
        let op = &self.builder.op;
        match ends_with_compute {
            true => Err(Error::Refused(format!(
                "{op} did not call done before compute returned, where its callback ends up to 2.21"
            ))),
            false => Err(Error::Timeout(format!("{op} never called done"))),
        }
    }
}

impl Drop for KernelInstance<'_> {
    fn drop(&mut self) {
        if let Some(delete) = self.builder.delete {
            fault::set_current_call(&"a kernel's delete function");
            // SAFETY: the plugin registered this function to be called once on the result of its create function.
            unsafe { delete(self.object) }
        }
    }
}
