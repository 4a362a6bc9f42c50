//! A good plugin in C passes every check, and each planted defect is found by the check that is
//! there for it, without taking the others along.

mod c;

use c::Compiler;
use sp_host::{Outcome, Verdict};
use sp_ir::Api;

/// A defect, the check that must find it, and words of what that check says.
const DEFECTS: &[(&str, &str, &str)] = &[
    (
        "PAST_STRUCT",
        "struct_bounds",
        "touched byte 288 of SP_StreamExecutor",
    ),
    (
        "PADDED_SIZE",
        "struct_sizes",
        "is 40, its sizeof; without tail padding it is 35",
    ),
    (
        "MISSING_SLOT",
        "required_fields",
        "SP_StreamExecutor.memcpy_htod is not set",
    ),
    (
        "CRASH",
        "allocate",
        "segmentation fault: crashed in allocate",
    ),
    ("HANG", "waits", "hung: still in synchronize_all_activity"),
    ("EVENT_ERROR", "events", "Failed"),
    ("BAD_NAME", "names", "my/device"),
    (
        "KEEPS_PLATFORM",
        "devices",
        "get_device_count used a SP_Platform after its life ended",
    ),
    ("UNALIGNED", "allocate", "not aligned to 64 bytes"),
    ("STATS_DRIFT", "allocator_stats", "after all was freed"),
    ("SHORT_COPY", "copies_sync", "sync_memcpy_dtod of"),
    ("SHORT_COPY", "copies_async", "the copies on a stream"),
    ("FILL_COUNTS_WORDS", "fills", "memset32 of"),
    (
        "CALLBACK_ORDER",
        "host_callbacks",
        "number 1 ran out of order, in place 0",
    ),
    (
        "LEAK_STATUS",
        "host_callbacks",
        "100 TF_Status were never deleted",
    ),
    ("TWICE", "kernels_registered", "registered twice"),
    (
        "UNKNOWN_FUNCTION",
        "given_back",
        "TF_ZerosLikeVariant is not implemented",
    ),
    (
        "REFUSES",
        "required_fields",
        "SE_InitPlugin: UNAVAILABLE: no driver",
    ),
];

/// Functions of a plugin's APIs that this host has not: variants, temporary and reference variables,
/// the rendezvous.
const UNIMPLEMENTED: [&str; 6] = [
    "TF_AddNVariant",
    "TF_AssignRefVariable",
    "TF_DestroyTemporaryVariable",
    "TF_GetRendezvous",
    "TF_TemporaryVariable",
    "TF_ZerosLikeVariant",
];

fn main() {
    let release = sp_host::child_release().unwrap_or_else(|| "2.21".into());
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
    let judge = |defect: &str| sp_host::conformance(&apis, &compiler.plugin(defect));
    for good in ["GOOD", "USE_BFC"] {
        passes_everything(good, &judge(good));
    }
    passes_everything(
        "NEEDED",
        &sp_host::conformance(&apis, &compiler.plugin_with_needed()),
    );
    declines(&judge("NO_DEVICE"));
    for (defect, check, words) in DEFECTS {
        found(defect, &judge(defect), check, words);
    }
    for release in c::releases() {
        let apis = c::apis_of(&release);
        let plugin = Compiler::find(&apis).expect("it was there").plugin("GOOD");
        passes_everything(&release, &sp_host::conformance(&apis, &plugin));
    }
}

fn passes_everything(variant: &str, outcomes: &[Outcome]) {
    let bad: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| outcome.status == Verdict::Fail)
        .collect();
    assert!(bad.is_empty(), "{variant}: {bad:#?}");
    println!("{variant}: {}", sp_host::summary(outcomes));
}

fn declines(outcomes: &[Outcome]) {
    let row = outcomes
        .iter()
        .find(|outcome| outcome.check == "streams")
        .expect("there is one");
    assert_eq!(row.status, Verdict::Skip, "{row}");
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.status != Verdict::Fail),
        "{outcomes:#?}"
    );
    println!("NO_DEVICE: {}", sp_host::summary(outcomes));
}

fn found(defect: &str, outcomes: &[Outcome], check: &str, words: &str) {
    let row = outcomes
        .iter()
        .find(|outcome| outcome.check == check)
        .expect("there is one");
    assert_eq!(row.status, Verdict::Fail, "{defect}: {row}");
    assert!(row.detail.contains(words), "{defect}: {row}");
    let entry_points = &outcomes[0];
    assert_eq!(
        entry_points.status,
        Verdict::Pass,
        "{defect}: {entry_points}"
    );
    println!("{defect}: {row}");
}
