//! Kernels that return an error, for ops whose kernels in core are wrong on a plugin's device.
//!
//! Core's own kernels of device type DEFAULT for `AssignAddVariableOp` and `AssignSubVariableOp` (from 2.15 on) use device
//! memory from the host. That crashes if the host cannot access it, and gives wrong numbers if a queue has not written it
//! yet. On such a device an error that names the remedy takes their place for the types of which the plugin has no kernel. From
//! 2.19 to 2.21 these are all types: core exports no function of variables there.
//!
//! Core has kernels of type GPU for the ops of XLA in builds without CUDA too. They find no compiler, and end the process in 2.22.
//!
//! From 2.19 to 2.21 a device of any kind has such kernels for the rows of variables and for random generators. A graph that
//! uses them is then placed before the plugin's optimizer replaces them.

use std::ffi::CStr;
use std::sync::{Mutex, Once, PoisonError};

use sp_abi::kernels_experimental::TF_GetInputTensorFromVariable;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::{HostFunction, Releases};

use super::builder::new_builder;
use super::rejection::rejection;
use crate::kernel::attribute::Construction;
use crate::kernel::call::Call;
use crate::kernel::definition::{Kernel, KernelTable};
use crate::kernel::spec::{KernelBuilder, OpSpec, Options, State};
use crate::lacking::{self, Lacking};
use crate::{Bf16, Bool, Complex64, Complex128, Device, Element, F16, Result, platform};

/// The kernels of the plugin have a higher priority, so these run for the remaining types only.
const PRIORITY: i32 = -1;

/// The priority above core's kernels of type GPU and those that replace them in a build with CUDA, and below those of the plugin.
const PRIORITY_ON_GPU: i32 = 200;

/// A kernel that returns an error.
struct Rejection {
    kernel: &'static Kernel,
    /// The type attribute and its types, for an op that has kernels of core for variants, or none.
    types: Option<(&'static CStr, &'static [TF_DataType])>,
}

/// The types of a variable's elements that a kernel can have.
const ELEMENTS: &[TF_DataType] = &[
    Bool::DTYPE,
    i8::DTYPE,
    i16::DTYPE,
    i32::DTYPE,
    i64::DTYPE,
    u8::DTYPE,
    u16::DTYPE,
    u32::DTYPE,
    u64::DTYPE,
    f32::DTYPE,
    f64::DTYPE,
    F16::DTYPE,
    Bf16::DTYPE,
    Complex64::DTYPE,
    Complex128::DTYPE,
];
const NUMBERS: &[TF_DataType] = ELEMENTS.split_at(1).1;

/// Lists the ops with the expression that replaces each of them, or all.
macro_rules! rejections {
    ($list:ident, $types:expr, $remedy:literal; $($op:ident)*) => {
        rejections! { $list, $types; $($op => $remedy;)* }
    };
    ($list:ident, $types:expr; $($op:ident => $remedy:literal;)*) => {
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
                            let reason = concat!("does not support the device's memory; use ", $remedy);
                            Err(rejection(stringify!($op), reason))
                        }
                        &KERNELS
                    }
                }
            )*
            vec![$(Rejection { kernel: &$op::kernels()[0], types: $types }),*]
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
rejections! { of_parallel_stack, None;
    _ParallelConcatStart => "tf.stack(values)";
    _ParallelConcatUpdate => "tf.stack(values)";
}

// Core has kernels for variants only, whose elements are in host memory.
rejections! { of_elements, Some((c"dtype", ELEMENTS));
    ResourceGather => "tf.gather(variable.read_value(), indices)";
    ResourceGatherNd => "tf.gather_nd(variable.read_value(), indices)";
    ResourceScatterUpdate => "variable.assign(tf.tensor_scatter_nd_update(variable, tf.expand_dims(indices, -1), updates))";
}

