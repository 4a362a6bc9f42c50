//! A good plugin in C passes every check. Each planted defect fails the check for it, and few others.
//!
//! Defects are planted in 2.22; `SP_EVERY_RELEASE=1` plants them in all releases, which takes some minutes.

mod c;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use c::Compiler;
use sp_host::{CheckOutcome, CheckStatus};
use sp_ir::Api;

/// A defect, the check that must find it, and a part of its detail.
const DEFECTS: &[(&str, &str, &str)] = &[
    ("UNDEFINED", "entry_points", "TF_NoSuchFunction"),
    (
        "PAST_STRUCT",
        "struct_bounds",
        "of SP_StreamExecutor, past its end",
    ),
    (
        "IN_PADDING",
        "struct_bounds",
        "of SP_Platform, whose struct_size is",
    ),
    (
        "BEFORE_STRUCT",
        "struct_bounds",
        "wrote 8 bytes before SP_Platform",
    ),
    (
        "REFUSES",
        "registration",
        "SE_InitPlugin: UNAVAILABLE: no driver",
    ),
    ("KERNEL_CRASH", "registration", "crashed: abort"),
    ("GRAPH_REFUSES", "registration", "no graphs today"),
    (
        "MISSING_SLOT",
        "required_fields",
        "'memcpy_htod' field in SP_StreamExecutor must be set",
    ),
    (
        "NO_DESTROY",
        "required_fields",
        "'destroy_platform' field in SE_PlatformRegistrationParams",
    ),
    (
        "UNIFIED",
        "required_fields",
        "'unified_memory_allocate' field",
    ),
    (
        "PADDED_SIZE",
        "struct_sizes",
        "is 40, its sizeof; without tail padding it is 3",
    ),
    ("BIG_SIZE", "struct_sizes", "above the"),
    (
        "BLOCK_SIZE",
        "output_struct_sizes",
        "SP_DeviceMemoryBase.struct_size is 20",
    ),
    ("BAD_NAME", "names", "my/device"),
    ("BYTE_NAME", "names", "TEST_2"),
    (
        "STACK_NAME",
        "string_lifetimes",
        "SP_Platform's strings were",
    ),
    (
        "KEEPS_PLATFORM",
        "devices",
        "get_device_count used a SP_Platform after it was moved or freed",
    ),
    ("WRONG_ORDINAL", "devices", "device 0 has ordinal Some(1)"),
    ("NO_USAGE", "memory_usage", "creates no device"),
    (
        "CRASH",
        "allocate",
        "segmentation fault: crashed in allocate",
    ),
    ("UNALIGNED", "allocate", "not aligned to 64 bytes"),
    ("OVERCOMMITS", "allocate_too_large", "bytes returned 0x"),
    ("TRUSTS_SIZE", "deallocate", "crashed: abort"),
    (
        "SPOILS_OTHERS",
        "memory_contents",
        "a block after other blocks were written",
    ),
    (
        "RACY_COPY",
        "allocate_threads",
        "a block of one of eight threads",
    ),
    ("UNALIGNED_HOST", "host_memory", "-byte alignment"),
    ("ALIGNED_TO_64", "host_memory", "256-byte alignment"),
    ("STATS_DRIFT", "allocator_stats", "after all was freed"),
    (
        "CHANGES_VERSION",
        "field_access",
        "SE_InitPlugin changed SE_PlatformRegistrationParams.major_version from 0 to 7; TensorFlow sets it",
    ),
    (
        "PARAMS_EXT",
        "field_access",
        "SE_InitPlugin left SE_PlatformRegistrationParams.ext non-null; the header reserves it",
    ),
    (
        "PARAMS_SIZE",
        "field_access",
        "SE_CreateStreamExecutorParams.struct_size is 32, above the 24",
    ),
    (
        "CHANGES_ORDINAL",
        "field_access",
        "create_device changed SE_CreateDeviceParams.ordinal from 0 to 1; TensorFlow sets it",
    ),
    (
        "CHANGES_POINTER",
        "field_access",
        "create_device changed SE_CreateDeviceParams.device; TensorFlow sets it",
    ),
    (
        "COUNT_MARKS_PLATFORM",
        "field_access",
        "get_device_count changed SP_Platform.use_bfc_allocator from 0 to 1; it may only read it",
    ),
    ("COUNT_NEGATIVE", "field_access", "returned -1 devices"),
    (
        "TABLE_EXT",
        "field_access",
        "create_stream_executor left SP_StreamExecutor.ext non-null; the header reserves it",
    ),
    (
        "BLOCK_EXT",
        "field_access",
        "allocate left SP_DeviceMemoryBase.ext non-null; the header reserves it",
    ),
    (
        "BLOCK_SMALL",
        "field_access",
        "allocate of 4096 bytes described a block of 2048",
    ),
    (
        "COPY_ADVANCES",
        "field_access",
        "sync_memcpy_htod changed SP_DeviceMemoryBase.opaque; it may only read it",
    ),
    (
        "COPY_MARKS_DEVICE",
        "field_access",
        "memcpy_htod changed SP_Device.pci_bus_id; it may only read it",
    ),
    (
        "NULL_EVENT",
        "field_access",
        "create_event reported no error and left its `event` null",
    ),
    (
        "EVENT_UNKNOWN",
        "field_access",
        "get_event_status returned 9, which is not an SE_EventStatus",
    ),
    (
        "USAGE_UNSET",
        "field_access",
        "left `free` unset and `total` unset",
    ),
    (
        "STATS_NEGATIVE",
        "field_access",
        "left SP_AllocatorStats.largest_alloc_size negative",
    ),
    (
        "GRAPH_VERSION",
        "field_access",
        "TF_InitGraph changed TP_OptimizerRegistrationParams.minor_version from 0 to 9; TensorFlow sets it",
    ),
    (
        "GRAPH_EXT",
        "field_access",
        "TF_InitGraph left TP_Optimizer.ext non-null; the header reserves it",
    ),
    (
        "PROFILER_EXT",
        "field_access",
        "TF_InitProfiler left TP_ProfilerFns.ext non-null; the header reserves it",
    ),
    (
        "PROFILER_MARKS",
        "field_access",
        "TP_ProfilerFns.start changed TP_Profiler.ext; it may only read it",
    ),
    ("SHORT_COPY", "copies_sync", "sync_memcpy_dtod of"),
    ("SHORT_COPY", "copies_async", "the copies on a stream"),
    (
        "LONG_COPY",
        "copies_partial",
        "touched byte 100 of the host's memory for a copy",
    ),
    (
        "RACY_COPY",
        "copies_threads",
        "copies on a thread's own stream",
    ),
    ("FILL_COUNTS_WORDS", "fills", "memset32 of"),
    ("FILL_ZERO", "fills", "memset of"),
    ("STREAM_STATUS", "streams", "the stream is broken"),
    ("PRIORITY_REFUSED", "streams", "no priorities today"),
    (
        "DISORDER",
        "stream_order",
        "a copy out enqueued after a copy in",
    ),
    (
        "NO_DEPENDENCY",
        "stream_dependency",
        "a copy on a stream that depends on another",
    ),
    ("EVENT_ERROR", "events", "Failed"),
    ("EVENT_PENDING", "events", "Pending"),
    (
        "HANG",
        "synchronization",
        "hung: still in synchronize_all_activity",
    ),
    (
        "CALLBACK_ORDER",
        "host_callbacks",
        "number 1 ran out of order, at position 0",
    ),
    ("CALLBACK_LOST", "host_callbacks", "99 of 100 callbacks ran"),
    (
        "CALLBACK_TWICE",
        "host_callbacks",
        "200 of 100 callbacks ran",
    ),
    (
        "LEAK_STATUS",
        "host_callbacks",
        "100 TF_Status were never deleted",
    ),
    ("TIMER_MILLISECONDS", "timers", "for 20 ms"),
    ("ONE_LIFE", "device_recreation", "the device is gone"),
    ("LEAK_STREAM", "leaks", "a stream leaks"),
    ("LEAK_EVENT", "leaks", "an event leaks"),
    ("LEAK_TIMER", "leaks", "a timer leaks"),
    ("TWICE", "kernels_registered", "registered twice"),
    ("OVERLAP", "kernels_registered", "registered twice"),
    (
        "WRONG_DEVICE",
        "kernels_registered",
        "is registered for OTHER",
    ),
    (
        "LEAK_BUILDER",
        "kernels_registered",
        "1 TF_KernelBuilder was never deleted",
    ),
    ("SHAPE_LEAK", "ops_defined", "TF_ShapeHandle"),
    ("SHAPE_CRASH", "ops_defined", "crashed: abort"),
    (
        "NO_OPTIMIZE",
        "graph_registered",
        "'optimize_func' field in TP_Optimizer must be set",
    ),
    ("BAD_SWITCH", "graph_registered", "not a TF_TriState"),
    ("GRAPH_EMPTY", "graph_optimized", "left its output empty"),
    ("GRAPH_DROPS", "graph_optimized", "lacks the fetched node"),
    (
        "GRAPH_BROKEN",
        "graph_optimized",
        "Unparseable tensorflow.GraphDef",
    ),
    (
        "GRAPH_IN_PLACE",
        "graph_optimized",
        "changed its input graph",
    ),
    (
        "LEAK_PROPERTIES",
        "graph_optimized",
        "TF_GraphProperties were never deleted",
    ),
    (
        "NO_STOP",
        "profiler_registered",
        "'stop' field in TP_ProfilerFns must be set",
    ),
    ("PROFILER_FREES", "profiler_registered", "freed with a copy"),
    (
        "PROFILER_EAGER",
        "profiler_idle",
        "planes before anything was profiled",
    ),
    ("PROFILER_NO_SIZE", "profiler_idle", "left the size unset"),
    ("PROFILER_LONG", "profiler_sessions", "past its end"),
    ("PROFILER_NOISE", "profiler_sessions", "not an XSpace"),
    ("PROFILER_ONCE", "profiler_sessions", "started already"),
];

