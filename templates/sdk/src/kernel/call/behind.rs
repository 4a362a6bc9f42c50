//! Kernels of the host that run behind their call, as commands of its stream.
//!
//! On a device whose queues run later, a kernel that computes on the host would have to wait for all earlier work. One that states
//! that only shapes decide its outputs' shapes ([`Kernel::with_known_shapes`](crate::kernel::Kernel::with_known_shapes)) is enqueued
//! instead: copies of the inputs to host memory, the computation as a host function of the queue, and copies of the outputs.
//!
//! The kernel itself finds the shapes (`detached.rs`). If it does not ask for all outputs then, since it has failed or passes an
//! input on, the call waits as without the statement, so that its errors are those of the op.

use std::ptr::NonNull;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use sp_abi::kernels::TF_ExpectedOutputDataType;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::guard;

use super::context::ContextRef;
use super::detached::{Detached, HostTensor, Plan, PlannedOutput};
use super::instance::{Instance, OwnsInstance};
use super::recording::{node_name, record};
use super::{Call, CallMemory};
use crate::access::{Access, Copies, staging_buffer};
use crate::buffer::Buffer;
use crate::element::ElementLayout;
use crate::host_work::{HostQueue, HostWork, Transfer};
use crate::limit::c_index;
use crate::status::CallStatus;
use crate::tensor::{Tensor, address};
use crate::trace::{self, ActiveCall};
use crate::{Device, MemoryAccess, Result};

/// Returns true unless `SP_BEHIND=0` makes kernels wait.
fn is_enabled() -> bool {
    static ENABLED: LazyLock<bool> =
        LazyLock::new(|| sp_runtime::variable::is_on("SP_BEHIND", true));
    *ENABLED
}

/// One call of a kernel that runs behind it.
struct Behind<'c, D: Device> {
    instance: &'c Instance,
    context: ContextRef<'c>,
    device: &'c D,
    is_staged: bool,
}

/// The inputs of a call: in device memory those that have an address there.
#[derive(Default)]
struct Inputs {
    tensors: Vec<HostTensor>,
    addresses: Vec<Option<NonNull<u8>>>,
}

/// An output in device memory, and in memory of the host.
type Output = (HostTensor, NonNull<u8>);

/// Enqueues the call of a kernel. Returns false if it has to wait instead, and nothing is enqueued.
///
/// # Errors
/// Returns the error of an allocation, or the first one of the stream.
pub(super) fn run<D: Device>(
    instance: &Instance,
    context: ContextRef<'_>,
    device: &D,
    stream: &D::Stream,
) -> Result<bool> {
    let is_staged = match D::Access::memory_access(device) {
        _ if !instance.runs_behind || !is_enabled() => return Ok(false),
        MemoryAccess::InPlace => return Ok(false),
        MemoryAccess::InPlaceAfterWait => false,
        MemoryAccess::Staged => true,
    };
    let (Some(kernel), Some(queue)) = (instance.owner(), device.host_queue(stream)) else {
        return Ok(false);
    };
    if is_staged && !queue.0.has_late_copies() {
        return Ok(false);
    }
    let behind = Behind {
        instance,
        context,
        device,
        is_staged,
    };
    behind.run(kernel, &queue)
}

