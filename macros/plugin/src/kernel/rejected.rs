//! Kernels that return an error, for ops whose kernels in core are wrong on a plugin's device.
//!
//! Core's own kernels of device type DEFAULT for `AssignAddVariableOp` and `AssignSubVariableOp` (from 2.15 on) use device
//! memory from the host. That crashes if the host cannot access it, and gives wrong numbers if a queue has not written it
//! yet. On such a device an error that names the remedy takes their place for the types of which the plugin has no kernel. From
//! 2.19 to 2.21 these are all types: core exports no function of variables there.

use std::ffi::CStr;
use std::sync::{Mutex, Once, PoisonError};

use sp_abi::kernels_experimental::TF_GetInputTensorFromVariable;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::{HostFunction, Releases};

use super::attribute::Construction;
use super::builder::KernelBuilder;
use super::call::Call;
use super::spec::{Kernel, KernelTable, OpSpec, Options, State};
use super::table::{Lacking, report_lacking};
use crate::{Bf16, Device, Element, Error, F16, Result, platform};

/// The kernels of the plugin have a higher priority, so these run for the remaining types only.
const PRIORITY: i32 = -1;

/// A kernel that returns an error.
struct Rejection {
    kernel: &'static Kernel,
    /// The type attribute, for an op whose kernels in core for variants are right.
    numbers_of: Option<&'static CStr>,
}

/// Lists the ops with the expression that replaces them.
macro_rules! rejections {
    ($list:ident, $numbers_of:expr; $($op:ident => $remedy:literal;)*) => {
        fn $list() -> Vec<Rejection> {
            $(
                struct $op;

                impl KernelTable for $op {
                    fn kernels() -> &'static [Kernel] {
                        const NAME: &CStr = name(concat!(stringify!($op), "\0"));
                        static OP: OpSpec = op(NAME);
                        // SAFETY: the lists of arguments are empty, and `compute` reads neither arguments nor the state.
                        static KERNELS: [Kernel; 1] = unsafe {
                            [Kernel::new::<$op, 0>(&OP, &[], [&[], &[]], &OPTIONS, (prepare, compute))]
                        };
                        fn compute(_: &Call<'_>) -> Result<()> {
                            Err(rejection(stringify!($op), $remedy))
                        }
                        &KERNELS
                    }
                }
            )*
            vec![$(Rejection { kernel: &$op::kernels()[0], numbers_of: $numbers_of }),*]
        }
    };
}

fn prepare(_: &Construction<'_>) -> Result<State> {
    Ok(Box::new(()))
}

// Core has kernels for every device.
rejections! { of_core, None;
    AssignAddVariableOp => "variable.assign(variable + value)";
    AssignSubVariableOp => "variable.assign(variable - value)";
}

// Core's kernel writes its output, which is in device memory, from the host.
rejections! { of_queues, None;
    QueueIsClosedV2 => "a queue on the CPU, which tf.device(\"CPU\") makes";
}

// Core has kernels for the CPU only. From there the result is sent to the device before the kernels have written it.
rejections! { of_every_device, None;
    _ParallelConcatStart => "tf.stack(values)";
    _ParallelConcatUpdate => "tf.stack(values)";
}

// Core has kernels for variants only, whose elements are in host memory.
rejections! { of_rows, Some(c"dtype");
    ResourceGather => "tf.gather(variable.read_value(), indices)";
    ResourceGatherNd => "tf.gather_nd(variable.read_value(), indices)";
    ResourceScatterAdd => "variable.assign(tf.tensor_scatter_nd_add(variable, indices, updates))";
    ResourceScatterSub => "variable.assign(tf.tensor_scatter_nd_sub(variable, indices, updates))";
    ResourceScatterMul => "variable.assign(..)";
    ResourceScatterDiv => "variable.assign(..)";
    ResourceScatterMin => "variable.assign(tf.tensor_scatter_nd_min(variable, indices, updates))";
    ResourceScatterMax => "variable.assign(tf.tensor_scatter_nd_max(variable, indices, updates))";
    ResourceScatterUpdate => "variable.assign(tf.tensor_scatter_nd_update(variable, indices, updates))";
}

rejections! { of_optimizers, Some(c"T");
    ResourceApplyGradientDescent => "variable.assign(variable - rate * gradient)";
    ResourceApplyMomentum => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
    ResourceApplyKerasMomentum => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
    ResourceApplyAdam => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
}

