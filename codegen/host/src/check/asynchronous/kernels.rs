//! Kernels that are called before the work ahead of them is done.

use std::sync::Arc;

use super::second_device::hold_unless_inline;
use crate::check::session::{CheckSession, expect_equal};
use crate::core::View;
use crate::executor::DeviceMemoryBlock;
use crate::host_bytes::HostBytes;
use crate::kernel_run::KernelInstance;
use crate::outcome::{CheckResult, Stop};
use crate::tensor_buffer::TensorBuffer;
use crate::{DType, Error, Host, Op, Tensor};

const ELEMENTS: i64 = 10_000;

/// The number of kernels in a row.
const LENGTH: usize = 3;

/// The result of an op with two equal inputs.
pub(in crate::check) type Compute = fn(f32) -> f32;

const OPS: [(&str, Compute); 3] = [("AddV2", |x| x + x), ("Add", |x| x + x), ("Mul", |x| x * x)];

/// A row of kernels, enqueued behind a copy that has not run, computes with the copied bytes.
pub(in crate::check) fn kernels(session: &CheckSession<'_>) -> CheckResult {
    let host = session.host()?;
    let values: Vec<f32> = (0..ELEMENTS).map(|at| (at % 4) as f32).collect();
    let tensor = Tensor::from([ELEMENTS], &values);
    let (op, compute) = find_op(&host, &tensor)?;
    let output = enqueue_row(&host, &op, &tensor)?;
    let found = host.copy_out(&output)?;
    let results = values
        .iter()
        .map(|value| (0..LENGTH).fold(*value, |it, _| compute(it)));
    let wanted = Tensor::from([ELEMENTS], &results.collect::<Vec<f32>>());
    let name = &op.name;
    let what = format!(
        "the result of {LENGTH} kernels of {name} in a row, called before the copy of their input was done,"
    );
    expect_equal(&what, found.bytes(), wanted.bytes())?;
    drop(output);
    host.close()?;
    Ok(format!(
        "{LENGTH} kernels of {name} in a row used the results of the work ahead of them"
    ))
}

/// Returns an op whose kernel has all of its arguments on the device.
pub(in crate::check) fn find_op(host: &Host, tensor: &Tensor) -> Result<(Op, Compute), Stop> {
    let inputs = [tensor.clone(), tensor.clone()];
    for (name, compute) in OPS {
        let op = Op::new(name).with_types_of(&inputs)?;
        let kernel = host.select(&op);
        if kernel.is_ok_and(|kernel| kernel.host_memory.is_empty()) {
            return Ok((op, compute));
        }
    }
    let names: Vec<&str> = OPS.iter().map(|(name, _)| *name).collect();
    Err(Stop::Skip(format!(
        "the plugin has no kernel of {} for float",
        names.join(", ")
    )))
}

/// Enqueues a copy of the tensor and the kernels, without waiting. Frees each intermediate result after the next kernel's
/// call, as TensorFlow does.
fn enqueue_row(host: &Host, op: &Op, tensor: &Tensor) -> Result<View, Stop> {
    let executor = &host.executor;
    let kernel = KernelInstance::create(host.select(op)?, op)?;
    let source = HostBytes::new(tensor.bytes());
    let buffer = TensorBuffer::allocate_on(executor, tensor.bytes().len())?;
    let memory = DeviceMemoryBlock {
        opaque: buffer.data(),
        size: buffer.len() as u64,
    };
    let mut view = View {
        dtype: DType::FLOAT,
        dims: tensor.dims().to_vec(),
        buffer: Arc::new(buffer),
    };
    let (copies, compute) = (host.streams.host_to_device, host.streams.compute);
    let hold = hold_unless_inline(executor, copies)?;
    executor.htod(copies, memory, source)?;
    executor.depend(compute, copies)?;
    // With the BFC allocator TensorFlow deallocates no memory, so the inputs outlive the row.
    let mut inputs = Vec::new();
    for _ in 0..LENGTH {
        let output = match host.enqueue(&kernel, op, vec![view.clone(), view.clone()]) {
            Ok(output) => output,
            Err(error) => {
                drop(hold);
                return Err(failed_call(host, &kernel, op, view, &error));
            }
        };
        let input = std::mem::replace(&mut view, output);
        if executor.uses_bfc() {
            inputs.push(input);
        }
    }
    drop(hold);
    executor.poll(compute)?;
    Ok(view)
}

/// Returns a failure if the kernel succeeds once the work ahead of it is done, else the reason to skip the check.
fn failed_call(host: &Host, kernel: &KernelInstance, op: &Op, input: View, error: &Error) -> Stop {
    let later = host.executor.synchronize();
    let later = later.and_then(|()| host.enqueue(kernel, op, vec![input.clone(), input]));
    let is_late = later.and_then(|_| host.executor.synchronize()).is_ok();
    match is_late {
        true => Stop::Fail(format!(
            "{}, called before the copy of its input was done, failed: {error}",
            op.name
        )),
        false => Stop::Skip(format!("no kernel was enqueued: {error}")),
    }
}
