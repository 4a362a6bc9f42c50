//! Containment of plugins that flood, fork, hang, forge results, print escape sequences or close descriptors.

mod c;
#[path = "../../../tests/src/rows.rs"]
mod rows;

use std::path::Path;
use std::time::{Duration, Instant};

use c::Compiler;
use sp_host::{CHECKS, CheckOutcome, CheckStatus, VerifyOptions};
use sp_ir::Api;

/// The environment variable with the file in which FORKS writes a process number.
const FILE: &str = "HOSTILE_FILE";

/// A macro of `hostile.c`, the check, its status, and a part of its detail.
const VARIANTS: &str = r"
FORGES | entry_points | FAIL | ended the process with status 0
FORGES_SKIP | entry_points | FAIL | crashed: abort
READS_SECRET | entry_points | pass | TF_InitKernel
FORKS_BACK | entry_points | FAIL | crashed: abort
STOPS | entry_points | FAIL | hung, and was killed
ESCAPES | entry_points | FAIL | \u{1b}]0;title\u{7} and \u{1b}[2J and \u{202e} gone
CLOSES_ALL | entry_points | FAIL | closed the descriptor for sp-host's result
BREAKS_STDERR | registration | FAIL | TF_DeleteStatus
CLOSES_STDERR | registration | FAIL | TF_DeleteStatus
LEAVES_CORE | entry_points | pass | TF_InitKernel
FILLS_DISK | entry_points | FAIL | crashed: a file over 1 GiB
";

fn main() {
    // Another release only in a child of a check in it.
    let release = sp_host::child_release().unwrap_or_else(|| "2.21".into());
    let apis = c::apis_of(&release);
    sp_host::child_main(&apis);
    let Some(compiler) = Compiler::find(&apis) else {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    };
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("SP_HOST_SECONDS", "2") };
    for [variant, check, status, words] in rows::rows(VARIANTS) {
        let row = sp_host::run_check(check, &apis, &compiler.hostile(variant));
        println!("{variant}: {row}");
        assert_eq!(row.status.to_string(), status, "{variant}: {row}");
        assert!(row.detail.contains(words), "{variant}: {row}");
        assert!(!row.to_string().contains(char::is_control), "{row:?}");
    }
    bounds_memory_of_flood(&apis, &compiler.hostile("FLOODS"));
    kills_forked_processes(&apis, &compiler);
    loads_hanging_plugin_once(&compiler.hostile("HANGS"));
    skips_checks_that_call_a_hung_function(&compiler.plugin("HANG"));
    starts_no_check_after_the_limit_of_the_run(&compiler.plugin("GOOD"));
    requires_device_if_requested(&compiler);
}

fn bounds_memory_of_flood(apis: &[Api], plugin: &Path) {
    let before = peak_memory();
    let row = sp_host::run_check("entry_points", apis, plugin);
    println!("FLOODS: {row}");
    assert_eq!(row.status, CheckStatus::Pass, "{row}");
    assert!(row.dropped_bytes > 255 << 20, "{row:?}");
    let growth = peak_memory() - before;
    assert!(growth < 16 << 10, "{growth} KiB for {row}");
}

/// Returns the peak memory of this process in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let size = line.expect("the kernel counts").trim();
    let size = size.trim_end_matches(" kB");
    size.parse().expect("a number")
}

/// Forked processes end if the check passes, and if it is killed.
fn kills_forked_processes(apis: &[Api], compiler: &Compiler) {
    for (variants, status) in [
        ("FORKS", CheckStatus::Pass),
        ("FORKS HANGS", CheckStatus::Fail),
    ] {
        let plugin = compiler.hostile(variants);
        let file = plugin.with_extension("txt");
        // SAFETY: no other thread reads the environment.
        unsafe { std::env::set_var(FILE, &file) };
        let start = Instant::now();
        let row = sp_host::run_check("entry_points", apis, &plugin);
        assert_eq!(row.status, status, "{variants}: {row}");
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{variants}: {row}"
        );
        let number = std::fs::read_to_string(&file).expect("the plugin wrote it");
        // A killed process may take a moment to end.
        let end = Instant::now() + Duration::from_secs(5);
        while runs(number.trim()) {
            assert!(Instant::now() < end, "{variants}: {number} still runs");
        }
        println!("{variants}: {row}, and no process stays");
    }
}

