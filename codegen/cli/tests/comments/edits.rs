//! The edits: a declaration, a mark of its comment, and the replacement of the mark.

use sp_tests::rows;

/// Replaces a mark in the comment of a declaration.
#[derive(Clone)]
pub struct Edit {
    pub header: &'static str,
    /// Text of the declaration.
    at: &'static str,
    mark: String,
    with: String,
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
    /// Reads an edit: `above` or `behind` with a name of [`HEADERS`], the declaration, the mark and its replacement.
    pub fn parse([place, at, mark, with]: [&'static str; 4]) -> Self {
        let (position, name) = place.split_once(' ').unwrap();
        let position = match position {
            "above" => MarkPosition::Above,
            "behind" => MarkPosition::Behind,
            other => panic!("{other}"),
        };
        let (_, header) = HEADERS.into_iter().find(|(it, _)| *it == name).unwrap();
        let [mark, with] = [mark, with].map(|text| text.replace(r"\n", "\n"));
        Self {
            header,
            at,
            mark,
            with,
            position,
        }
    }

    pub fn apply(&self, text: &str) -> String {
        let at = text
            .find(self.at)
            .unwrap_or_else(|| panic!("no {}", self.at));
        let found = match self.position {
            MarkPosition::Above => text[..at].rfind(&self.mark),
            MarkPosition::Behind => text[at..].find(&self.mark).map(|mark| at + mark),
        };
        let mark = found.unwrap_or_else(|| panic!("no {} at {}", self.mark, self.at));
        let rest = &text[mark + self.mark.len()..];
        format!("{}{}{rest}", &text[..mark], self.with)
    }
}

/// Edits with the same effect, and the finding that they cause.
pub struct Change {
    pub name: &'static str,
    pub edits: Vec<Edit>,
    pub rule: &'static str,
    pub item: &'static str,
}

const HEADERS: [(&str, &str); 5] = [
    (
        "stream_executor",
        "tensorflow/c/experimental/stream_executor/stream_executor.h",
    ),
    ("grappler", "tensorflow/c/experimental/grappler/grappler.h"),
    (
        "pluggable_profiler",
        "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h",
    ),
    ("kernels", "tensorflow/c/kernels.h"),
    ("pjrt", "xla/pjrt/c/pjrt_c_api.h"),
];

/// Name, rule and item of each change, then its edit.
const CHANGES: &str = r"
a slot is no longer optional | presence_tightened | SP_StreamExecutor.block_host_until_done
    above stream_executor | (*block_host_until_done) | // [Optional]\n | //\n
data is no longer optional | presence_tightened | SP_Device.hardware_name
    above stream_executor | hardware_name; | // [Optional]\n | //\n
a slot that a note requires is optional | presence_relaxed | SP_StreamExecutor.mem_zero
    above stream_executor | (*mem_zero) | // | // [Optional]\n  //
a slot that a note requires is reserved | presence_relaxed | SP_StreamExecutor.mem_zero
    above stream_executor | (*mem_zero) | // | // Reserved for future use.
core fills the profiler's structs | filler_changed | TP_ProfilerFns
    above pluggable_profiler | typedef | TP_: Set/filled by plug-in | TP_: Set/filled by core
core fills the optimizer's structs | filler_changed | TP_Optimizer
    above grappler | typedef | filled by the plugin: | filled by the proper:
no rule for the prefix | comment_changed | SE_CreateDeviceParams
    above stream_executor | typedef | SE_ : set/filled by core | SE_ : see below
no longer output, to be filled by the plugin | direction_changed
    SE_CreateDeviceFnsParams.device_fns
    behind stream_executor | device_fns; | // output, to be filled by plugin |
output that core fills | filler_changed | SE_PlatformRegistrationParams.platform_fns
    behind stream_executor | SP_PlatformFns* platform_fns; | set by plugin | set by core
from input and output to output | direction_changed | SE_CreateDeviceParams.device
    behind stream_executor | SP_Device* device;  // | Input/output | Output
from [in/out] to [out] | direction_changed | TF_ProfilerRegistrationParams.profiler
    above pluggable_profiler | TP_Profiler* profiler; | [in/out] | [out]
from [out] to [in] | direction_changed | TF_ProfilerRegistrationParams.destroy_profiler
    above pluggable_profiler | (*destroy_profiler) | [out] | [in]
ext that core sets | filler_changed | SP_Device.ext
    behind stream_executor | typedef struct SP_Device { | set by plugin | set by core
a result that is no longer output | direction_changed | PJRT_Client_Create_Args.client
    behind pjrt | PJRT_Client* client; | // out |
an argument that is output | filler_changed | PJRT_Client_PlatformName_Args.client
    behind pjrt | struct PJRT_Client_PlatformName_Args { | client; | client;  // out
a status that a note knows to go both ways is no longer marked | comment_changed
    TF_InputRange_Args.status
    above kernels | } TF_InputRange_Args | // output |
a call that takes no ownership | transfer_changed | TF_RegisterKernelBuilder(builder)
    above kernels | TF_RegisterKernelBuilder(const | takes ownership | does not take ownership
a result that stays the callee's | transfer_changed | TF_AllocateOutput()
    above kernels | TF_Tensor* TF_AllocateOutput( | takes ownership | does not take ownership
a tensor whose owner is not stated | comment_changed | TF_GetInput(tensor)
    above kernels | void TF_GetInput( | its ownership is passed to the caller | is valid
";

/// The edits that swap core and plugin in the rules for prefixes.
const SWAPPED: &str = "
above stream_executor | typedef | SE_ : set/filled by core | SE_ : set/filled by plugin
above stream_executor | typedef | SP_ : set/filled by plugin | SP_ : set/filled by core
";

/// Returns the changes; the first one is of a slot that is no longer optional.
pub fn changes() -> Vec<Change> {
    let change = |name, edits, rule, item| Change {
        name,
        edits,
        rule,
        item,
    };
    let swapped: Vec<Edit> = rows(SWAPPED).into_iter().map(Edit::parse).collect();
    let changes = rows(CHANGES).into_iter();
    let changes = changes.map(|[name, rule, item, place, at, mark, with]| {
        let edit = Edit::parse([place, at, mark, with]);
        change(name, vec![edit], rule, item)
    });
    let prefixes = [
        ("swapped: SE_", "SE_CreateDeviceParams"),
        ("swapped: SP_", "SP_StreamExecutor"),
    ];
    let prefixes =
        prefixes.map(|(name, item)| change(name, swapped.clone(), "filler_changed", item));
    changes.chain(prefixes).collect()
}