/// Defects that hang other checks for many seconds each.
const SLOW: [&str; 2] = ["EVENT_PENDING", "HANG"];

/// Defects that older releases cannot have: the first release that can, and its new feature.
const LATER: &[(&str, u32, &str)] = &[
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
    ("PROFILER_EXT", 7, "profilers"),
    ("PROFILER_MARKS", 7, "profilers"),
];

/// Functions that the host cannot have: variants and the rendezvous are C++ objects.
const UNIMPLEMENTED: [&str; 3] = ["TF_AddNVariant", "TF_GetRendezvous", "TF_ZerosLikeVariant"];

fn main() {
    let release = sp_host::child_release().unwrap_or_else(|| "2.22".into());
    let apis = c::apis_of(&release);
    sp_host::child_main(&apis);
    let is_own = |api: &&Api| api.name != "c_api";
    let plugins: Vec<Api> = apis.iter().filter(is_own).cloned().collect();
    assert_eq!(sp_host::unimplemented(&plugins), UNIMPLEMENTED);
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "5") };
    for good in ["GOOD", "USE_BFC", "NO_OPTIONS", "FREE_EXT"] {
        assert_all_checks_pass(
            good,
            &sp_host::run_all_checks(&apis, &compiler.plugin(good)),
        );
    }
    assert_all_checks_pass(
        "NEEDED",
        &sp_host::run_all_checks(&apis, &compiler.plugin_with_needed()),
    );
    assert_declines(&sp_host::run_all_checks(
        &apis,
        &compiler.plugin("NO_DEVICE"),
    ));
    let none = sp_host::run_check("entry_points", &apis, &compiler.empty());
    assert_fails_with("exports nothing", &none, "exports none of");
    let panics = sp_host::run_check("registration", &apis, &compiler.panicking());
    assert_fails_with("panics", &panics, "crashed: abort: no device today");
    // A function that the host lacks is no defect of the plugin.
    let plugin = compiler.plugin("UNKNOWN_FUNCTION");
    let row = sp_host::run_check("objects_released", &apis, &plugin);
    assert_eq!(row.status, CheckStatus::Skip, "{row}");
    assert!(row.detail.contains("needs TF_ZerosLikeVariant"), "{row}");
    let missed: Vec<String> = DEFECTS
        .iter()
        .filter_map(|(defect, check, words)| {
            let plugin = compiler.plugin(defect);
            let row = sp_host::run_check(check, &apis, &plugin);
            let rows = match SLOW.contains(defect) {
                true => vec![row.clone()],
                false => sp_host::run_all_checks(&apis, &plugin),
            };
            println!("{defect}: {row}");
            missed_defect(&row, words, &rows).map(|reason| format!("{defect}: {reason}"))
        })
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for release in c::releases() {
        let apis = c::apis_of(&release);
        let plugin = Compiler::find(&apis).expect("it was there").plugin("GOOD");
        assert_all_checks_pass(&release, &sp_host::run_all_checks(&apis, &plugin));
    }
    match std::env::var_os("SP_EVERY_RELEASE") {
        Some(_) => assert_found_in_every_release(),
        None => println!("defects were planted in 2.22; SP_EVERY_RELEASE=1 plants them in all"),
    }
}

