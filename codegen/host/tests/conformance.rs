//! A good plugin in C passes every check. Each planted defect fails the check for it.
//!
//! Defects are planted in 2.22. `SP_EVERY_RELEASE=1` plants them in all releases and tests that few other checks fail, which takes
//! some minutes.
//! `SP_DEFECTS=ASYNC,TIMER` selects the defects whose names contain one of these texts. `SP_HOST_SECONDS=30` gives each check more time, for a busy
//! machine.

mod c;
mod defects;
#[path = "../../../tests/src/rows.rs"]
mod rows;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use c::Compiler;
use defects::{DEFECTS, GOOD, LATER, SLOW};
use sp_host::{CheckOutcome, CheckStatus};
use sp_ir::Api;

/// Functions that the host cannot have: the rendezvous is a C++ object.
const UNIMPLEMENTED: [&str; 1] = ["TF_GetRendezvous"];

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
    let has_defects = selected_defects().next().is_some();
    assert!(has_defects, "SP_DEFECTS names no defect");
    if std::env::var_os("SP_HOST_SECONDS").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("SP_HOST_SECONDS", "5") };
    }
    for good in GOOD {
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
    assert_fails_with("panics", &panics, "panics.rs:6: no device today");
    // A function that the host lacks is no defect of the plugin.
    let plugin = compiler.plugin("UNKNOWN_FUNCTION");
    let row = sp_host::run_check("objects_released", &apis, &plugin);
    assert_eq!(row.status, CheckStatus::Skip, "{row}");
    assert!(row.detail.contains("needs TF_GetRendezvous"), "{row}");
    let defects: Vec<_> = selected_defects().collect();
    let is_complete = std::env::var_os("SP_EVERY_RELEASE").is_some();
    let missed = two_at_a_time(&defects, |[defect, check, words]| {
        let plugin = compiler.plugin(defect);
        let run = || {
            let rows = match is_complete && !SLOW.contains(defect) {
                true => sp_host::run_all_checks(&apis, &plugin),
                false => vec![sp_host::run_check(check, &apis, &plugin)],
            };
            let found = rows.iter().find(|row| row.check == *check);
            let row = found.expect("every check has a row");
            println!("{defect}: {row}");
            missed_defect(row, words, &rows).map(|reason| format!("{defect}: {reason}"))
        };
        missed_in_all(defect, run).into_iter().collect()
    });
    assert!(missed.is_empty(), "{missed:#?}");
    two_at_a_time(&c::releases(), |release| {
        let apis = c::apis_of(release);
        let plugin = Compiler::find(&apis).expect("it was there").plugin("GOOD");
        assert_all_checks_pass(release, &sp_host::run_all_checks(&apis, &plugin));
        vec![]
    });
    if !is_complete {
        return println!("defects were planted in 2.22; SP_EVERY_RELEASE=1 plants them in all");
    }
    let missed = two_at_a_time(&c::releases(), |release| missed_defects(release));
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Returns the defects whose names contain a part of the variable `SP_DEFECTS`, or all.
fn selected_defects() -> impl Iterator<Item = [&'static str; 3]> {
    let parts = std::env::var("SP_DEFECTS").unwrap_or_default();
    let defects = rows::rows::<3>(DEFECTS).into_iter();
    defects.filter(move |[defect, ..]| parts.split(',').any(|part| defect.contains(part)))
}

/// Calls `run` with each item in two threads, and returns all messages.
fn two_at_a_time<T: Sync>(items: &[T], run: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, messages) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let run_items = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = run(item);
            messages.lock().expect("no panic").extend(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(run_items);
        }
    });
    messages.into_inner().expect("no panic")
}

/// Returns the defects that are not found in a release, and the failed checks of a plugin without one.
fn missed_defects(release: &str) -> Vec<String> {
    let (start, apis) = (Instant::now(), c::apis_of(release));
    let compiler = Compiler::find(&apis).expect("it was there");
    let minor: u32 = release.trim_start_matches("2.").parse().expect("a number");
    let has = |defect: &str| {
        LATER
            .iter()
            .all(|(name, first, _)| *name != defect || minor >= *first)
    };
    let planted: Vec<_> = selected_defects()
        .filter(|[defect, ..]| has(defect))
        .collect();
    let missed = planted.iter().filter_map(|[defect, check, words]| {
        let plugin = compiler.plugin(defect);
        missed_in_all(defect, || {
            let row = sp_host::run_check(check, &apis, &plugin);
            let is_found = row.status == CheckStatus::Fail && row.detail.contains(words);
            (!is_found).then(|| format!("{defect} in {release}: {row}"))
        })
    });
    let mut missed: Vec<String> = missed.collect();
    let (found, seconds) = (planted.len() - missed.len(), start.elapsed().as_secs());
    println!(
        "{release}: {found} of {} planted defects found, {seconds} s",
        planted.len()
    );
    let rows = sp_host::run_all_checks(&apis, &compiler.plugin("ASYNC DEVICES=2"));
    let failed = rows.iter().filter(|row| row.status == CheckStatus::Fail);
    missed.extend(failed.map(|row| format!("ASYNC DEVICES=2 in {release}: {row}")));
    missed
}

/// Checks that a plugin whose streams have threads must not skip.
const ASYNCHRONOUS: [&str; 4] = [
    "async_order",
    "async_events",
    "async_dependencies",
    "async_waits",
];

fn assert_all_checks_pass(variant: &str, outcomes: &[CheckOutcome]) {
    let bad: Vec<&CheckOutcome> = outcomes
        .iter()
        .filter(|outcome| outcome.status == CheckStatus::Fail)
        .collect();
    assert!(bad.is_empty(), "{variant}: {bad:#?}");
    if variant.starts_with("ASYNC") {
        let passed = |check: &str| {
            let mut named = outcomes.iter().filter(|it| it.check == check);
            named.any(|it| it.status == CheckStatus::Pass)
        };
        let skipped: Vec<&str> = ASYNCHRONOUS.into_iter().filter(|it| !passed(it)).collect();
        assert!(skipped.is_empty(), "{variant}: {skipped:?} did not run");
    }
    println!("{variant}: {}", sp_host::summary(outcomes));
}

fn assert_declines(outcomes: &[CheckOutcome]) {
    let row = outcomes.iter().find(|outcome| outcome.check == "streams");
    let row = row.expect("there is one");
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

/// Returns the last message if every attempt has one. A race may not show on a busy machine.
fn missed_in_all(defect: &str, attempt: impl Fn() -> Option<String>) -> Option<String> {
    let attempts = if defect.starts_with("ASYNC") { 5 } else { 1 };
    let last = (0..attempts).try_fold(None, |_, _| attempt().map(Some));
    last.flatten()
}

/// Returns a message unless `row` fails with `words` and few other checks fail.
fn missed_defect(row: &CheckOutcome, words: &str, rows: &[CheckOutcome]) -> Option<String> {
    let failed = rows.iter().filter(|row| row.status == CheckStatus::Fail);
    let failed: Vec<&str> = failed.map(|row| row.check.as_str()).collect();
    let is_found = row.status == CheckStatus::Fail && row.detail.contains(words);
    let is_specific = failed.contains(&row.check.as_str()) && failed.len() <= 6;
    (!is_found || !is_specific).then(|| format!("{row}, failed {failed:?}"))
}
