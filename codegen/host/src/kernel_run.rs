//! One run of one kernel, with the copies and the order of streams that TensorFlow has: in on one
//! stream, compute on another, out on a third.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::core::{Attr, Builder, Compute, Construction, Context, Done, Placement, View};
use crate::executor::Block;
use crate::host::Host;
use crate::memory::HostMemory;
use crate::objects::{self, Owner};
use crate::quirks::Quirk;
use crate::tensor_buffer::Buffer;
use crate::{Code, Error, Op, Tensor, fault};

/// How long an asynchronous kernel may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl Host {
    /// Runs `op` on `inputs` by the kernel that TensorFlow would choose, and gives its outputs.
    ///
    /// # Errors
    /// Where no kernel serves the op and types, where the kernel fails (with its code and message),
    /// or where it leaves an output unset.
    pub fn run(&self, op: &Op, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let op = op.bound(inputs)?;
        let kernel = self.select(&op)?;
        let made = Kernel::create(kernel, &op)?;
        let result = self.compute(&made, &op, inputs);
        if result.is_err() {
            // What is still enqueued may read the caller's inputs.
            self.executor.synchronize()?;
        }
        result
    }

    /// The kernel that serves `op`: of those whose constraints hold, the one of highest priority.
    fn select(&self, op: &Op) -> Result<&Builder, Error> {
        let device = self.device_type();
        let of_op = self
            .kernels
            .iter()
            .filter(|kernel| kernel.op == op.name && kernel.device == device);
        if let Some(wrong) = of_op.clone().find_map(|kernel| unknown_attr(kernel, op)) {
            return Err(invalid(&op.name, wrong));
        }
        let matching: Vec<&Builder> = of_op.clone().filter(|kernel| serves(kernel, op)).collect();
        let top = matching.iter().map(|kernel| kernel.priority).max();
        match matching
            .iter()
            .filter(|kernel| Some(kernel.priority) == top)
            .collect::<Vec<_>>()[..]
        {
            [kernel] => Ok(kernel),
            [] => Err(Error::NoKernel(no_kernel(op, of_op))),
            [first, second, ..] => Err(invalid(&op.name, several(first, second))),
        }
    }

    fn compute(&self, made: &Kernel<'_>, op: &Op, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
        let host_memory = &made.builder.host_memory;
        if let Some(name) = host_memory.iter().find(|name| !op.has_argument(name)) {
            let text = format!("HostMemory args '{name}' not found in OpDef");
            return Err(invalid(&op.name, text));
        }
        let placed = op.placed_inputs(host_memory)?;
        let given = inputs
            .iter()
            .zip(&placed)
            .map(|(tensor, placed)| self.upload(tensor, placed));
        let given = given.collect::<Result<Vec<View>, Error>>()?;
        self.executor
            .depend(self.streams.compute, self.streams.host_to_device)?;
        let context = Context::new(
            (
                made.node.clone(),
                format!(
                    "/job:localhost/replica:0/task:0/device:{}:0",
                    self.device_type()
                ),
            ),
            (Arc::clone(&self.executor), self.streams.compute),
            (placed, op.placed_outputs(host_memory)?),
            given,
        );
        let _kept = op.keeps_inputs.then(|| context.state().given.clone());
        let context = objects::give(context, Owner::Host);
        let result = self.finish(made, context);
        drop(objects::take(context));
        result
    }

    fn upload(&self, tensor: &Tensor, placed: &Placement) -> Result<View, Error> {
        let bytes = tensor.bytes();
        let buffer = match placed.on_host {
            true => Buffer::held(HostMemory::of(bytes)),
            false => Buffer::allocate_on(&self.executor, bytes.len())?,
        };
        if buffer.on_device() {
            let copied = self
                .executor
                .htod(self.streams.host_to_device, block(&buffer), bytes);
            copied.map_err(|error| self.uncopied("CPU->PluggableDevice", error))?;
        }
        Ok(View {
            dtype: tensor.dtype(),
            dims: tensor.dims().to_vec(),
            buffer: Arc::new(buffer),
        })
    }

    /// What becomes of a copy that cannot be enqueued.
    fn uncopied(&self, direction: &str, error: Error) -> Error {
        match self.quirks.has(Quirk::CopyErrorIsFatal) {
            true => Error::Refused(format!("{direction} Memcpy failed.; {error}")),
            false => error,
        }
    }

    /// Computes, waits, and copies the outputs out.
    fn finish(&self, made: &Kernel<'_>, context: *mut Context) -> Result<Vec<Tensor>, Error> {
        made.compute(context)?;
        let context = objects::find(context).expect("the host holds it");
        wait_for_deferred(context)?;
        self.executor.poll(self.streams.compute)?;
        let mut state = context.state();
        if let Some((code, message)) = state.failure.take() {
            return Err(Error::Status {
                call: made.builder.op.clone(),
                code,
                message,
            });
        }
        let made_outputs = std::mem::take(&mut state.made);
        drop(state);
        let outputs = made_outputs.into_iter().zip(&context.outputs);
        outputs
            .enumerate()
            .map(|(index, (view, placed))| self.download(&made.builder.op, index, view, placed))
            .collect()
    }

    fn download(
        &self,
        op: &str,
        index: usize,
        view: Option<View>,
        placed: &Placement,
    ) -> Result<Tensor, Error> {
        let name = &placed.name;
        let unset = || Error::Status {
            call: format!("{op} left its output {name} unset"),
            code: Code::INTERNAL,
            message: format!("Missing {index}-th output from {{{{node {op}}}}}"),
        };
        let view = view.ok_or_else(unset)?;
        if view.dtype != placed.dtype {
            let text = format!("{op} gave {name} as {}, not {}", view.dtype, placed.dtype);
            return Err(Error::Refused(text));
        }
        let len = view.bytes();
        if len > view.buffer.len() {
            let text = format!(
                "{op} gave {name} the shape {:?}, above its memory",
                view.dims
            );
            return Err(Error::Refused(text));
        }
        match view.buffer.on_device() {
            false => Ok(Tensor::from_bytes(
                view.dtype,
                &view.dims,
                &view.buffer.host_bytes()[..len],
            )),
            true => self.copy_out(&view),
        }
    }

    /// The elements of a tensor in device memory.
    pub(crate) fn copy_out(&self, view: &View) -> Result<Tensor, Error> {
        let len = view.bytes();
        let stream = self.streams.device_to_host;
        let mut bytes = HostMemory::poisoned(len);
        self.executor.depend(stream, self.streams.compute)?;
        let source = Block {
            opaque: view.buffer.data(),
            size: len as u64,
        };
        let copied = self.executor.dtoh(stream, bytes.bytes_mut(), source);
        copied.map_err(|error| self.uncopied("PluggableDevice->CPU", error))?;
        self.executor.poll(stream)?;
        Ok(Tensor::from_bytes(view.dtype, &view.dims, bytes.bytes()))
    }
}

