//! Edits that reword a comment and do not change its meaning.

/// A description, then the edit.
pub const REWORDINGS: &str = r"
the mark in parentheses
    above stream_executor | (*block_host_until_done) | [Optional] | (Optional)
the mark on the line of the text
    above stream_executor | hardware_name; | [Optional]\n  // | [Optional]
the rule of a prefix
    above stream_executor | typedef | set/filled by core unless explicitly | filled by the core unless
output
    behind stream_executor | device_fns; | output, to be filled by plugin | Output: filled by the plugin
output of the plugin
    behind stream_executor | SP_PlatformFns* platform_fns; | output, set by plugin | set by the plugin
input and output
    above pluggable_profiler | TP_Profiler* profiler; | [in/out] | [inout]
reserved
    behind stream_executor | typedef struct SP_TimerFns { | reserved for future use | Reserved.
the text of a slot
    above stream_executor | (*mem_zero) | Zero out | Fills with zeros
who owns a result
    above kernels | TF_Tensor* TF_AllocateOutput( | Caller takes ownership of | The caller owns
a comment where there was none
    behind stream_executor | typedef struct SP_AllocatorStats { | size_t struct_size; | size_t struct_size;  // in bytes
";
