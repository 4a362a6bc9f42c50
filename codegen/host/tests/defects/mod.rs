//! The plugins in C: with a defect that a check must find, and without one.

/// A defect, the check that must find it, and a part of its detail.
pub const DEFECTS: &str = "
UNDEFINED | entry_points | TF_NoSuchFunction
PAST_STRUCT | struct_bounds | of SP_StreamExecutor, past its end
IN_PADDING | struct_bounds | of SP_Platform, whose struct_size is
BEFORE_STRUCT | struct_bounds | wrote 8 bytes before SP_Platform
REFUSES | registration | SE_InitPlugin: UNAVAILABLE: no driver
KERNEL_CRASH | registration | crashed: abort
GRAPH_REFUSES | registration | no graphs today
MISSING_SLOT | required_fields | 'memcpy_htod' field in SP_StreamExecutor must be set
NO_DESTROY | required_fields | 'destroy_platform' field in SE_PlatformRegistrationParams
UNIFIED | required_fields | 'unified_memory_allocate' field
PADDED_SIZE | struct_sizes | is 40, its sizeof; without tail padding it is 3
BIG_SIZE | struct_sizes | above the
BLOCK_SIZE | output_struct_sizes | SP_DeviceMemoryBase.struct_size is 20
BAD_NAME | names | my/device
BYTE_NAME | names | TEST_2
STACK_NAME | string_lifetimes | SP_Platform's strings were
KEEPS_PLATFORM | devices | get_device_count used a SP_Platform after it was moved or freed
WRONG_ORDINAL | devices | device 0 has ordinal Some(1)
NO_USAGE | memory_usage | creates no device
CRASH | allocate | segmentation fault: crashed in allocate
UNALIGNED | allocate | not aligned to 64 bytes
OVERCOMMITS | allocate_too_large | bytes returned 0x
TRUSTS_SIZE | deallocate | crashed: abort
SPOILS_OTHERS | memory_contents | a block after other blocks were written
RACY_COPY | allocate_threads | a block of one of eight threads
UNALIGNED_HOST | host_memory | -byte alignment
ALIGNED_TO_64 | host_memory | 256-byte alignment
UNIFIED_MEMORY UNIFIED_NULL | unified_memory | of 4097 bytes returned null
UNIFIED_MEMORY UNIFIED_UNALIGNED | unified_memory | not aligned to 64 bytes
UNIFIED_MEMORY UNIFIED_NO_ACCESS | unified_memory | the host cannot write to 1 bytes
UNIFIED_MEMORY UNIFIED_READ_ONLY | unified_memory | the host cannot write to 1 bytes
UNIFIED_MEMORY UNIFIED_OVERLAP | unified_memory | two blocks of unified memory overlap
UNIFIED_MEMORY UNIFIED_APART | unified_memory | sync_memcpy_dtoh of unified memory of
UNIFIED_MEMORY UNIFIED_FREED_TWICE | unified_memory | crashed: abort
UNIFIED_MEMORY UNIFIED_OVERCOMMITS | unified_memory | of 4611686018427387904 bytes returned 0x
STATS_DRIFT | allocator_stats | after all was freed
STATS_OF=num_allocs VALUE=7 | allocator_stats | num_allocs was 7, and is 7 after an allocation
STATS_OF=peak_bytes_in_use VALUE=in_use-1 | allocator_stats | below bytes_in_use of
STATS_OF=peak_bytes_in_use VALUE=in_use | allocator_stats | after a block was freed
STATS_OF=largest_alloc_size VALUE=largest/2 | allocator_stats
    largest_alloc_size is 524288 after allocating 1048576
STATS_OF=has_bytes_limit VALUE=0 | allocator_stats
    bytes_limit is 4294967296, which TensorFlow ignores since has_bytes_limit is 0
STATS_OF=bytes_limit VALUE=TOTAL-peak*4096 | allocator_stats
    bytes_limit is 0, below peak_bytes_in_use of 1048576
STATS_OF=bytes_reserved VALUE=in_use/2 | allocator_stats
    bytes_reserved is 524288, below bytes_in_use of 1048576
STATS_OF=peak_bytes_reserved VALUE=0 | allocator_stats
    peak_bytes_reserved is 0, below bytes_reserved of 1048576
STATS_OF=has_bytes_reservable_limit VALUE=0 | allocator_stats
    which TensorFlow ignores since has_bytes_reservable_limit is 0
STATS_OF=bytes_reservable_limit VALUE=64 | allocator_stats
    bytes_reservable_limit is 64, below peak_bytes_reserved of 1048576
STATS_OF=largest_free_block_bytes VALUE=TOTAL | allocator_stats
    largest_free_block_bytes is 4294967296, above the 4293918720 bytes that are not in use
CHANGES_VERSION | field_access
    SE_InitPlugin changed SE_PlatformRegistrationParams.major_version from 0 to 7; TensorFlow sets it
