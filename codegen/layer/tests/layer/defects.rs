//! Planted defects of plugins.

use crate::c::{Compiler, apis_of};
use crate::process::{findings, in_tensorflow, steps};
use crate::rows;

/// Macros of the plugin's sources, the rule that finds the defect, and a part of the finding. A name after `since` is a
/// release.
const DEFECTS: &str = "
MISSING_SLOT | required_fields | 'memcpy_htod' field in SP_StreamExecutor must be set
NO_DESTROY | required_fields | 'destroy_platform' field in SE_PlatformRegistrationParams
PADDED_SIZE | struct_sizes | SP_Platform.struct_size is 40
BIG_SIZE | struct_sizes | above that of the host
BLOCK_SIZE | output_struct_sizes | SP_DeviceMemoryBase.struct_size is 20
BLOCK_EXT | field_access | left SP_DeviceMemoryBase.ext non-null
BLOCK_SMALL | field_access | bytes were requested, and SP_DeviceMemoryBase.size is
TABLE_EXT | field_access | left SP_StreamExecutor.ext non-null
PARAMS_EXT | field_access | left SE_PlatformRegistrationParams.ext non-null
GRAPH_EXT | field_access | left TP_Optimizer.ext non-null
PROFILER_EXT | field_access | left TP_ProfilerFns.ext non-null
NULL_EVENT | field_access | left its `event` null
EVENT_UNKNOWN | field_access | returned 9, which is not an SE_EventStatus
EVENT_PENDING | event_never_complete | is pending
UNALIGNED | allocate | is not aligned to 64 bytes
NO_OUTPUT | output_not_set | in AddV2
LEAK_TENSOR | objects_released | TF_AllocateOutput: 
DOUBLE_DELETE | destroyed_twice | TF_DeleteTensor in AddV2
LEAK_BUILDER | objects_released | TF_NewKernelBuilder: 1 TF_KernelBuilder
LEAK_PROPERTIES | objects_released | TF_GraphProperties
CHANGES_VERSION | field_access | changed SE_PlatformRegistrationParams.major_version
CHANGES_ORDINAL | field_access | changed SE_CreateDeviceParams.ordinal
CHANGES_POINTER | field_access | changed SE_CreateDeviceParams.device
COUNT_MARKS_PLATFORM | field_access | changed SP_Platform.use_bfc_allocator
COPY_ADVANCES | field_access | changed SP_DeviceMemoryBase.opaque
COPY_MARKS_DEVICE | field_access | changed SP_Device.pci_bus_id
USES_ENDED_CONTEXT | context_after_return | TF_NumInputs
DONE_TWICE since 2.13 | destroyed_twice | TF_RunAsyncOpKernelDoneCallback
GRAPH_VERSION | field_access | changed TP_OptimizerRegistrationParams.minor_version
";

/// Macros of plugins without a defect.
const GOOD: [&str; 4] = ["GOOD", "USE_BFC", "ASYNC", "ASYNC USE_BFC"];

pub fn plugins_without_defect_give_no_finding(release: &str) {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    for macros in GOOD {
        let plugin = compiler.plugin(macros);
        let found = findings(&mut steps(release, &plugin, "life"));
        assert_eq!(found, [] as [&str; 0], "{release} {macros}");
        if let Some(mut command) = in_tensorflow(release, &plugin) {
            let found = findings(&mut command);
            assert_eq!(found, [] as [&str; 0], "TensorFlow {release} {macros}");
            println!("TensorFlow {release}: {macros} gives no finding");
        }
    }
}

/// Returns true if `release` is older than `since`, which may be empty.
fn is_before(release: &str, since: &str) -> bool {
    let parse = |text: &str| text.parse::<sp_ir::Release>();
    parse(since).is_ok_and(|since| parse(release).is_ok_and(|it| it < since))
}

pub fn planted_defects_are_found(release: &str) {
    let compiler = Compiler::find(&apis_of(release)).expect("it was there");
    let (mut count, mut in_core) = (0, 0);
    for [macros, rule, part] in rows::rows(DEFECTS) {
        let (macros, since) = macros.split_once(" since ").unwrap_or((macros, ""));
        if is_before(release, since) {
            continue;
        }
        let plugin = compiler.plugin(macros);
        let check = |found: Vec<String>, host: &str| {
            let is_found =
                |line: &String| line.starts_with(&format!("{rule}: ")) && line.contains(part);
            assert!(
                found.iter().any(is_found),
                "{host} {release} {macros}: {found:#?}"
            );
        };
        let mut command = steps(release, &plugin, "life");
        check(
            findings(command.env("SP_LAYER_EVENT_SECONDS", "0")),
            "sp-host",
        );
        count += 1;
        if let Some(mut command) = in_tensorflow(release, &plugin) {
            check(
                findings(command.env("SP_LAYER_EVENT_SECONDS", "0")),
                "TensorFlow",
            );
            in_core += 1;
        }
    }
    println!("{release}: {count} planted defects are found in sp-host, {in_core} in TensorFlow");
}