/// Plants every defect in every release that can have it, two releases at a time.
fn assert_found_in_every_release() {
    let releases = c::releases();
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let run_releases = || {
        while let Some(release) = releases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = missed_defects(release);
            missed.lock().expect("no panic").extend(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(run_releases);
        }
    });
    let missed = missed.into_inner().expect("no panic");
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Returns the defects that are not found in a release.
fn missed_defects(release: &str) -> Vec<String> {
    let (start, apis) = (Instant::now(), c::apis_of(release));
    let compiler = Compiler::find(&apis).expect("it was there");
    let minor: u32 = release.trim_start_matches("2.").parse().expect("a number");
    let has = |defect: &str| {
        LATER
            .iter()
            .all(|(name, first, _)| *name != defect || minor >= *first)
    };
    let planted: Vec<_> = DEFECTS.iter().filter(|(defect, ..)| has(defect)).collect();
    let missed = planted.iter().filter_map(|(defect, check, words)| {
        let row = sp_host::run_check(check, &apis, &compiler.plugin(defect));
        let is_found = row.status == CheckStatus::Fail && row.detail.contains(words);
        (!is_found).then(|| format!("{defect} in {release}: {row}"))
    });
    let missed: Vec<String> = missed.collect();
    let (found, seconds) = (planted.len() - missed.len(), start.elapsed().as_secs());
    println!(
        "{release}: {found} of {} planted defects found, {seconds} s",
        planted.len()
    );
    missed
}

