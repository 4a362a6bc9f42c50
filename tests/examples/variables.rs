//! A plugin with kernels on variables in device memory, on reference variables, and with asynchronous kernels, beside
//! the reference kernels.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use sp_abi::kernels_experimental::{
    TF_AssignRefVariable, TF_DestroyTemporaryVariable, TF_TemporaryVariable,
};
use sp_abi::stream_executor::{DeviceFns, StreamExecutor, TimerFns};
use sp_cpu::CpuDevice;
use sp_plugin::kernel::{
    CallInfo, Context, Forwarded, HostInt32, In, Kernel, LazyIn, Out, RefOut, Variable, kernel,
    kernels, lock_all,
};
use sp_plugin::{Device, Error, HostAddressable, InPlace, Result, vtable};

/// The waits for a stream.
static WAITS: AtomicU32 = AtomicU32::new(0);

struct VariableDevice {
    reference: CpuDevice,
}

// SAFETY: the slots are those of the reference device.
unsafe impl Device for VariableDevice {
    type Access = InPlace;

    fn open(_: usize) -> Result<Self> {
        Ok(Self {
            reference: CpuDevice::new(),
        })
    }
}

// SAFETY: all memory is the reference device's, which is the host's own.
unsafe impl HostAddressable for VariableDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl StreamExecutor for VariableDevice {
    fn block_host_until_done(&self, stream: &Self::Stream) -> Result<()> {
        WAITS.fetch_add(1, Ordering::Relaxed);
        self.reference.block_host_until_done(stream)
    }
}

#[vtable(fallback = self.reference: CpuDevice)]
impl DeviceFns for VariableDevice {}

#[vtable(fallback = self.reference: CpuDevice)]
impl TimerFns for VariableDevice {}

/// A step on two variables in device memory: adds the gradient to `accum`, and `accum` to `var`.
#[kernel(ResourceApplyAdagrad, T = [f32], device = VariableDevice, ignore = [lr])]
fn on_device(
    #[context] context: &Context<'_, VariableDevice>,
    var: Variable<'_, f32, VariableDevice>,
    accum: Variable<'_, f32, VariableDevice>,
    grad: In<'_, f32, VariableDevice>,
) -> Result<()> {
    let mut lock = lock_all([var, accum])?;
    let [mut var, mut accum] = lock.values()?;
    assert_eq!(var.address()?.is_null(), var.is_empty());
    context.device();
    // SAFETY: work on the reference device's streams is complete when it is enqueued.
    let (var, accum, grad) =
        unsafe { (var.as_slice_mut()?, accum.as_slice_mut()?, grad.as_slice()?) };
    for ((var, accum), grad) in var.iter_mut().zip(accum).zip(grad) {
        *accum += grad;
        *var += *accum;
    }
    Ok(())
}

/// Replaces a variable in device memory.
#[kernel(AssignVariableOp, dtype = [f32], device = VariableDevice)]
fn assign_on_device(
    resource: Variable<'_, f32, VariableDevice>,
    value: LazyIn<'_, f32>,
    validate_shape: bool,
) -> Result<()> {
    resource.assign(value, validate_shape)
}

/// Locks a variable that is not the first input.
#[kernel(ResourceApplyProximalAdagrad, T = [f32], ignore = [var, lr, l1, l2])]
fn lock_second_input(accum: Variable<'_, f32>, grad: In<'_, f32>) -> Result<()> {
    drop(grad);
    accum.lock().map(drop)
}

/// Panics while the variable is locked and changed.
#[kernel(ResourceApplyPowerSign, T = [f32], ignore = [m, lr, logbase, sign_decay, beta, grad])]
fn panics_with_lock(var: Variable<'_, f32>) -> Result<()> {
    let mut lock = var.lock()?;
    lock.value()?[0] = 7.0;
    panic!("expected");
}

#[kernel(Assign, T = [f32], needs = [TF_AssignRefVariable])]
fn assign_reference(
    r#ref: Variable<'_, f32>,
    value: LazyIn<'_, f32>,
    output_ref: RefOut<'_, f32>,
    use_locking: bool,
    validate_shape: bool,
) -> Result<()> {
    output_ref.assign(r#ref, value, use_locking, validate_shape)
}

#[kernel(AssignAdd, T = [f32])]
fn add_to_reference(
    r#ref: Variable<'_, f32>,
    value: LazyIn<'_, f32>,
    output_ref: RefOut<'_, f32>,
) -> Result<()> {
    output_ref.forward(&r#ref)?;
    r#ref.update(value, |variable, value| {
        variable
            .iter_mut()
            .zip(value)
            .for_each(|(old, it)| *old += it);
    })
}

/// Adds the gradient to each of two references.
#[kernel(ApplyMomentum, T = [f32], ignore = [lr, momentum])]
fn add_to_two_references(
    var: Variable<'_, f32>,
    accum: Variable<'_, f32>,
    grad: In<'_, f32>,
    out: RefOut<'_, f32>,
) -> Result<()> {
    out.forward(&var)?;
    let mut lock = lock_all([var, accum])?;
    for mut variable in lock.values()? {
        let pairs = variable.iter_mut().zip(grad.data());
        pairs.for_each(|(value, grad)| *value += grad);
    }
    Ok(())
}

