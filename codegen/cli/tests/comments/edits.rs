//! The edits: a declaration, a mark of its comment, and the replacement of the mark.

/// Replaces a mark in the comment of a declaration.
pub struct Edit {
    pub header: &'static str,
    /// Text of the declaration.
    at: &'static str,
    mark: &'static str,
    with: &'static str,
    position: MarkPosition,
}

/// The position of the mark.
#[derive(Clone, Copy)]
enum MarkPosition {
    /// The nearest mark above the declaration.
    Above,
    /// The nearest mark after the declaration.
    Behind,
}

impl Edit {
    pub fn apply(&self, text: &str) -> String {
        let at = text
            .find(self.at)
            .unwrap_or_else(|| panic!("no {}", self.at));
        let found = match self.position {
            MarkPosition::Above => text[..at].rfind(self.mark),
            MarkPosition::Behind => text[at..].find(self.mark).map(|mark| at + mark),
        };
        let mark = found.unwrap_or_else(|| panic!("no {} at {}", self.mark, self.at));
        let rest = &text[mark + self.mark.len()..];
        format!("{}{}{rest}", &text[..mark], self.with)
    }
}

/// Edits with the same effect, and the finding that they cause.
pub struct Change {
    pub name: &'static str,
    pub edit: &'static [Edit],
    pub rule: &'static str,
    pub item: &'static str,
}

pub const STREAM: &str = "tensorflow/c/experimental/stream_executor/stream_executor.h";
const GRAPPLER: &str = "tensorflow/c/experimental/grappler/grappler.h";
pub const PROFILER: &str = "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h";
pub const KERNELS: &str = "tensorflow/c/kernels.h";
const PJRT: &str = "xla/pjrt/c/pjrt_c_api.h";

pub const fn above(
    header: &'static str,
    at: &'static str,
    mark: &'static str,
    with: &'static str,
) -> Edit {
    let position = MarkPosition::Above;
    Edit {
        header,
        at,
        mark,
        with,
        position,
    }
}

pub const fn behind(
    header: &'static str,
    at: &'static str,
    mark: &'static str,
    with: &'static str,
) -> Edit {
    let position = MarkPosition::Behind;
    Edit {
        header,
        at,
        mark,
        with,
        position,
    }
}

const fn change(
    name: &'static str,
    edit: &'static [Edit],
    rule: &'static str,
    item: &'static str,
) -> Change {
    Change {
        name,
        edit,
        rule,
        item,
    }
}

