//! The filter of a trace: names with `*` and `?`, and names of groups.

use super::description::{Function, Kind};

/// Groups of functions that a filter can name, with their patterns.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("copies", &["*.*memcpy*", "*.mem_zero", "*.memset*"]),
    (
        "streams",
        &[
            "SP_StreamExecutor.*stream*",
            "SP_StreamExecutor.*event*",
            "SP_StreamExecutor.block_host*",
            "SP_StreamExecutor.synchronize*",
            "SP_StreamExecutor.host_callback",
            "TF_GetStream",
        ],
    ),
    (
        "memory",
        &["SP_StreamExecutor.*allocat*", "SP_StreamExecutor.*usage"],
    ),
    (
        "kernels",
        &["TF_NewKernelBuilder.*", "TF_NewAsyncKernelBuilder.*"],
    ),
    ("graph", &["TP_Optimizer*", "TF_InitGraph"]),
    ("profiler", &["TP_Profiler*", "TF_InitProfiler"]),
];

/// Names of groups that are kinds of functions.
const KINDS: &[(&str, &[Kind])] = &[
    ("slots", &[Kind::Slot]),
    ("entry_points", &[Kind::EntryPoint]),
    ("functions", &[Kind::Host]),
    ("callbacks", &[Kind::Callback, Kind::HostCallback]),
];

/// Prefixes of the names of the functions that a capture follows.
const CAPTURED: &[&str] = &[
    "TF_NewKernelBuilder",
    "TF_NewAsyncKernelBuilder",
    "TF_KernelBuilder_",
    "TF_RegisterKernelBuilder",
    "TF_AllocateOutput",
    "TF_ForwardInputOrAllocateOutput",
    "TF_SetOutput",
    "TF_GetInputTensorFromVariable",
    "TF_AssignVariable",
    "TF_AssignUpdateVariable",
    "TF_OpKernelContext_Failure",
    "TF_AddNVariant",
    "TF_ZerosLikeVariant",
    "TF_TemporaryVariable",
    "TF_DestroyTemporaryVariable",
    "TF_AssignRefVariable",
    "SP_StreamExecutor.allocate",
    "SP_StreamExecutor.deallocate",
    "SP_StreamExecutor.unified_memory_",
    "SP_StreamExecutor.create_stream",
];

/// Returns true if a capture follows the calls of `function`.
pub fn is_captured(function: &Function) -> bool {
    CAPTURED.iter().any(|it| function.name.starts_with(it))
}

/// Returns every name of a group.
pub fn group_names() -> impl Iterator<Item = &'static str> {
    let groups = GROUPS.iter().map(|(name, _)| *name);
    KINDS.iter().map(|(name, _)| *name).chain(groups)
}

/// Returns true if a part of `filter`, which commas separate, includes `function`. An empty filter includes all. A part
/// that begins with `-` excludes what earlier parts include.
pub fn includes(filter: &str, function: &Function) -> bool {
    let parts = filter.split(',').map(str::trim).filter(|it| !it.is_empty());
    let mut parts = parts.peekable();
    let first = parts.peek();
    let mut included = first.is_none_or(|part| part.starts_with('-'));
    for part in parts {
        match part.strip_prefix('-') {
            Some(part) if part_includes(part, function) => included = false,
            None if part_includes(part, function) => included = true,
            _ => {}
        }
    }
    included
}

fn part_includes(part: &str, function: &Function) -> bool {
    if let Some((_, kinds)) = KINDS.iter().find(|(name, _)| *name == part) {
        return kinds.contains(&function.kind);
    }
    if let Some((_, patterns)) = GROUPS.iter().find(|(name, _)| *name == part) {
        return patterns.iter().any(|it| matches(it, function.name));
    }
    matches(part, function.name)
}

/// Returns true if `name` matches `pattern`, in which `*` stands for any text and `?` for a character.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut retry = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            retry = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((star, start)) = retry {
            retry = Some((star, start + 1));
            (p, n) = (star + 1, start + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::description::Type;

    fn is_included(filter: &str, name: &'static str, kind: Kind) -> bool {
        includes(filter, &Function::new(name, kind, &[], Type::Void))
    }

    #[test]
    fn matches_names_with_wildcards() {
        assert!(matches("TF_*", "TF_NewTensor"));
        assert!(matches("*.memcpy_?to?", "SP_StreamExecutor.memcpy_htod"));
        assert!(matches("*a*b*", "xaxxbab"));
        assert!(!matches("TF_", "TF_NewTensor"));
        assert!(!matches("*Tensors", "TF_NewTensor"));
    }

    #[test]
    fn groups_select_functions_by_name_or_kind() {
        let htod = "SP_StreamExecutor.sync_memcpy_htod";
        assert!(is_included("copies", htod, Kind::Slot));
        assert!(is_included("slots", htod, Kind::Slot));
        assert!(!is_included("streams,memory", htod, Kind::Slot));
        assert!(!is_included("slots", "TF_NewTensor", Kind::Host));
        let compute = "TF_NewKernelBuilder.compute_func";
        assert!(is_included("kernels", compute, Kind::Callback));
    }

    #[test]
    fn later_parts_with_a_minus_exclude() {
        let filter = "functions,-TF_*Status";
        assert!(is_included(filter, "TF_NewTensor", Kind::Host));
        assert!(!is_included(filter, "TF_NewStatus", Kind::Host));
        assert!(is_included("-TF_NewStatus", "TF_NewTensor", Kind::Host));
        assert!(is_included("", "TF_NewTensor", Kind::Host));
    }
}