/// Fetches a tensor before the reference variable.
#[kernel(ScatterAdd, T = [f32], Tindices = [i32], ignore = [indices])]
fn fetch_before_reference(
    updates: In<'_, f32>,
    r#ref: Variable<'_, f32>,
    output_ref: RefOut<'_, f32>,
) -> Result<()> {
    drop(updates);
    output_ref.forward(&r#ref)
}

/// Assigns a reference as if it were a resource.
#[kernel(AssignSub, T = [f32])]
fn assign_reference_as_resource(
    r#ref: Variable<'_, f32>,
    value: LazyIn<'_, f32>,
    output_ref: RefOut<'_, f32>,
) -> Result<()> {
    output_ref.forward(&r#ref)?;
    r#ref.assign(value, true)
}

#[kernel(TemporaryVariable, dtype = [f32], needs = [TF_TemporaryVariable])]
fn create_temporary(r#ref: RefOut<'_, f32>, var_name: &str) -> Result<()> {
    r#ref.create_temporary(&[2], var_name)
}

/// Creates the variable of the second output, for which TensorFlow has no function.
#[kernel(RefSwitch, T = [f32], needs = [TF_TemporaryVariable], ignore = [data, pred])]
fn create_second_output(
    _output_false: RefOut<'_, f32>,
    output_true: RefOut<'_, f32>,
) -> Result<()> {
    output_true.create_temporary(&[2], "second")
}

#[kernel(DestroyTemporaryVariable, T = [f32], needs = [TF_DestroyTemporaryVariable])]
fn take_temporary(r#ref: Variable<'_, f32>, value: Out<'_, f32>, var_name: &str) -> Result<()> {
    r#ref.take(value, var_name)
}

/// Waits, and writes 1 if it runs on a thread of the SDK, else 0.
#[kernel(Sigmoid, T = [f32], asynchronous)]
fn waits(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    thread::sleep(Duration::from_millis(20));
    let is_later = thread::current().name() == Some("sp-kernel");
    y.uninit(x.dims())?.fill(f32::from(u8::from(is_later)));
    Ok(())
}

#[kernel(Tanh, T = [f32], asynchronous, ignore = [x])]
fn panics_later(_y: Out<'_, f32>) -> Result<()> {
    panic!("expected");
}

#[kernel(Sin, T = [f32], asynchronous, ignore = [x])]
fn fails_later(_y: Out<'_, f32>) -> Result<()> {
    Err(Error::unimplemented("expected"))
}

#[kernel(Cos, T = [f32], asynchronous, ignore = [x])]
fn sets_nothing(y: Out<'_, f32>) -> Result<()> {
    drop(y);
    Ok(())
}

/// Writes what TensorFlow states about the call: 1 if the node has its name, 10 if the input is in host memory.
#[kernel(Tan, T = [f32])]
fn describes_call(#[context] call: &CallInfo<'_>, x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    let has_name = call.node_name().is_ok_and(|it| it == "Tan_under_test");
    let is_host = call.is_host_input(0).unwrap_or(false);
    let step = call.step_id()? as f32;
    let value = f32::from(u8::from(has_name)) + 10.0 * f32::from(u8::from(is_host)) + 100.0 * step;
    y.uninit(x.dims())?.fill(value);
    Ok(())
}

/// Makes an input in host memory an output in device memory.
#[kernel(Sign, T = [i32])]
fn set_host_input(x: In<'_, i32, HostInt32>, y: Out<'_, i32>) -> Result<()> {
    y.set(x)
}

/// Ignores that the output could not be set.
#[kernel(Abs, T = [i32])]
fn ignores_error_of_output(x: In<'_, i32, HostInt32>, y: Out<'_, i32>) -> Result<()> {
    let _ = y.set(x);
    Ok(())
}

/// Writes the number of waits for the stream after the output was allocated.
#[kernel(Exp, T = [f32])]
fn waits_for_output(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    let before = WAITS.load(Ordering::Relaxed);
    let output = y.uninit(x.dims())?;
    output.fill((WAITS.load(Ordering::Relaxed) - before) as f32);
    Ok(())
}

/// Writes the number of waits for the stream after the output was forwarded or allocated.
#[kernel(Log, T = [f32])]
fn waits_for_forwarded_output(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> {
    let before = WAITS.load(Ordering::Relaxed);
    let output = y.forward(x)?;
    let waits = (WAITS.load(Ordering::Relaxed) - before) as f32;
    match output {
        Forwarded::InPlace(mut data) => data.fill(waits),
        Forwarded::Fresh { output, .. } => drop(output.fill(waits)),
    }
    Ok(())
}

fn table() -> Vec<&'static Kernel> {
    kernels![
        on_device,
        assign_on_device,
        lock_second_input,
        panics_with_lock,
        assign_reference,
        add_to_reference,
        add_to_two_references,
        fetch_before_reference,
        assign_reference_as_resource,
        create_temporary,
        create_second_output,
        take_temporary,
        waits,
        panics_later,
        fails_later,
        sets_nothing,
        describes_call,
        waits_for_output,
        waits_for_forwarded_output,
        ignores_error_of_output,
        set_host_input,
    ]
}

sp_plugin::plugin! {
    device: VariableDevice,
    device_type: c"VARIABLES",
    platform_name: c"VARIABLES",
    kernels: [table, sp_cpu::kernels::table],
}