PARAMS_EXT | field_access
    SE_InitPlugin left SE_PlatformRegistrationParams.ext non-null; the header reserves it
PARAMS_SIZE | field_access | SE_CreateStreamExecutorParams.struct_size is 32, above the 24
CHANGES_ORDINAL | field_access
    create_device changed SE_CreateDeviceParams.ordinal from 0 to 1; TensorFlow sets it
CHANGES_POINTER | field_access
    create_device changed SE_CreateDeviceParams.device; TensorFlow sets it
COUNT_MARKS_PLATFORM | field_access
    get_device_count changed SP_Platform.use_bfc_allocator from 0 to 1; it may only read it
COUNT_NEGATIVE | field_access | returned -1 devices
TABLE_EXT | field_access
    create_stream_executor left SP_StreamExecutor.ext non-null; the header reserves it
BLOCK_EXT | field_access | allocate left SP_DeviceMemoryBase.ext non-null; the header reserves it
BLOCK_SMALL | field_access | allocate of 4096 bytes described a block of 2048
COPY_ADVANCES | field_access
    sync_memcpy_htod changed SP_DeviceMemoryBase.opaque; it may only read it
COPY_MARKS_DEVICE | field_access | memcpy_htod changed SP_Device.pci_bus_id; it may only read it
NULL_EVENT | field_access | create_event reported no error and left its `event` null
EVENT_UNKNOWN | field_access | get_event_status returned 9, which is not an SE_EventStatus
USAGE_UNSET | field_access | left `free` unset and `total` unset
STATS_NEGATIVE | field_access | left SP_AllocatorStats.largest_alloc_size negative
GRAPH_VERSION | field_access
    TF_InitGraph changed TP_OptimizerRegistrationParams.minor_version from 0 to 9; TensorFlow sets it
GRAPH_EXT | field_access | TF_InitGraph left TP_Optimizer.ext non-null; the header reserves it
PROFILER_EXT | field_access
    TF_InitProfiler left TP_ProfilerFns.ext non-null; the header reserves it
PROFILER_MARKS | field_access | TP_ProfilerFns.start changed TP_Profiler.ext; it may only read it
SHORT_COPY | copies_sync | sync_memcpy_dtod of
SHORT_COPY | copies_async | the copies on a stream
LONG_COPY | copies_partial | touched byte 100 of the host's memory for a copy
RACY_COPY | copies_threads | copies on a thread's own stream
FILL_COUNTS_WORDS | fills | memset32 of
FILL_ZERO | fills | memset of
STREAM_STATUS | streams | the stream is broken
PRIORITY_REFUSED | streams | no priorities today
DISORDER | stream_order | a copy out enqueued after a copy in
NO_DEPENDENCY | stream_dependency | a copy on a stream that depends on another
EVENT_ERROR | events | Failed
EVENT_PENDING | events | Pending
HANG | synchronization | hung: still in synchronize_all_activity
CALLBACK_ORDER | host_callbacks | number 1 ran out of order, at position 0
CALLBACK_LOST | host_callbacks | 99 of 100 callbacks ran
CALLBACK_TWICE | host_callbacks | 200 of 100 callbacks ran
LEAK_STATUS | host_callbacks | 100 TF_Status were never deleted
ASYNC SMALL_AHEAD | async_order
    a copy from the host had begun before the host callback ahead of it
ASYNC CALLBACK_AHEAD | async_order | before the host callback ahead of it on its stream had returned
ASYNC CALLBACK_EARLY | async_callbacks | as the host callback behind it sees it
ASYNC EVENT_EARLY | async_events | returned SE_EVENT_COMPLETE for an event before
ASYNC EVENT_ONCE | async_events | for an event that was recorded a second time before
ASYNC EVENT_NO_BLOCK | async_events | block_host_for_event returned before the work
ASYNC LOST_DEPENDENCY | async_dependencies
    on another stream was done, for which it waits by
ASYNC LOST_WAIT | async_dependencies | for which it waits by wait_for_event
ASYNC ONE_DEPENDENCY | async_dependencies
    for which it waits by the first of two calls of create_stream_dependency
ASYNC BLOCK_EARLY | async_waits | block_host_until_done returned before the work
ASYNC SYNCHRONIZE_ONE | async_waits | synchronize_all_activity returned before the work
ASYNC KERNEL_EARLY | async_kernels
    3 kernels of AddV2 in a row, called before the copy of their input was done
ASYNC LATE_SOURCE | host_memory_reuse | sync_memcpy_htod of memory that changed after the call
ASYNC READ_EARLY | host_memory_reuse | the last, middle and first byte after sync_memcpy_dtoh
ASYNC EARLY_REUSE | device_memory_reuse | deallocated
ASYNC STATUS_CLEARED | stream_errors | a second get_stream_status reported no error of a stream
ASYNC STATUS_HIDDEN | stream_errors | get_stream_status reported no error of a stream
ASYNC LOST_DEPENDENCY | interleaved_streams | of the random work
ASYNC DEVICES=2 LOST_PEER_DEPENDENCY | two_devices
    before the work on a stream of another device was done