// Core has kernels for the CPU only, here and below.
rejections! { of_numbers, Some((c"dtype", NUMBERS));
    ResourceScatterAdd => "variable.assign(tf.tensor_scatter_nd_add(variable, tf.expand_dims(indices, -1), updates))";
    ResourceScatterSub => "variable.assign(tf.tensor_scatter_nd_sub(variable, tf.expand_dims(indices, -1), updates))";
    ResourceScatterMul => "variable.assign(..)";
    ResourceScatterDiv => "variable.assign(..)";
    ResourceScatterMin => "variable.assign(tf.tensor_scatter_nd_min(variable, tf.expand_dims(indices, -1), updates))";
    ResourceScatterMax => "variable.assign(tf.tensor_scatter_nd_max(variable, tf.expand_dims(indices, -1), updates))";
}

rejections! { of_slices, Some((c"T", ELEMENTS));
    ResourceScatterNdAdd => "variable.assign(tf.tensor_scatter_nd_add(variable, indices, updates))";
    ResourceScatterNdSub => "variable.assign(tf.tensor_scatter_nd_sub(variable, indices, updates))";
    ResourceScatterNdMin => "variable.assign(tf.tensor_scatter_nd_min(variable, indices, updates))";
    ResourceScatterNdMax => "variable.assign(tf.tensor_scatter_nd_max(variable, indices, updates))";
    ResourceScatterNdUpdate => "variable.assign(tf.tensor_scatter_nd_update(variable, indices, updates))";
    ResourceStridedSliceAssign => "variable.assign(tf.raw_ops.TensorStridedSliceUpdate(input=variable, begin=begin, end=end, strides=strides, value=value))";
}

rejections! { of_generators, None;
    RngReadAndSkip => "a tf.random.Generator on the CPU, which tf.device(\"CPU\") makes, or one in a tf.function";
    RngSkip => "a tf.random.Generator on the CPU, which tf.device(\"CPU\") makes, or one in a tf.function";
    StatefulUniform => "tf.random.Generator.uniform, of a generator on the CPU";
    StatefulUniformInt => "tf.random.Generator.uniform, of a generator on the CPU";
    StatefulUniformFullInt => "tf.random.Generator.uniform_full_int, of a generator on the CPU";
    StatefulStandardNormalV2 => "tf.random.Generator.normal, of a generator on the CPU";
    StatefulTruncatedNormal => "tf.random.Generator.truncated_normal, of a generator on the CPU";
    StatefulRandomBinomial => "tf.random.Generator.binomial, of a generator on the CPU";
}

rejections! { of_optimizers, Some((c"T", NUMBERS));
    ResourceApplyGradientDescent => "variable.assign(variable - rate * gradient)";
    ResourceApplyMomentum => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
    ResourceApplyKerasMomentum => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
    ResourceApplyAdam => "variable.assign(..), as the optimizers of Keras from 2.11 on do";
}

// Core has kernels of type GPU, which need a compiler for the platform.
rejections! { of_xla, None, "tf.device(\"CPU\")";
    XlaBroadcastHelper XlaCallModule XlaConv XlaConvV2 XlaDequantize XlaDot XlaDotV2 XlaDynamicSlice
    XlaDynamicUpdateSlice XlaEinsum XlaGather XlaIf XlaKeyValueSort XlaOptimizationBarrier XlaPad XlaRecv
    XlaReduce XlaReducePrecision XlaReduceWindow XlaReplicaId XlaRngBitGenerator XlaScatter XlaSelectAndScatter
    XlaSelfAdjointEig XlaSend XlaSharding XlaSort XlaSpmdShardToFullShape XlaSvd XlaVariadicReduce
    XlaVariadicReduceV2 XlaVariadicSort XlaWhile
}

// Python writes them for devices of type GPU up to 2.14. The plugin's optimizer replaces them.
rejections! { of_nccl, None, "tf.distribute.ReductionToOneDevice";
    NcclAllReduce NcclReduce NcclBroadcast
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
    ..Options::new(env!("CARGO_CRATE_NAME"))
};

