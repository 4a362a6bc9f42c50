//! Every check, in the order of a report, with the text of `explain`.

use super::session::CheckSession;
use super::{
    asynchronous, copy, field_access, graph, kernel, lifetime, load, memory, memory_statistics, op,
    partial_copy, profiler, profiler_limits, profiler_threads, release_contract, stream,
    unified_memory,
};
use crate::outcome::CheckResult;

/// One check of a plugin.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name, which is stable.
    pub id: &'static str,
    /// The requirement, in one line.
    pub summary: &'static str,
    /// The reason for the requirement, and advice for a plugin that fails.
    pub explanation: &'static str,
    pub(crate) run: fn(&CheckSession<'_>) -> CheckResult,
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
     lists the libraries and functions that the plugin needs, and the releases that have them. A call of a function that \
     sp-host cannot implement (of C++ or Python) is not a failure: the check is skipped and names the function.";

    struct_bounds: load::struct_bounds,
    "nothing is written outside the host's structs",
    "The host's structs are as long as its release has them. A plugin that stores a longer struct corrupts \
     memory silently. Write only fields that end within the struct_size of the host's struct.";

    registration: load::registered,
    "no entry point reports an error",
    "An error status of an entry point, or of a function that fills a table, is fatal to TensorFlow: the process \
     ends at import. A plugin that cannot run reports 0 devices instead.";

    required_fields: load::required_fields,
    "every field that the release requires is set",
    "TensorFlow rejects a registration with a null slot, and the process ends at import. Some slots it does not \
     check before it calls them; a null there crashes. The required slots depend on the release: timers up to 2.13, \
     fills from 2.7.";

    struct_sizes: load::struct_sizes,
    "struct_size has no tail padding and is the end of a field",
    "The size that both sides write is the end of the last member, not sizeof. A size above the host's means \
     that the plugin was built for a newer release and writes past the end of the host's struct.";

    names: load::names,
    "the names of platform and device type are valid",
    "The name and the type of a platform must be a capital letter, then capital letters and underscores; anything \
     else is rejected, and the process ends at import.";

    devices: load::devices,
    "devices are counted, created and destroyed, and have the requested ordinal",
    "TensorFlow copies SP_Platform and SP_Device, so a pointer to the struct that the plugin filled is dangling \
     in the next call. Store data behind device_handle, and use the pointer that each call passes.";

    string_lifetimes: lifetime::strings,
    "strings outlive the calls that set them",
    "TensorFlow keeps the pointers to a platform's name and type, and to a device's texts, for the life of the \
     process. A string on the stack or in freed memory has other bytes when TensorFlow reads it.";

    memory_usage: memory::usage,
    "device_memory_usage reports free and total memory",
    "If it returns false, TensorFlow creates no device.";

    allocate: memory::allocate,
    "blocks of all sizes are aligned and do not overlap",
    "The sizes are 0, 1, odd and large ones. TensorFlow requires an alignment of 64 bytes and aborts on less.";

    allocate_too_large: memory::too_large,
    "an allocation above the device's memory returns null",
    "An allocation that cannot be served must leave opaque null. TensorFlow then frees what it can and tries \
     again, or reports an error; a crash or a block that is too small ends the whole process.";

    deallocate: memory::deallocate,
    "blocks are freed by their address only",
    "Without the BFC allocator TensorFlow no longer knows a block's size and passes 0; it also frees null blocks.";

    memory_contents: partial_copy::contents,
    "blocks keep their contents",
    "Other blocks are allocated, written and freed meanwhile.";

    allocate_threads: partial_copy::threads,
    "eight threads allocate at once",
    "TensorFlow's allocator calls allocate and deallocate from any thread, without a lock.";

    unified_memory: unified_memory::unified,
    "the host and the device use the same bytes of unified memory",
    "Blocks of several sizes are not null, aligned to 64 bytes, apart from each other, and writable by the host; the \
     copies of the device read and write the same bytes. A size above the device's memory returns null. TensorFlow uses unified \
     memory in place of a device's memory if a session may use more than the device has. The check is skipped unless the \
     platform sets supports_unified_memory.";

    host_memory: memory::host_memory,
    "host memory is aligned and writable",
    "TensorFlow aborts on host memory that is aligned to less than 256 bytes, and before 2.22 to less than 64.";

    allocator_stats: memory_statistics::stats,
    "the allocator's statistics are consistent and match the allocations",
    "bytes_in_use grows by the size of each allocation and shrinks by the size of each freed block; num_allocs and \
     largest_alloc_size count the allocation. A peak is never below its counter and never falls, bytes_reserved includes \
     bytes_in_use, and the peaks are not above the limits. TensorFlow ignores a limit whose has_ flag is 0. The largest free \
     block fits into the memory that is not in use. A device that does not count a field leaves it 0; bytes_in_use and its peak \
     are required.";

    output_struct_sizes: load::filled,
    "structs that slots fill have a valid struct_size",
    "SP_DeviceMemoryBase, SP_AllocatorStats and SP_TimerFns are checked each time that they are filled; a size of \
     0 makes TensorFlow ignore the struct.";

    copies_sync: copy::sync,
    "synchronous copies are complete",
    "The copies are in all three directions, of odd and large sizes.";

    copies_async: copy::async_copies,
    "copies on a stream are complete",
    "Copies to, on and from the device are enqueued on one stream, and waited for once.";

    copies_partial: partial_copy::copies,
    "copies of parts of blocks change only these parts",
    "With the BFC allocator every tensor is a part of a larger block, so a copy begins and ends anywhere in one. \
     The host's memory ends where the copy does.";

    copies_threads: copy::threads,
    "eight threads copy at once",
    "TensorFlow calls allocate and the copies from several threads, without a lock.";

    fills: copy::fills,
    "mem_zero, memset and memset32 fill exactly their range",
    "The size is in bytes for all three, also for the pattern of four bytes.";

    streams: stream::streams,
    "streams are created and destroyed",
    "TensorFlow creates four for a device: for kernels, and for copies to, from and on the device. From 2.22 on it calls create_stream_with_options \
     if struct_size reaches that slot and it is set, with or without a priority, else create_stream.";

    stream_order: stream::order,
    "work on a stream runs in order",
    "A stream is a queue: each task sees the results of those before it.";

    stream_dependency: stream::dependency,
    "a stream runs after the streams that it depends on",
    "create_stream_dependency orders the work that is on the other stream before the work that is enqueued here later.";

    events: stream::events,
    "events are recorded, polled and waited for",
    "An event is complete once the work before it on its stream is done. TensorFlow polls get_event_status on a \
     thread of its own and treats an error or an unknown status as fatal.";

    synchronization: stream::waits,
    "waiting for a stream or the device waits for all enqueued work",
    "Reading a tensor calls synchronize_all_activity: if that returns too early, TensorFlow reads old bytes.";

    host_callbacks: stream::host_callbacks,
    "host callbacks run once each, in order, with a status",
    "The plugin creates the TF_Status that it passes to a callback, and deletes it.";

    async_order: asynchronous::order,
    "work waits for a host callback ahead of it on its stream",
    "host_callback enqueues the function on the stream, so later copies, callbacks and events of the stream begin when it has \
     returned. The check holds a stream with a callback, enqueues work behind it, and looks at the device meanwhile. Run the \
     callback on the thread that runs the stream's work, or make the next command wait until the callback has returned. This \
     check and the others that hold a stream are skipped if the device runs work in the call that enqueues it.";

    async_callbacks: asynchronous::callbacks,
    "a host callback runs after the work ahead of it",
    "A callback reads memory that a copy ahead of it on its stream writes. TensorFlow frees tensors and uses results in \
     callbacks: one that runs early frees memory in use. Do not call it in host_callback, unless the stream has no work then.";

    async_events: asynchronous::events,
    "an event is pending until the work ahead of it is done",
    "TensorFlow frees the memory of a copy, and reads its result, once get_event_status returns SE_EVENT_COMPLETE or \
     block_host_for_event returns. Both wait for all work that was enqueued before record_event. An event that is recorded \
     again is pending again.";

    async_dependencies: asynchronous::dependencies,
    "a stream waits for each stream and event that it depends on",
    "Work that is enqueued after create_stream_dependency or wait_for_event begins when the work that was on the other stream, \
     or ahead of the event, is done; dependencies add up, and hold through a stream in between. TensorFlow orders copies and \
     kernels by these calls only, so a lost one gives wrong numbers at times.";

    async_waits: asynchronous::waits,
    "functions that wait return after all enqueued work",
    "synchronize_all_activity waits for every stream of the device, block_host_until_done for one. TensorFlow reads and frees \
     memory when they have returned. The check calls them on threads while a stream is held.";

    async_kernels: asynchronous::kernels,
    "a kernel uses the results of the work ahead of it",
    "TensorFlow calls a kernel when its input's copy is enqueued, not when it is done, and frees the input when the kernel has \
     returned. Enqueue the computation on the stream of TF_GetStream, or wait for that stream before the first access.";

    host_memory_reuse: asynchronous::host_memory,
    "memory of the host is not used after a copy is complete",
    "A synchronous copy uses the host's memory until it returns, an enqueued one until an event behind it is complete. \
     TensorFlow then frees the memory or writes to it. Do not return before the bytes are read, or copy them first.";

    device_memory_reuse: asynchronous::device_memory,
    "memory is allocated again only after the work that uses it",
    "Without the BFC allocator TensorFlow calls deallocate when a kernel has returned, while its stream may still use the \
     memory. Wait in deallocate, or free the memory when all work that was enqueued before is done.";

    stream_errors: asynchronous::stream_errors,
    "every query of a stream reports the same error",
    "If a stream has failed, get_stream_status reports it each time, and block_host_until_done too: TensorFlow may ask either, \
     and the first query must not remove the error. A plugin that ignores the status of host callbacks passes.";

    interleaved_streams: asynchronous::interleaved_streams,
    "random work on four streams leaves the right bytes",
    "Copies, fills and callbacks run on several streams, which wait for each other only where they use the same memory. \
     Without the BFC allocator, memory is deallocated while work uses it. The seeds are fixed; the bytes of every copy to the \
     host are compared with those of a model. If only this check fails, an order is right in simple cases and lost in others.";

    two_devices: asynchronous::two_devices,
    "streams of two devices wait for each other, and copies between devices are ordered",
    "TensorFlow copies between two devices with memcpy_dtod on a stream of the source, which waits by create_stream_dependency \
     for streams of both. The check is skipped with one device.";

    timers: stream::timers,
    "a longer task has a longer time",
    "TensorFlow requires timers up to 2.13; later releases use none.";

    device_recreation: lifetime::device_recreation,
    "a device that was destroyed can be created again",
    "Its streams, events and blocks work as those of the first device.";

    leaks: lifetime::leaks,
    "destroyed objects leave no memory or threads behind",
    "Streams, events, timers and blocks are created and destroyed throughout training, so that even a few bytes or a \
     thread for each add up.";

    kernels_registered: kernel::registered,
    "each kernel is registered once, for the device type of the plugin",
    "If two kernels of one op have the same priority and their type constraints are met by one node, TensorFlow \
     fails that node. Constrain both, or call TF_KernelBuilder_Priority for one of them.";

    ops_defined: op::shapes,
    "shape functions of ops that the plugin defines accept any shape",
    "A shape function is called with unknown shapes too, and deletes every handle that it creates.";

    graph_registered: graph::registered,
    "the graph optimizer's registration is valid",
    "device_type and optimize_func must be set, and the configuration's entries be default, off or on. A member \
     was inserted into TP_OptimizerConfigs at 2.10, which moved the fields after it.";

    graph_optimized: graph::optimized,
    "the graph optimizer returns a graph with the fetched nodes",
    "optimize_func fills the output with a serialized GraphDef; TensorFlow treats an empty output as a graph without \
     nodes. From 2.6 it has one parameter more than in 2.5, the TF_GrapplerItem.";

    profiler_registered: profiler::registered,
    "the profiler's registration is valid, and outlives its copies",
    "TensorFlow destroys copies of TP_Profiler and TP_ProfilerFns twice while it loads the plugin, and uses others \
     afterwards: the destroy functions must not free data that those use.";

    profiler_idle: profiler::idle,
    "there is no data to collect before a session",
    "collect_data_xspace is called without a buffer first and must set the size then, to 0 if there is no data.";

    profiler_sessions: profiler::sessions,
    "the profiler can be started again",
    "A session is a call each of start and stop, and two of collect_data_xspace: for the size, then for the bytes.";

    profiler_without_device: profiler_limits::without_device,
    "a session without a device records nothing",
    "A machine may have no device, and a program may use none. Without a device collect_data_xspace sets the size to 0. If \
     there are devices and TensorFlow has created none, the profile has no events.";

    profiler_buffer: profiler_limits::small_buffer,
    "the profiler writes only into the buffer that it is given",
    "The size that collect_data_xspace is called with is that of the buffer. The data may have grown since the size was \
     requested. If it does not fit, report an error or write nothing; do not copy as many bytes as there are.";

    profiler_memory: profiler_limits::memory,
    "the memory of a long session is limited",
    "A user may record minutes of training. The check runs up to 20,000 kernels in one session, or copies if the plugin has no \
     kernel of AddV2, Add or Mul. It accepts 4 KiB of memory and of data for each, and 1 MiB for the session. Store a few \
     numbers for each call, and stop recording at a limit.";

    profiler_leaks: profiler_limits::leaks,
    "sessions leave no memory or threads behind",
    "A profiler server records a session for each request. The check runs 1,000 sessions, or as many as a quarter of the \
     time limit permits, each with a kernel or a copy, and measures the memory of the C library and the number of threads.";

    profiler_threads: profiler_threads::threads,
    "sessions start and stop while kernels run in other threads",
    "TensorFlow starts a session from the thread of the user, while others run kernels. start and stop must not wait for an \
     idle device, and hold no lock that a kernel needs between them. The check runs kernels, or copies, on four threads without a \
     pause, and fails if a call of the profiler does not return meanwhile, or if no kernel ends in a session.";

    objects_released: kernel::objects_released,
    "the plugin deletes all objects that it owns",
    "Every object of TensorFlow that the plugin owns is deleted exactly once, and the plugin calls no function that \
     this host does not implement.";

    field_access: field_access::fields,
    "each call writes the plugin's own fields only, and returns valid values",
    "The structs of a call are compared with what they were before it, in this check and in all others. A plugin \
     may change a struct only through a parameter that the header or its notes call out or in/out, and in it only \
     the fields that it fills: not the versions, ordinals and pointers that TensorFlow set. An `ext` that the header \
     reserves stays null; SP_Platform.ext, SP_Device.ext and TP_Profiler.ext are the plugin's. A struct_size that is \
     written is the end of a field and not above the host's. A handle is not null after a call that reported no \
     error, sizes and counts are set and not negative. TensorFlow checks little of this and uses \
     the values as they are.";

    release_contract: release_contract::structs,
    "fields and functions that the plugin uses have the same meaning in this release",
    "The sizes that the plugin writes into its structs show which releases it was built for. A release that moved a \
     field or changed the parameters of a function loads such a plugin and misinterprets its values: \
     from 2.10 on, an optimizer that was switched off at an offset of 2.9 is another one. Build for that release, \
     or write the layout of the running release, as the crates and headers of sp-gen do. `sp-gen verify` compares \
     with the other releases; a plugin's own tests cannot, and skip this check.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn checks_have_unique_ids_and_complete_texts() {
        let ids: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
        assert_eq!(ids.len(), CHECKS.len());
        for check in CHECKS {
            assert!(!check.summary.ends_with('.'), "{}", check.id);
            assert!(check.explanation.ends_with('.'), "{}", check.id);
        }
    }
}