fn assert_all_checks_pass(variant: &str, outcomes: &[CheckOutcome]) {
    let bad: Vec<&CheckOutcome> = outcomes
        .iter()
        .filter(|outcome| outcome.status == CheckStatus::Fail)
        .collect();
    assert!(bad.is_empty(), "{variant}: {bad:#?}");
    println!("{variant}: {}", sp_host::summary(outcomes));
}

fn assert_declines(outcomes: &[CheckOutcome]) {
    let row = outcomes
        .iter()
        .find(|outcome| outcome.check == "streams")
        .expect("there is one");
    assert_eq!(row.status, CheckStatus::Skip, "{row}");
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.status != CheckStatus::Fail),
        "{outcomes:#?}"
    );
    println!("NO_DEVICE: {}", sp_host::summary(outcomes));
}

fn assert_fails_with(defect: &str, row: &CheckOutcome, words: &str) {
    assert_eq!(row.status, CheckStatus::Fail, "{defect}: {row}");
    assert!(row.detail.contains(words), "{defect}: {row}");
    println!("{defect}: {row}");
}

/// Returns a message unless `row` fails with `words` and few other checks fail.
fn missed_defect(row: &CheckOutcome, words: &str, rows: &[CheckOutcome]) -> Option<String> {
    let failed = rows.iter().filter(|row| row.status == CheckStatus::Fail);
    let failed: Vec<&str> = failed.map(|row| row.check.as_str()).collect();
    let is_found = row.status == CheckStatus::Fail && row.detail.contains(words);
    let is_specific = failed.contains(&row.check.as_str()) && failed.len() <= 6;
    (!is_found || !is_specific).then(|| format!("{row}, failed {failed:?}"))
}