/// Registers the kernels that the devices need which are open.
pub(super) fn register<D: Device>(device_type: &'static CStr) {
    static EVERY_DEVICE: Once = Once::new();
    static IN_PLACE_DEVICE: Once = Once::new();
    static OTHER_DEVICE: Once = Once::new();
    let priority = match platform::has_kernels_for_cuda(device_type.to_bytes()) {
        true => PRIORITY_ON_GPU,
        false => PRIORITY,
    };
    EVERY_DEVICE.call_once(|| {
        register_all::<D>(&of_all_devices(), device_type, priority);
        if device_type == c"GPU" {
            register_all::<D>(&of_xla(), device_type, PRIORITY_ON_GPU);
            register_all::<D>(&of_nccl(), device_type, PRIORITY_ON_GPU);
        }
    });
    if platform::has_other_devices() {
        OTHER_DEVICE.call_once(|| {
            register_all::<D>(&of_other_devices(), device_type, priority);
            report_deferred(|_| true);
        });
    } else {
        let rejections = of_all_devices();
        IN_PLACE_DEVICE.call_once(|| report_deferred(|op| has(&rejections, op)));
    }
}

/// Ops without a kernel that a device of the one kind leaves to core, and one of the other kind rejects.
static DEFERRED: Mutex<Vec<Lacking>> = Mutex::new(Vec::new());

/// Defers the report of ops that some devices reject until a device is opened; returns the other ops.
pub(super) fn defer_report(lacking: Vec<Lacking>) -> Vec<Lacking> {
    let mut rejections = of_other_devices();
    rejections.extend(of_all_devices());
    let (deferred, others) = lacking
        .into_iter()
        .partition(|(_, op)| has(&rejections, op));
    *DEFERRED.lock().unwrap_or_else(PoisonError::into_inner) = deferred;
    others
}

fn has(rejections: &[Rejection], op: &CStr) -> bool {
    rejections.iter().any(|it| it.kernel.op() == op)
}

fn report_deferred(is_rejected: impl Fn(&CStr) -> bool) {
    let deferred = DEFERRED.lock().unwrap_or_else(PoisonError::into_inner);
    let deferred = deferred.iter().cloned();
    let (rejected, others): (Vec<_>, Vec<_>) = deferred.partition(|(_, op)| is_rejected(op));
    lacking::report(&rejected, "an error that names what to use instead");
    lacking::report(&others, "left to TensorFlow's own kernels");
}

/// Returns the kernels of each device. Those for variables have no other one there.
fn of_all_devices() -> Vec<Rejection> {
    let mut rejections = of_parallel_stack();
    if !has_functions_of_variables() {
        rejections.extend(of_elements());
        rejections.extend(of_numbers());
        rejections.extend(of_slices());
        rejections.extend(of_generators());
    }
    rejections
}

/// Returns the further kernels of a device whose memory the host cannot use at once and in place.
fn of_other_devices() -> Vec<Rejection> {
    let mut rejections = of_core();
    rejections.extend(of_queues());
    if !has_functions_of_variables() {
        rejections.extend(of_optimizers());
    }
    rejections
}

fn register_all<D: Device>(rejections: &[Rejection], device_type: &CStr, priority: i32) {
    for it in rejections {
        if let Err(error) = it.register::<D>(device_type, priority) {
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
    fn register<D: Device>(&self, device_type: &CStr, priority: i32) -> Result<()> {
        let Some((attribute, types)) = self.types else {
            return self
                .builder::<D>(device_type, priority)?
                .register(self.kernel.op());
        };
        types.iter().try_for_each(|dtype| {
            let builder = self.builder::<D>(device_type, priority)?;
            builder.constrain(attribute, *dtype)?;
            builder.register(self.kernel.op())
        })
    }

    fn builder<D: Device>(&self, device_type: &CStr, priority: i32) -> Result<KernelBuilder> {
        let builder = new_builder::<D>(self.kernel, device_type)?;
        builder.set_priority(priority)?;
        Ok(builder)
    }
}
