//! The plugins that run in TensorFlow: the good one, one for each planted defect that TensorFlow reaches, and one for
//! each omitted field of a struct.

use sp_ir::{Api, Field, Item, Type};

/// A plugin and its steps.
#[derive(Debug, Clone)]
pub struct Row {
    /// The macro that defines it: `REFUSES`, `OMIT_SP_Platform=name`.
    pub macro_: String,
    /// The list of steps.
    pub steps: &'static str,
    /// Its defect, or the struct with the omitted field.
    pub defect: String,
}

/// All steps of a plugin without an expected failure.
pub const LIFE: &str = "life";

/// Macros of the plugin's sources, each with its steps and its defect.
const PLANTED: &str = "
GOOD | life | none
GOOD | differ | a kernel fails: shapes that differ
GOOD | keep | a kernel's construction fails: keep_dims
USE_BFC | life | none, with the BFC allocator
UNDEFINED | life | an undefined symbol
REFUSES | life | SE_InitPlugin returns UNAVAILABLE
BAD_NAME | life | a slash in the platform's name
BYTE_NAME | life | a digit in the platform's name
SLASH_TYPE | life | a slash in the device type
LOWER_TYPE | life | a device type in lower case
UNIFIED | life | unified memory without its functions
DEVICE_FNS_REFUSED | life | create_device_fns fails
TABLE_REFUSED | life | create_stream_executor fails
TIMER_FNS_REFUSED | life | create_timer_fns fails
KERNEL_CRASH | life | TF_InitKernel calls abort
GRAPH_REFUSES | life | TF_InitGraph returns INTERNAL
PROFILER_REFUSES | life | TF_InitProfiler returns INTERNAL
PROFILER_TYPE | life | a slash in the profiler's device type
NO_DEVICE | life | 0 devices
COUNT_NEGATIVE | life | -1 devices
COUNT_REFUSED | life | get_device_count fails
DEVICE_REFUSED | life | create_device fails
WRONG_ORDINAL | life | a device states another ordinal
NO_USAGE | life | device_memory_usage returns false
STREAM_REFUSED | life | create_stream fails
STREAM_STATUS | life | get_stream_status fails
NO_MEMORY | life | allocate returns null
CRASH | life | allocate crashes
TRUSTS_SIZE | life | deallocate relies on the size in its argument
COPY_REFUSED | life | memcpy_htod fails
COPY_OUT_REFUSED | life | memcpy_dtoh fails
EVENT_ERROR | life | get_event_status returns SE_EVENT_ERROR
HANG | life | synchronize_all_activity hangs
TWICE | life | a kernel is registered twice
WRONG_DEVICE | life | a kernel for another device type
NO_SUCH_OP | life | a kernel for an unknown op
NO_SUCH_ARGUMENT | life | host memory for an unknown argument
NO_SUCH_CONSTRAINT | life | a constraint on an unknown attribute
NO_COMPUTE | life | a kernel without a compute function
NO_SUCH_INPUT | life | a kernel requests an eighth input
NO_SUCH_OUTPUT | life | a kernel sets an eighth output
NO_OUTPUT | life | a kernel sets no output
NO_SUCH_ATTR | life | a kernel requests an unknown attribute
OTHER_ATTR | life | a kernel requests an attribute with another type
BAD_SWITCH | life | an optimizer's switch that is neither off nor on
GRAPH_FAILS | life | optimize_func returns INTERNAL
GRAPH_EMPTY | life | optimize_func returns no graph
GRAPH_BROKEN | life | optimize_func returns bytes that are not a GraphDef
PROFILER_FAILS | life | the profiler's start fails
PROFILER_ONCE | life | the profiler's second start fails
PROFILER_FREES | life | destroy_profiler clears the device type, to which TensorFlow's copy points
PROFILER_NOISE | life | collect_data_xspace returns bytes that are not an XSpace
";

/// The structs that the plugin fills, in the order of the calls.
const FILLED: [&str; 15] = [
    "SE_PlatformRegistrationParams",
    "SP_Platform",
    "SP_PlatformFns",
    "SP_DeviceFns",
    "SP_StreamExecutor",
    "SP_TimerFns",
    "SP_Device",
    "SP_DeviceMemoryBase",
    "SP_AllocatorStats",
    "TP_OptimizerRegistrationParams",
    "TP_Optimizer",
    "TP_OptimizerConfigs",
    "TF_ProfilerRegistrationParams",
    "TP_Profiler",
    "TP_ProfilerFns",
];

/// Returns every plugin for a release.
pub fn rows(apis: &[Api]) -> Vec<Row> {
    let planted = crate::rows::rows(PLANTED).into_iter();
    let planted = planted.map(|[name, steps, defect]| Row {
        macro_: name.to_owned(),
        steps,
        defect: defect.to_owned(),
    });
    let omitted = FILLED.iter().flat_map(|name| omissions(apis, name));
    planted.chain(omitted).collect()
}

fn omissions(apis: &[Api], name: &str) -> Vec<Row> {
    let items = apis.iter().find_map(|api| api.items.get(name));
    let Some(Item::Struct(body)) = items else {
        return vec![];
    };
    let fields = body.fields.iter().filter(|field| is_set_by_plugin(field));
    let row = |field: &Field| Row {
        macro_: format!("OMIT_{name}={}", field.name),
        steps: LIFE,
        defect: name.to_owned(),
    };
    fields.map(row).collect()
}

/// Returns true for sizes, functions and strings, which a plugin must set.
fn is_set_by_plugin(field: &Field) -> bool {
    let is_text = matches!(&field.ty, Type::Pointer { pointee, .. } if **pointee == Type::Char);
    let is_function = matches!(&field.ty, Type::Function(_));
    field.name == "struct_size" || is_text || is_function || field.name == "opaque"
}

impl Row {
    /// Returns the omitted field, if any.
    pub fn omitted(&self) -> Option<&str> {
        let (_, member) = self.macro_.strip_prefix("OMIT_")?.split_once('=')?;
        Some(member)
    }

    /// Returns its name in the records and on the page.
    pub fn name(&self) -> String {
        let name = match self.macro_.strip_prefix("OMIT_") {
            Some(member) => format!("without {}", member.replace('=', ".")),
            None => self.macro_.clone(),
        };
        match self.steps {
            LIFE => name,
            steps => format!("{name}, {steps}"),
        }
    }
}
