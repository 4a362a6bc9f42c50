//! The kinds of changes of what a host demands of a PJRT plugin, and the rule of each.

use super::handlers::{self, JudgedDemand};
use crate::change::OldNew;
use crate::finding::{Bump, Finding, Impact};
use crate::rules::Rule;
use crate::rules::define::rules;
use sp_data::demand::RunOutcome;

const MEASURED: &str =
    "generated/pjrt, which tests/pjrt-demand writes from runs of each release with a probe";

rules! {
    /// One difference between the demands of two releases.
    #[derive(Debug, Clone, PartialEq)]
    pub enum DemandChange {}

    handlers: fn(&JudgedDemand, ..) -> Finding;

    /// The size of an argument struct that a host passes changed.
    ///
    /// A plugin that compares struct_size for equality rejects the call, or fails later. jaxlib passed 24 for
    /// PJRT_Plugin_Attributes_Args, which has 32 bytes, until its macro for the size was corrected.
    ///
    /// Accept any size that has the fields which the plugin uses, and write no field past the caller's size.
    ArgumentsResized(sizes: OldNew<u64>) => handlers::pjrt_arguments_resized, Compatible, Minor, MEASURED;

    /// A host calls functions of an extension that it did not call.
    ///
    /// A plugin with an older version of the extension has a smaller struct_size, which the host must respect.
    ExtensionCalled(functions: Vec<String>) => handlers::pjrt_extension_called, Compatible, Minor, MEASURED;

    /// A program that ran without an extension needs it.
    ///
    /// jaxlib 0.4.33 ends the process at the first array of a plugin without the extension of layouts.
    ExtensionRequired => handlers::pjrt_extension_required, Breaking, Major, MEASURED;

    /// A host runs all programs without an extension that it needed.
    ExtensionUnneeded => handlers::pjrt_extension_unneeded, Compatible, Patch, MEASURED;

    /// A host calls a function of a table in an object of the plugin.
    ///
    /// Later headers begin PJRT_Error and PJRT_Memory with a pointer to a table of functions. jaxlib 0.10.2 reads that of a memory
    /// if the plugin states the minor version 107 or a later one, and calls its functions that are not null. An object that begins
    /// with other data is then read as a pointer.
    ///
    /// If the plugin states such a minor version, begin its errors and memories with a pointer to a filled table.
    FunctionTableCalled => handlers::pjrt_function_table_called, Breaking, Major, MEASURED;

    /// A host accepts the table of a header that it declined.
    HeaderAccepted(minor: u32, outcome: RunOutcome) => handlers::pjrt_header_accepted, Compatible, Minor, MEASURED;

    /// A host declines the table of a header that it accepted.
    ///
    /// jaxlib up to 0.4.31 compares the minor version of the table with its own for equality.
    ///
    /// Build the plugin with a header that all its hosts accept.
    HeaderDeclined(minor: u32, outcome: RunOutcome) => handlers::pjrt_header_declined, Breaking, Major, MEASURED;

    /// A program fails that ran with the same plugin.
    ///
    /// jaxlib before 0.10.1 ends in jax.profiler.trace if the plugin has no extension of the profiler.
    ProgramFails(outcome: RunOutcome) => handlers::pjrt_program_fails, Breaking, Major, MEASURED;

    /// A program runs that failed with the same plugin.
    ProgramRuns(outcome: RunOutcome) => handlers::pjrt_program_runs, Compatible, Patch, MEASURED;

    /// The plugin fails if a host passes structs of arguments that are shorter or longer than those of its header.
    ///
    /// Each release appends fields, and passes its own sizes. `--plugin` finds it by the checks `pjrt_shorter_structs` and
    /// `pjrt_longer_structs` of `sp-gen verify`, as the host NEW.
    ///
    /// Compare struct_size with the end of the last field that the plugin uses, and read no field after the size.
    SizeRejected(detail: String) => handlers::pjrt_size_rejected, Breaking, Major, MEASURED;

    /// A host calls a slot if it is not null. Before, it did not call it or needed it.
    SlotCalled => handlers::pjrt_slot_called, Compatible, Minor, MEASURED;

    /// An error of a slot has a worse effect than it had: the host ignored it, or reported it.
    ///
    /// jaxlib 0.11 reports an error of PJRT_Device_DefaultMemory, which 0.10 ignored: a plugin without memories no longer gets
    /// arrays.
    ///
    /// Implement the slot.
    SlotErrorWorse(errors: OldNew<RunOutcome>) => handlers::pjrt_slot_error_worse, Breaking, Major, MEASURED;

    /// A host calls a slot without a check for null. Before, it did not call it or checked it.
    ///
    /// A plugin whose table has the slot must fill it: a null slot ends the process or fails the program. A plugin that was built
    /// with an older header has no such slot in its table; `pjrt_header_declined` states which headers a host accepts.
    ///
    /// Fill the slot. A function that the plugin cannot offer returns an error of the code UNIMPLEMENTED.
    SlotRequired(null: Option<RunOutcome>, error: Option<RunOutcome>) => handlers::pjrt_slot_required, Breaking, Major, MEASURED;

    /// A host no longer calls a slot in the programs of the measurement.
    ///
    /// Keep the slot for older releases.
    SlotUnused => handlers::pjrt_slot_unused, Compatible, Patch, MEASURED;

    /// Programs arrive in another version of StableHLO if the plugin states none.
    ///
    /// Set the attribute `stablehlo_current_version` to the version that the plugin can read.
    StablehloDefaultChanged(versions: OldNew<String>) => handlers::pjrt_stablehlo_default_changed, Compatible, Minor, MEASURED;
}