pub const CHANGES: &[Change] = &[
    change(
        "a slot is no longer optional",
        &[above(
            STREAM,
            "(*block_host_until_done)",
            "// [Optional]\n",
            "//\n",
        )],
        "presence_tightened",
        "SP_StreamExecutor.block_host_until_done",
    ),
    change(
        "data is no longer optional",
        &[above(STREAM, "hardware_name;", "// [Optional]\n", "//\n")],
        "presence_tightened",
        "SP_Device.hardware_name",
    ),
    change(
        "a slot that a note requires is optional",
        &[above(STREAM, "(*mem_zero)", "//", "// [Optional]\n  //")],
        "presence_relaxed",
        "SP_StreamExecutor.mem_zero",
    ),
    change(
        "a slot that a note requires is reserved",
        &[above(
            STREAM,
            "(*mem_zero)",
            "//",
            "// Reserved for future use.",
        )],
        "presence_relaxed",
        "SP_StreamExecutor.mem_zero",
    ),
    change(
        "core and plugin swapped: SE_",
        SWAPPED,
        "filler_changed",
        "SE_CreateDeviceParams",
    ),
    change(
        "core and plugin swapped: SP_",
        SWAPPED,
        "filler_changed",
        "SP_StreamExecutor",
    ),
    change(
        "core fills the profiler's structs",
        &[above(
            PROFILER,
            "typedef",
            "TP_: Set/filled by plug-in",
            "TP_: Set/filled by core",
        )],
        "filler_changed",
        "TP_ProfilerFns",
    ),
    change(
        "core fills the optimizer's structs",
        &[above(
            GRAPPLER,
            "typedef",
            "filled by the plugin:",
            "filled by the proper:",
        )],
        "filler_changed",
        "TP_Optimizer",
    ),
    change(
        "no rule for the prefix",
        &[above(
            STREAM,
            "typedef",
            "SE_ : set/filled by core",
            "SE_ : see below",
        )],
        "comment_changed",
        "SE_CreateDeviceParams",
    ),
    change(
        "no longer output, to be filled by the plugin",
        &[behind(
            STREAM,
            "device_fns;",
            "// output, to be filled by plugin",
            "",
        )],
        "direction_changed",
        "SE_CreateDeviceFnsParams.device_fns",
    ),
    change(
        "output that core fills",
        &[behind(
            STREAM,
            "SP_PlatformFns* platform_fns;",
            "set by plugin",
            "set by core",
        )],
        "filler_changed",
        "SE_PlatformRegistrationParams.platform_fns",
    ),
    change(
        "from input and output to output",
        &[behind(
            STREAM,
            "SP_Device* device;  //",
            "Input/output",
            "Output",
        )],
        "direction_changed",
        "SE_CreateDeviceParams.device",
    ),
    change(
        "from [in/out] to [out]",
        &[above(
            PROFILER,
            "TP_Profiler* profiler;",
            "[in/out]",
            "[out]",
        )],
        "direction_changed",
        "TF_ProfilerRegistrationParams.profiler",
    ),
    change(
        "from [out] to [in]",
        &[above(PROFILER, "(*destroy_profiler)", "[out]", "[in]")],
        "direction_changed",
        "TF_ProfilerRegistrationParams.destroy_profiler",
    ),
    change(
        "ext that core sets",
        &[behind(
            STREAM,
            "typedef struct SP_Device {",
            "set by plugin",
            "set by core",
        )],
        "filler_changed",
        "SP_Device.ext",
    ),
    change(
        "a result that is no longer output",
        &[behind(PJRT, "PJRT_Client* client;", "// out", "")],
        "direction_changed",
        "PJRT_Client_Create_Args.client",
    ),
    change(
        "an argument that is output",
        &[behind(
            PJRT,
            "struct PJRT_Client_PlatformName_Args {",
            "client;",
            "client;  // out",
        )],
        "filler_changed",
        "PJRT_Client_PlatformName_Args.client",
    ),
    change(
        "a status that a note knows to go both ways is no longer marked",
        &[above(KERNELS, "} TF_InputRange_Args", "// output", "")],
        "comment_changed",
        "TF_InputRange_Args.status",
    ),
    change(
        "a call that takes no ownership",
        &[above(
            KERNELS,
            "TF_RegisterKernelBuilder(const",
            "takes ownership",
            "does not take ownership",
        )],
        "transfer_changed",
        "TF_RegisterKernelBuilder(builder)",
    ),
    change(
        "a result that stays the callee's",
        &[above(
            KERNELS,
            "TF_Tensor* TF_AllocateOutput(",
            "takes ownership",
            "does not take ownership",
        )],
        "transfer_changed",
        "TF_AllocateOutput()",
    ),
    change(
        "a tensor whose owner is not stated",
        &[above(
            KERNELS,
            "void TF_GetInput(",
            "its ownership is passed to the caller",
            "is valid",
        )],
        "comment_changed",
        "TF_GetInput(tensor)",
    ),
];

const SWAPPED: &[Edit] = &[
    above(
        STREAM,
        "typedef",
        "SE_ : set/filled by core",
        "SE_ : set/filled by plugin",
    ),
    above(
        STREAM,
        "typedef",
        "SP_ : set/filled by plugin",
        "SP_ : set/filled by core",
    ),
];