TIMER_MILLISECONDS | timers | for 20 ms
ONE_LIFE | device_recreation | the device is gone
LEAK_STREAM | leaks | a stream leaks
LEAK_EVENT | leaks | an event leaks
LEAK_TIMER | leaks | a timer leaks
UNIFIED_MEMORY LEAK_UNIFIED | leaks | a block of unified memory leaks
TWICE | kernels_registered | registered twice
OVERLAP | kernels_registered | registered twice
WRONG_DEVICE | kernels_registered | is registered for OTHER
LEAK_BUILDER | kernels_registered | 1 TF_KernelBuilder was never deleted
SHAPE_LEAK | ops_defined | TF_ShapeHandle
SHAPE_CRASH | ops_defined | crashed: abort
SHAPE_TWICE | ops_defined | sets output 0 twice
OP_OF_CORE | ops_defined | MatMul already; TensorFlow ends the process
NO_OPTIMIZE | graph_registered | 'optimize_func' field in TP_Optimizer must be set
BAD_SWITCH | graph_registered | not a TF_TriState
GRAPH_EMPTY | graph_optimized | left its output empty
GRAPH_DROPS | graph_optimized | lacks the fetched node
GRAPH_BROKEN | graph_optimized | Unparseable tensorflow.GraphDef
GRAPH_IN_PLACE | graph_optimized | changed its input graph
LEAK_PROPERTIES | graph_optimized | TF_GraphProperties were never deleted
NO_STOP | profiler_registered | 'stop' field in TP_ProfilerFns must be set
PROFILER_FREES | profiler_registered | freed with a copy
PROFILER_EAGER | profiler_idle | planes before anything was profiled
PROFILER_NO_SIZE | profiler_idle | left the size unset
PROFILER_LONG | profiler_sessions | past its end
PROFILER_NOISE | profiler_sessions | not an XSpace
PROFILER_ONCE | profiler_sessions | started already
PROFILER_PHANTOM | profiler_without_device
    1 events in a session in which no device was created
NO_DEVICE PROFILER_PHANTOM | profiler_without_device
    a session without a device has 6 bytes of data
PROFILER_TRUSTS | profiler_buffer
    of a buffer that is smaller than the data, past its end
PROFILER_HOARDS | profiler_memory | kernels of AddV2 took
PROFILER_LEAKS | profiler_leaks | a session leaks
PROFILER_BLOCKS | profiler_threads
    kernels of AddV2 of other threads did not end between start and stop
PROFILER_WAITS | profiler_threads
    start did not return before the kernels of AddV2 of other threads had ended
PROFILER_RECORDS_ON | profiler_threads
    of the buffer for collect_data_xspace, past its end
";

/// Macros of plugins without a defect.
pub const GOOD: [&str; 8] = [
    "GOOD",
    "USE_BFC",
    "NO_OPTIONS",
    "FREE_EXT",
    "UNIFIED_MEMORY",
    "ASYNC",
    "ASYNC USE_BFC",
    "ASYNC DEVICES=2",
];

/// Defects that hang other checks for many seconds each.
pub const SLOW: [&str; 3] = ["EVENT_PENDING", "HANG", "PROFILER_WAITS"];

/// Defects that older releases cannot have: the first release that can, and its new feature.
pub const LATER: &[(&str, u32, &str)] = &[
    ("FILL_COUNTS_WORDS", 7, "memset32"),
    ("FILL_ZERO", 7, "memset"),
    ("LEAK_PROPERTIES", 6, "the item that an optimizer is passed"),
    ("NO_STOP", 7, "profilers"),
    ("PROFILER_FREES", 7, "profilers"),
    ("PROFILER_EAGER", 7, "profilers"),
    ("PROFILER_NO_SIZE", 7, "profilers"),
    ("PROFILER_LONG", 7, "profilers"),
    ("PROFILER_NOISE", 7, "profilers"),
    ("PROFILER_ONCE", 7, "profilers"),
    ("ALIGNED_TO_64", 22, "an alignment of 256 bytes"),
    ("PRIORITY_REFUSED", 22, "stream options"),
    ("PROFILER_PHANTOM", 7, "profilers"),
    ("NO_DEVICE PROFILER_PHANTOM", 7, "profilers"),
    ("PROFILER_TRUSTS", 7, "profilers"),
    ("PROFILER_HOARDS", 7, "profilers"),
    ("PROFILER_LEAKS", 7, "profilers"),
    ("PROFILER_BLOCKS", 7, "profilers"),
    ("PROFILER_WAITS", 7, "profilers"),
    ("PROFILER_RECORDS_ON", 7, "profilers"),
    ("PROFILER_EXT", 7, "profilers"),
    ("PROFILER_MARKS", 7, "profilers"),
];
