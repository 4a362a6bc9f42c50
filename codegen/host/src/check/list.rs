//! Every check, in the order of a report, with what `explain` says of it.

use super::session::Session;
use super::{
    copy, field_access, graph, kernel, lifetime, load, memory, op, partial_copy, profiler,
    release_contract, stream,
};
use crate::outcome::CheckResult;

/// One question to a plugin.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name; programs read it, so it stays.
    pub id: &'static str,
    /// The question, in a line.
    pub summary: &'static str,
    /// Why it is asked, and what to do where the answer is no.
    pub explanation: &'static str,
    pub(crate) run: fn(&Session<'_>) -> CheckResult,
}

macro_rules! checks {
    ($($id:ident: $run:path, $summary:literal, $explanation:literal;)*) => {
        /// Every check, in the order of a report.
        pub const CHECKS: &[Check] = &[$(Check {
            id: stringify!($id),
            summary: $summary,
            explanation: $explanation,
            run: $run,
        },)*];
    };
}

checks! {
    entry_points: load::entry_points,
    "the library loads and exports an entry point",
    "TensorFlow opens the library, binds all its symbols at once, and looks for SE_InitPlugin, TF_InitKernel, \
     TF_InitGraph and TF_InitProfiler. A symbol that the running release does not export makes `import tensorflow` \
     fail. Look functions up at run time, or name the library that has them and build for that release. The report \
     says which libraries and functions the plugin asks for, and the releases that have them. What sp-host cannot \
     have (C++, functions of Python's) is no failure: where it is called the check is skipped, with its name.";

    struct_bounds: load::struct_bounds,
    "nothing is written outside the host's structs",
    "The host's structs are as long as its release has them. A plugin that stores a longer one corrupts memory, in \
     silence. Write no member that does not end within the struct_size found there.";

    registration: load::registered,
    "no entry point reports an error",
    "TensorFlow takes an error status of an entry point, or of a function that fills a table, for fatal: the process \
     ends at import. A plugin that cannot serve reports 0 devices instead.";

    required_fields: load::required_fields,
    "every slot that the release demands is set",
    "TensorFlow refuses a registration with an empty slot, and the process ends at import. Some slots it does not \
     look at before it calls them; an empty one there crashes. Which are demanded depends on the release: timers \
     to 2.13, fills from 2.7.";

    struct_sizes: load::struct_sizes,
    "struct_size is written without tail padding, and is one that the release knows",
    "The size that both sides write is the end of the last member, not sizeof. A size above the host's says that \
     the plugin was built for a newer release and has written, or will, past the end of the host's struct.";

    names: load::names,
    "platform and device type are named as TensorFlow takes it",
    "The name and the type of a platform must be a capital letter, then capital letters and underscores; anything \
     else is refused, and the process ends at import.";

    devices: load::devices,
    "devices are counted, created and destroyed, and say the ordinal that was asked for",
    "TensorFlow copies SP_Platform and SP_Device, so a pointer to what was filled is dead when the next call \
     comes. Keep what is needed behind device_handle, and look at the pointer that each call passes.";

    string_lifetimes: lifetime::strings,
    "names stay where they are pointed to",
    "TensorFlow keeps the pointers to a platform's name and type, and to a device's texts, for the life of the \
     process. A text on the stack or in memory that is freed is another one by the time that it is read.";

    memory_usage: memory::usage,
    "device_memory_usage says how much memory is free, and of how much",
    "Where it gives false, TensorFlow makes no device.";

    allocate: memory::allocate,
    "blocks of all sizes are aligned and apart",
    "Sizes 0, 1, odd and large. TensorFlow takes an alignment of 64 bytes for granted and aborts on less.";

    allocate_too_large: memory::too_large,
    "more memory than there is gives null",
    "An allocation that cannot be served must leave opaque null. TensorFlow then frees what it can and tries \
     again, or tells the user; a crash or a block that is too small takes the whole process along.";

    deallocate: memory::deallocate,
    "blocks are freed by their address alone",
    "Without the BFC allocator TensorFlow no longer knows a block's size and passes 0; it also frees null blocks.";

    memory_contents: partial_copy::contents,
    "blocks keep what was written to them",
    "While others are taken, written to and given back.";

    allocate_threads: partial_copy::threads,
    "eight threads allocate at once",
    "TensorFlow's allocator calls allocate and deallocate from whichever thread needs memory, without a lock.";

    unified_memory: partial_copy::unified,
    "unified memory can be written by the host",
    "Asked only of a platform that says supports_unified_memory.";

    host_memory: memory::host_memory,
    "host memory is aligned and writable",
    "TensorFlow aborts on host memory that is aligned to less than 256 bytes, and before 2.22 to less than 64.";

    allocator_stats: memory::stats,
    "the statistics add up",
    "Bytes in use grow by what is allocated and shrink by what is freed; the peak is never below them.";

    output_struct_sizes: load::filled,
    "structs that slots fill have their struct_size",
    "SP_DeviceMemoryBase, SP_AllocatorStats and SP_TimerFns are checked each time that they are filled; a size of \
     0 makes TensorFlow drop what was said.";

    copies_sync: copy::sync,
    "copies that are waited for arrive whole",
    "In all three directions, of odd and large sizes.";

    copies_async: copy::async_copies,
    "copies on a stream arrive whole",
    "In, across and out, enqueued at once on one stream and waited for once.";

    copies_partial: partial_copy::copies,
    "copies of parts change their part and nothing else",
    "With the BFC allocator every tensor is a part of a larger block, so a copy begins and ends anywhere in one; \
     the host's side ends where the copy does.";

    copies_threads: copy::threads,
    "eight threads copy at once",
    "TensorFlow calls allocate and the copies from several threads, without a lock.";

    fills: copy::fills,
    "mem_zero, memset and memset32 fill what they should and no more",
    "The size is in bytes for all three, also where the pattern has four.";

    streams: stream::streams,
    "streams are created and destroyed",
    "TensorFlow makes four for a device: compute, in, out, across. From 2.22 on it calls create_stream_with_options \
     if struct_size reaches that slot and it is set, with or without a priority, else create_stream.";

    stream_order: stream::order,
    "what is enqueued later happens later",
    "A stream is a queue: each piece of work sees what those before it did.";

    stream_dependency: stream::dependency,
    "a stream that depends on another sees what that one did",
    "create_stream_dependency puts all that stands on the other stream by then before what is enqueued here later.";

    events: stream::events,
    "events are recorded, polled and waited for",
    "An event is complete once what stood before it on its stream is done. TensorFlow polls get_event_status on a \
     thread of its own and takes an error or an unknown status for fatal.";

    synchronization: stream::waits,
    "waiting for a stream or the whole device waits for all that was enqueued",
    "Reading a tensor calls synchronize_all_activity: what it returns before is read too early.";

    host_callbacks: stream::host_callbacks,
    "host callbacks run once each, in order, with a status",
    "The plugin makes the TF_Status that it passes to a callback, and deletes it.";

    timers: stream::timers,
    "a longer piece of work takes longer",
    "TensorFlow to 2.13 demands timers; later ones ask for none.";

    device_recreation: lifetime::device_recreation,
    "a device that was destroyed can be created again",
    "With its streams, events and blocks, and it does what the first one did.";

    leaks: lifetime::leaks,
    "what is destroyed leaves nothing behind",
    "Streams, events, timers and blocks come and go for as long as a model trains: some bytes of each, or a \
     thread, add up.";

    kernels_registered: kernel::registered,
    "each kernel is registered once, for the device type of the plugin",
    "If two kernels of one op have the same priority and their type constraints are met by one node, TensorFlow \
     fails that node. Constrain both, or call TF_KernelBuilder_Priority for one of them.";

    ops_defined: op::shapes,
    "shape functions of ops that the plugin defines cope with any shape",
    "A shape function is called with shapes of which nothing is known, and gives back every handle that it made.";

    graph_registered: graph::registered,
    "the graph optimizer's registration is what the release demands",
    "device_type and optimize_func must be set, and the configuration's entries be default, off or on. A member \
     was inserted into TP_OptimizerConfigs at 2.10, so that those behind it moved.";

    graph_optimized: graph::optimized,
    "the graph optimizer gives a graph, and keeps what is fetched",
    "optimize_func fills the output with a serialized GraphDef; left empty, TensorFlow takes it for a graph without \
     nodes. From 2.6 it is passed the TF_GrapplerItem, one argument more than in 2.5.";

    profiler_registered: profiler::registered,
    "the profiler's registration is what the release demands, and survives its copies",
    "TensorFlow destroys copies of TP_Profiler and TP_ProfilerFns twice while it loads the plugin, and uses others \
     afterwards: the destroy functions may free nothing that those need.";

    profiler_idle: profiler::idle,
    "there is nothing to collect before a session",
    "collect_data_xspace is called without a buffer first and must set the size then, to 0 where there is nothing.";

    profiler_sessions: profiler::sessions,
    "the profiler can be started again",
    "start, stop, the call for the size, the call for the bytes; as often as a user profiles.";

    objects_released: kernel::objects_released,
    "a whole life leaves nothing behind",
    "Every object of core's that the plugin was given is deleted once, and every function that it called is one \
     that this host knows.";

    field_access: field_access::fields,
    "each call writes the plugin's own fields only, and gives back what TensorFlow can use",
    "The structs of a call are compared with what they were before it, in this check and in all others. A plugin \
     may change a struct only through a parameter that the header or its notes call out or in/out, and in it only \
     the fields that it fills: not the versions, ordinals and pointers that TensorFlow set. An `ext` that the header \
     reserves stays null; SP_Platform.ext, SP_Device.ext and TP_Profiler.ext are the plugin's. A struct_size that is \
     written is the end of a field and not above the host's. A handle is not null after a call that reported no \
     error, sizes and counts are set and not negative. TensorFlow looks at little of this: it goes on with \
     what it finds.";

    release_contract: release_contract::structs,
    "what the plugin uses means the same in this release",
    "The sizes that the plugin writes into its structs tell which releases it was built for. A release that moved a \
     field or gave a function other parameters loads such a plugin and takes what it sets for something else: \
     from 2.10 on, an optimizer that was switched off at an offset of 2.9 is another one. Build for that release, \
     or write what each release has, as the crates and headers of sp-gen do. `sp-gen verify` knows the other \
     releases; a plugin's own tests do not, and skip this.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_everything_is_said() {
        let ids: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
        assert_eq!(ids.len(), CHECKS.len());
        for check in CHECKS {
            assert!(!check.summary.ends_with('.'), "{}", check.id);
            assert!(check.explanation.ends_with('.'), "{}", check.id);
        }
    }
}
