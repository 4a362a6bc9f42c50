//! Edits that reword a comment and do not change its meaning.

use crate::edits::{Edit, KERNELS, PROFILER, STREAM, above, behind};

/// The edits, each with a description.
pub const REWORDINGS: &[(&str, &[Edit])] = &[
    (
        "the mark in parentheses",
        &[above(
            STREAM,
            "(*block_host_until_done)",
            "[Optional]",
            "(Optional)",
        )],
    ),
    (
        "the mark on the line of the text",
        &[above(
            STREAM,
            "hardware_name;",
            "[Optional]\n  //",
            "[Optional]",
        )],
    ),
    (
        "the rule of a prefix",
        &[above(
            STREAM,
            "typedef",
            "set/filled by core unless explicitly",
            "filled by the core unless",
        )],
    ),
    (
        "output",
        &[behind(
            STREAM,
            "device_fns;",
            "output, to be filled by plugin",
            "Output: filled by the plugin",
        )],
    ),
    (
        "output of the plugin",
        &[behind(
            STREAM,
            "SP_PlatformFns* platform_fns;",
            "output, set by plugin",
            "set by the plugin",
        )],
    ),
    (
        "input and output",
        &[above(
            PROFILER,
            "TP_Profiler* profiler;",
            "[in/out]",
            "[inout]",
        )],
    ),
    (
        "reserved",
        &[behind(
            STREAM,
            "typedef struct SP_TimerFns {",
            "reserved for future use",
            "Reserved.",
        )],
    ),
    (
        "the text of a slot",
        &[above(STREAM, "(*mem_zero)", "Zero out", "Fills with zeros")],
    ),
    (
        "who owns a result",
        &[above(
            KERNELS,
            "TF_Tensor* TF_AllocateOutput(",
            "Caller takes ownership of",
            "The caller owns",
        )],
    ),
    (
        "a comment where there was none",
        &[behind(
            STREAM,
            "typedef struct SP_AllocatorStats {",
            "size_t struct_size;",
            "size_t struct_size;  // in bytes",
        )],
    ),
];