/// Returns true if the process is there and not a zombie.
fn runs(number: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn loads_hanging_plugin_once(plugin: &Path) {
    let releases = ["2.21".to_owned()];
    let options = VerifyOptions {
        timeout: Some(Duration::from_secs(1)),
        jobs: std::num::NonZero::new(1),
        ..VerifyOptions::default()
    };
    let start = Instant::now();
    let rows = sp_host::verify(&releases, plugin, &options, |_, _| ());
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(15), "{taken:?}");
    let rows: Vec<CheckOutcome> = rows.into_iter().map(|(_, row)| row).collect();
    let words = "hung: still in the plugin's constructors after 1 s";
    assert_eq!(rows.len(), CHECKS.len());
    let expected = ("entry_points", CheckStatus::Fail);
    assert_eq!((rows[0].check.as_str(), rows[0].status), expected);
    assert!(rows[0].detail.contains(words), "{}", rows[0]);
    for row in &rows[1..] {
        assert_eq!(row.status, CheckStatus::Skip, "{row}");
        assert!(
            row.detail.contains("not run") && row.detail.contains(words),
            "{row}"
        );
    }
    println!("HANGS: {} in {taken:?}", sp_host::summary(&rows));
}

fn skips_checks_that_call_a_hung_function(plugin: &Path) {
    let releases = ["2.21".to_owned(), "2.22".to_owned()];
    let options = VerifyOptions {
        timeout: Some(Duration::from_secs(2)),
        jobs: std::num::NonZero::new(1),
        ..VerifyOptions::default()
    };
    let rows = sp_host::verify(&releases, plugin, &options, |_, _| ());
    let hung = rows
        .iter()
        .filter(|(_, row)| row.status == CheckStatus::Fail);
    let hung: Vec<&(String, CheckOutcome)> = hung.collect();
    assert_eq!(hung.len(), 1, "{hung:?}");
    let (release, first) = hung[0];
    let words = "hung: still in synchronize_all_activity after 2 s";
    assert!(first.detail.contains(words), "{first}");
    let check = &first.check;
    let reason =
        format!("not run further: synchronize_all_activity hung in the check {check} of {release}");
    let skipped = rows.iter().filter(|(_, row)| row.detail == reason);
    let second = skipped.clone().find(|(release, _)| release == "2.22");
    assert_eq!(second.map(|(_, row)| row.status), Some(CheckStatus::Skip));
    let passed = rows
        .iter()
        .filter(|(_, row)| row.status == CheckStatus::Pass);
    assert!(passed.count() > 40, "{rows:?}");
    println!("HANG: {first}; {} skipped", skipped.count());
}

fn starts_no_check_after_the_limit_of_the_run(plugin: &Path) {
    let releases = ["2.21".to_owned()];
    let options = VerifyOptions {
        run_timeout: Some(Duration::ZERO),
        require_device: true,
        ..VerifyOptions::default()
    };
    let rows = sp_host::verify(&releases, plugin, &options, |_, _| ());
    assert_eq!(rows.len(), CHECKS.len());
    assert!(
        rows.iter().all(|(_, row)| row.is_past_run_limit()),
        "{rows:?}"
    );
}

fn requires_device_if_requested(compiler: &Compiler) {
    let releases = ["2.21".to_owned()];
    let status = |variant: &str, require_device| {
        let options = VerifyOptions {
            require_device,
            ..VerifyOptions::default()
        };
        let rows = sp_host::verify(&releases, &compiler.plugin(variant), &options, |_, _| ());
        let mut rows = rows.into_iter().map(|(_, row)| row);
        let row = rows
            .find(|row| row.check == "devices")
            .expect("it is asked");
        println!("{variant}, require_device {require_device}: {row}");
        row.status
    };
    assert_eq!(status("NO_DEVICE", false), CheckStatus::Pass);
    assert_eq!(status("NO_DEVICE", true), CheckStatus::Fail);
    assert_eq!(status("GOOD", true), CheckStatus::Pass);
}