fn block(buffer: &Buffer) -> Block {
    Block {
        opaque: buffer.data(),
        size: buffer.len() as u64,
    }
}

fn invalid(op: &str, message: String) -> Error {
    Error::Status {
        call: op.to_owned(),
        code: Code::INVALID_ARGUMENT,
        message,
    }
}

/// That the kernel asks for the type of an attribute that the op has not.
fn unknown_attr(kernel: &Builder, op: &Op) -> Option<String> {
    let mut names = kernel.constraints.iter().map(|(name, _)| name);
    let unknown = names.find(|name| !op.attrs.contains_key(*name))?;
    let attrs = op
        .attrs
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let attrs: Vec<String> = attrs.collect();
    Some(format!(
        "OpKernel '{}' has constraint on attr '{unknown}' not in NodeDef '[{}]'",
        op.name,
        attrs.join(", ")
    ))
}

fn several(first: &Builder, second: &Builder) -> String {
    format!(
        "Multiple OpKernel registrations match NodeDef at the same priority '{{{{node {}}}}}': '{first}' and '{second}'",
        first.op
    )
}

fn serves(kernel: &Builder, op: &Op) -> bool {
    kernel.label.is_empty()
        && kernel
            .constraints
            .iter()
            .all(|(attr, dtype)| match op.attrs.get(attr) {
                Some(Attr::Type(bound)) => bound == dtype,
                Some(Attr::List(items)) => items.iter().all(|item| *item == Attr::Type(*dtype)),
                _ => false,
            })
}

fn no_kernel<'a>(op: &Op, of_op: impl Iterator<Item = &'a Builder>) -> String {
    let list = of_op
        .map(|kernel| format!("{:?}", kernel.constraints))
        .collect::<Vec<_>>();
    let types: Vec<String> = op
        .attrs
        .iter()
        .filter(|(_, value)| matches!(value, Attr::Type(_)))
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    match list.is_empty() {
        true => format!("the plugin registered no kernel for {}", op.name),
        false => {
            format!(
                "no kernel of {} serves {}; there are {}",
                op.name,
                types.join(" "),
                list.join(" ")
            )
        }
    }
}

fn wait_for_deferred(context: &Context) -> Result<(), Error> {
    let end = Instant::now() + PATIENCE;
    while context.deferred() > 0 {
        if Instant::now() > end {
            return Err(Error::Timeout("a deferred op did not end".into()));
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// A kernel that was made, and is deleted with this.
struct Kernel<'a> {
    builder: &'a Builder,
    node: String,
    object: *mut c_void,
}

impl<'a> Kernel<'a> {
    fn create(builder: &'a Builder, op: &Op) -> Result<Self, Error> {
        let node = format!("{}_under_test", op.name);
        let construction = objects::give(
            Construction::new(node.clone(), op.name.clone(), op.attrs.clone()),
            Owner::Host,
        );
        fault::entering(&"a kernel's create function");
        let object = match builder.create {
            // SAFETY: the plugin registered this function to be called so.
            Some(create) => unsafe { create(construction) },
            None => null_mut(),
        };
        let failure = objects::take(construction).and_then(|construction| construction.failure());
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

    fn compute(&self, context: *mut Context) -> Result<(), Error> {
        fault::entering(&"a kernel's compute function");
        match self.builder.compute {
            // SAFETY: the plugin registered this function to be called so, on what `create` gave.
            Some(Compute::Sync(compute)) => unsafe { compute(self.object, context) },
            Some(Compute::Async(compute)) => {
                let done = Done::default();
                let wait = done.wait();
                let done = objects::give(done, Owner::Plugin);
                // SAFETY: as above.
                unsafe { compute(self.object, context, done) };
                if !wait.done_within(PATIENCE) {
                    return Err(Error::Timeout(format!(
                        "{} never called done",
                        self.builder.op
                    )));
                }
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

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        if let Some(delete) = self.builder.delete {
            fault::entering(&"a kernel's delete function");
            // SAFETY: the plugin registered this function to be called once on what `create` gave.
            unsafe { delete(self.object) }
        }
    }
}