const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the macro adds the only NUL"),
    }
}

const fn op(name: &'static CStr) -> OpSpec {
    OpSpec {
        name,
        releases: &[Releases::ALL],
        attributes: &[],
        definition: None,
    }
}

static OPTIONS: Options = Options {
    priority: PRIORITY,
    label: None,
    releases: Releases::ALL,
    needs: &[],
    attribute_checks: &[],
    configure: None,
    is_asynchronous: false,
    device: None,
};

#[cold]
fn rejection(op: &str, remedy: &str) -> Error {
    Error::unimplemented(format!(
        "{op}: the plugin has no kernel for it here, and TensorFlow's own does not support the device's memory; use {remedy}"
    ))
}

/// Registers the kernels as soon as a device is opened that needs them.
pub(super) fn register_for_devices<D: Device>(device_type: &'static CStr) {
    platform::set_open_hook(register::<D>, device_type);
}

fn register<D: Device>(device_type: &'static CStr) {
    static EVERY_DEVICE: Once = Once::new();
    static IN_PLACE_DEVICE: Once = Once::new();
    static OTHER_DEVICE: Once = Once::new();
    EVERY_DEVICE.call_once(|| register_all::<D>(&of_every_device(), device_type));
    if platform::has_other_devices() {
        OTHER_DEVICE.call_once(|| {
            register_all::<D>(&of_other_devices(), device_type);
            report_deferred("an error that names what to use instead");
        });
    } else {
        IN_PLACE_DEVICE.call_once(|| report_deferred("left to TensorFlow's own kernels"));
    }
}

/// Ops without a kernel that a device of the one kind leaves to core, and one of the other kind rejects.
static DEFERRED: Mutex<Vec<Lacking>> = Mutex::new(Vec::new());

/// Defers the report of ops that some devices reject until a device is opened; returns the other ops.
pub(super) fn defer_report(lacking: Vec<Lacking>) -> Vec<Lacking> {
    let rejections = of_other_devices();
    let is_rejected = |(_, op): &Lacking| rejections.iter().any(|it| it.kernel.op() == *op);
    let (deferred, others) = lacking.into_iter().partition(is_rejected);
    *DEFERRED.lock().unwrap_or_else(PoisonError::into_inner) = deferred;
    others
}

fn report_deferred(consequence: &str) {
    let deferred = DEFERRED.lock().unwrap_or_else(PoisonError::into_inner);
    report_lacking(&deferred, consequence);
}

/// Returns the kernels of a device whose memory the host cannot use at once and in place.
fn of_other_devices() -> Vec<Rejection> {
    let mut rejections = of_core();
    rejections.extend(of_queues());
    if !has_functions_of_variables() {
        rejections.extend(of_rows());
        rejections.extend(of_optimizers());
    }
    rejections
}

fn register_all<D: Device>(rejections: &[Rejection], device_type: &CStr) {
    for it in rejections {
        if let Err(error) = it.register::<D>(device_type) {
            let op = it.kernel.op().to_string_lossy();
            sp_runtime::report!(Error, "the error of {op} is not registered: {error}");
        }
    }
}

/// Returns true if the host exports the functions with which a kernel reads and changes variables.
pub(crate) fn has_functions_of_variables() -> bool {
    TF_GetInputTensorFromVariable.check_available().is_ok()
}

impl Rejection {
    fn register<D: Device>(&self, device_type: &CStr) -> Result<()> {
        let Some(attribute) = self.numbers_of else {
            return self.builder::<D>(device_type)?.register(self.kernel.op());
        };
        let integers = [i32::DTYPE, i64::DTYPE, u8::DTYPE];
        let floats = [f32::DTYPE, f64::DTYPE, F16::DTYPE, Bf16::DTYPE];
        let types = integers.into_iter().chain(floats);
        types.into_iter().try_for_each(|dtype: TF_DataType| {
            let builder = self.builder::<D>(device_type)?;
            builder.constrain(attribute, dtype)?;
            builder.register(self.kernel.op())
        })
    }

    fn builder<D: Device>(&self, device_type: &CStr) -> Result<KernelBuilder> {
        let builder = KernelBuilder::new::<D>(self.kernel, device_type)?;
        builder.set_priority(PRIORITY)?;
        Ok(builder)
    }
}