impl<D: Device> Behind<'_, D> {
    fn run(&self, kernel: Arc<dyn OwnsInstance>, queue: &HostQueue<'_>) -> Result<bool> {
        let (start, trace) = (Instant::now(), trace::begin());
        let Some(inputs) = self.fetch_inputs(trace.as_deref())? else {
            return Ok(false);
        };
        let Some(planned) = self.plan(&inputs.tensors) else {
            return Ok(false);
        };
        let outputs = self.allocate_outputs(planned)?;
        let work = self.work(kernel, inputs, outputs);
        let transfers = work.inputs.iter().chain(&work.outputs);
        let bytes = transfers.map(|it| it.bytes as u64).sum();
        // SAFETY: TensorFlow has the tensors in device memory until later work of the stream. The job has the host memory, which
        // only its computation uses.
        unsafe { queue.0.enqueue(work)? };
        if let Some(trace) = &trace {
            record::<D>(trace, self.instance, self.context, (bytes, true));
        }
        let (spec, time) = (self.instance.spec, start.elapsed());
        spec.counts.count(spec, Some(Copies { bytes, time }));
        spec.counts.count_behind();
        Ok(true)
    }

    /// Returns host memory for the copy of a tensor.
    fn allocate(&self, bytes: usize) -> Result<Buffer> {
        let mut buffer = match self.is_staged {
            true => staging_buffer(self.device, bytes)?,
            false => Buffer::zeroed(bytes)?,
        };
        // The call that finds the shapes reads it.
        buffer.freeze();
        Ok(buffer)
    }

    /// Returns the inputs, those in device memory with memory for their copies; `None` if one has other elements than numbers.
    fn fetch_inputs(&self, trace: Option<&ActiveCall>) -> Result<Option<Inputs>> {
        let mut inputs = Inputs::default();
        for index in 0..self.instance.inputs.count(self.instance.spec.inputs) {
            let tensor = self.context.input(index)?;
            if ElementLayout::from_dtype(tensor.dtype()?).is_err() {
                return Ok(None);
            }
            let (copy, address) = self.fetch_input(&tensor, index)?;
            if let Some(trace) = trace {
                trace.add_input(copy.dtype, &copy.dims[..], copy.bytes as u64);
            }
            inputs.tensors.push(copy);
            inputs.addresses.push(address);
        }
        Ok(Some(inputs))
    }

    fn fetch_input(
        &self,
        tensor: &Tensor,
        index: usize,
    ) -> Result<(HostTensor, Option<NonNull<u8>>)> {
        let (bytes, dims, dtype) = (tensor.bytes()?, tensor.dims()?, tensor.dtype()?);
        let start = address::<u8>(tensor.data()?, bytes)?;
        if !self.instance.is_host_input(index) {
            let copy = HostTensor::in_buffer(dtype, dims, self.allocate(bytes)?)?;
            // Without a copy an input has only a shape.
            let is_read = self.instance.reads_input(index);
            return Ok((copy, is_read.then_some(start)));
        }
        let buffer = Buffer::zeroed(bytes)?;
        // SAFETY: both have as many bytes, and the tensor is in host memory: the kernel is registered so.
        unsafe { buffer.start().copy_from_nonoverlapping(start, bytes) };
        Ok((HostTensor::in_buffer(dtype, dims, buffer)?, None))
    }

    /// Calls the kernel to find its outputs. Returns `None` if it has not asked for all of them.
    fn plan(&self, inputs: &[HostTensor]) -> Option<Vec<PlannedOutput>> {
        let allocate = |bytes| self.allocate(bytes);
        let types = self.output_types().ok().filter(|it| !it.is_empty())?;
        let plan = Plan::new(&types, &allocate);
        // SAFETY: no command has got the memory of the inputs yet.
        let detached = unsafe { Detached::planning(inputs, &plan) };
        // The result has no meaning: the kernel may not continue after its last output.
        let _ = guard::catch_panic("a kernel", || compute::<D>(self.instance, &detached));
        plan.into_outputs()
    }

    fn output_types(&self) -> Result<Vec<TF_DataType>> {
        let count = self.instance.outputs.count(self.instance.spec.outputs);
        let (get, context) = (TF_ExpectedOutputDataType.get()?, self.context.to_raw()?);
        // SAFETY: the context is live, and has as many outputs.
        let dtype = |index| Ok(unsafe { get(context, c_index(index)?) });
        (0..count).map(dtype).collect()
    }

    /// Allocates the outputs in device memory.
    fn allocate_outputs(&self, planned: Vec<PlannedOutput>) -> Result<Vec<Output>> {
        let allocate = |(index, planned): (usize, PlannedOutput)| {
            let (copy, context) = (planned.tensor, self.context);
            let tensor = match planned.forwarded {
                // In place the kernel reads the input while it writes the output.
                Some(input) if self.is_staged => {
                    let (tensor, _) =
                        context.forward_input_or_allocate_output(input, index, &copy.dims)?;
                    tensor
                }
                _ => context.allocate_output(index, copy.dtype, &copy.dims)?,
            };
            let start = address(tensor.data()?, copy.bytes)?;
            Ok((copy, start))
        };
        planned.into_iter().enumerate().map(allocate).collect()
    }

    /// Returns the copies and the computation of the call.
    fn work(
        &self,
        kernel: Arc<dyn OwnsInstance>,
        inputs: Inputs,
        outputs: Vec<Output>,
    ) -> HostWork {
        let name: Arc<str> = name(self.instance, self.context).into();
        let (mut copies, mut in_place) = ([Vec::new(), Vec::new()], Vec::new());
        let mut place = |copy: HostTensor, device: Option<NonNull<u8>>, copies: &mut Vec<_>| {
            let (Some(device), bytes) = (device.filter(|_| copy.bytes > 0), copy.bytes) else {
                return copy;
            };
            let address = device.as_ptr() as usize;
            if self.is_staged {
                copies.push(Transfer {
                    device: address,
                    host: copy.start,
                    bytes,
                });
                return copy;
            }
            in_place.push((address, bytes));
            // SAFETY: the host can address the memory of the device, where the tensor has as many bytes.
            unsafe { copy.at(device) }
        };
        let [to_host, to_device] = &mut copies;
        let inputs = inputs.tensors.into_iter().zip(inputs.addresses);
        let inputs = inputs.map(|(it, device)| place(it, device, to_host));
        let inputs = inputs.collect();
        let outputs = outputs.into_iter();
        let outputs = outputs.map(|(it, device)| place(it, Some(device), to_device));
        let outputs = outputs.collect();
        let job = Arc::new(Job {
            kernel,
            inputs,
            outputs,
        });
        let ([inputs, outputs], memory) = (copies, job.clone());
        HostWork {
            name: name.clone(),
            inputs,
            outputs,
            in_place,
            compute: Box::new(move || job.compute::<D>()),
            memory,
        }
    }
}

/// The kernel and the memory that the commands of a call use. It is dropped when they have completed.
struct Job {
    kernel: Arc<dyn OwnsInstance>,
    inputs: Vec<HostTensor>,
    outputs: Vec<HostTensor>,
}

impl Job {
    fn compute<D: Device>(&self) -> Result<()> {
        // SAFETY: the stream has copied the inputs, and copies the outputs later. Nobody else has the memory.
        let detached = unsafe { Detached::new(&self.inputs, &self.outputs) };
        compute::<D>(self.kernel.instance(), &detached)
    }
}

fn compute<D: Device>(instance: &Instance, detached: &Detached<'_>) -> Result<()> {
    let status = CallStatus::of_thread();
    let context = ContextRef::from_detached(detached, &status);
    let call = Call::new::<D>(context, instance, CallMemory::IN_PLACE);
    call.finish((instance.compute)(&call))
}

/// Returns the kernel and its node, for messages.
fn name(instance: &Instance, context: ContextRef<'_>) -> String {
    let node = node_name(instance, context);
    format!("{} (node {node})", instance.spec.label())
}
