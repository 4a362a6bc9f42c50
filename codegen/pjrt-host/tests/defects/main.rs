//! A good plugin in C passes every check. Each planted defect fails the check for it.
//!
//! `SP_DEFECTS=EVENT,CALLBACK` selects the defects whose names contain one of these texts.

#[allow(dead_code, reason = "the tests of sp-host use the rest")]
#[path = "../../../host/tests/c/header.rs"]
mod header;
mod pjrt_header;
#[path = "../../../../tests/src/rows.rs"]
mod rows;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sp_host::{CheckOutcome, CheckStatus};
use sp_ir::Api;
use sp_pjrt_host::{CHECKS, HOSTS, run_all_checks, run_check};

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir/pjrt");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c");
const SOURCES: [&str; 5] = [
    "core.c",
    "client.c",
    "buffers.c",
    "transfers.c",
    "programs.c",
];
const CC_OPTIONS: &str = "-std=gnu11 -Wall -Werror -Wno-unused-function -Wno-unused-variable -fPIC -fvisibility=hidden -O1 -pthread";

/// Releases whose headers the plugin is built with. Before, fields of arguments had other names.
const HEADERS: [&str; 5] = ["2.17", "2.19", "2.20", "2.21", "2.22"];

/// The host in which defects are planted.
const HOST: &str = "jaxlib:0.12";

fn main() {
    sp_pjrt_host::child_main(|release| Some(snapshot(release)));
    layouts_are_of_newest_header();
    let compiler = Command::new("cc").arg("--version").output();
    if !compiler.is_ok_and(|out| out.status.success()) {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    }
    if std::env::var_os("SP_HOST_SECONDS").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("SP_HOST_SECONDS", "5") };
    }
    let newest = &snapshot("2.22");
    if std::env::var_os("SP_DEFECTS").is_none() {
        good_plugin_passes_in_every_host(newest);
        good_plugin_of_each_header_passes();
        plugin_without_device_is_skipped(newest);
        plugin_without_programs_is_skipped(newest);
        each_check_has_a_defect();
    }
    defects_are_found(newest);
}

fn snapshot(release: &str) -> Api {
    let path = format!("{SNAPSHOTS}/{release}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Api::from_json(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Compiles the plugin with the macro `defect` against the header of `api`.
fn plugin(api: &Api, defect: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("pjrt")
        .join(&api.release);
    std::fs::create_dir_all(&folder).expect("the folder is made");
    let header = folder.join("pjrt.h");
    let text = pjrt_header::print(api);
    if std::fs::read_to_string(&header).ok().as_deref() != Some(&text) {
        std::fs::write(&header, text).expect("the header is written");
    }
    let output = folder.join(format!("lib{}.so", defect.to_lowercase()));
    let objects = SOURCES.map(|source| object(&folder, source, defect));
    let arguments = [&["-shared"][..], &objects.each_ref().map(String::as_str)].concat();
    cc(
        &folder,
        &objects.each_ref().map(PathBuf::from),
        &arguments,
        &output,
    );
    output
}

/// Compiles one source. A source without the macro is the same as in the good plugin.
fn object(folder: &Path, source: &str, defect: &str) -> String {
    let paths = [source, "plugin.h"].map(|name| Path::new(FOLDER).join(name));
    let has_macro = paths.iter().any(|path| {
        let text = std::fs::read_to_string(path).expect("the source is there");
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|word| word == defect)
    });
    let defect = if has_macro { defect } else { "GOOD" };
    let output = folder.join(format!("{}.{defect}.o", source.trim_end_matches(".c")));
    let define = format!("-D{defect}");
    let arguments = ["-c", &define, &paths[0].display().to_string()];
    let [source, header] = paths;
    cc(
        folder,
        &[source, header, folder.join("pjrt.h")],
        &arguments,
        &output,
    );
    output.display().to_string()
}

/// Runs the compiler unless `output` is newer than the inputs.
fn cc(folder: &Path, inputs: &[PathBuf], arguments: &[&str], output: &Path) {
    let modified = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
    let newest = inputs.iter().filter_map(|path| modified(path)).max();
    if modified(output) > newest {
        return;
    }
    let command = Command::new("cc")
        .args(CC_OPTIONS.split(' '))
        .arg("-I")
        .arg(folder)
        .args(arguments)
        .arg("-o")
        .arg(output)
        .output();
    let out = command.expect("the compiler runs");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{}: {errors}", output.display());
}

fn minor(api: &Api) -> u32 {
    let version = api
        .version
        .as_deref()
        .and_then(|version| version.split('.').nth(1));
    version
        .and_then(|minor| minor.parse().ok())
        .expect("the API has a version")
}

/// The table of hosts names the newest header that is not newer than the host.
fn layouts_are_of_newest_header() {
    let releases = (14..=22).map(|minor| format!("2.{minor}"));
    let minors: Vec<u32> = releases.map(|release| minor(&snapshot(&release))).collect();
    for host in HOSTS {
        let newest = minors.iter().filter(|minor| **minor <= host.minor).max();
        assert_eq!(Some(&minor(&snapshot(host.layouts))), newest, "{host}");
    }
}

fn failures(rows: &[CheckOutcome]) -> Vec<String> {
    let failed = rows.iter().filter(|row| row.status == CheckStatus::Fail);
    failed.map(ToString::to_string).collect()
}

fn good_plugin_passes_in_every_host(newest: &Api) {
    let [good, older] = ["GOOD", "MINOR_40"].map(|variant| plugin(newest, variant));
    let version = run_check("pjrt_version", "tensorflow:2.16", &good);
    let declined = "is newer than 40, the newest that tensorflow 2.16.2 accepts";
    assert!(version.detail.contains(declined), "{version}");
    for host in HOSTS {
        let plugin = match host.to_string() == "tensorflow:2.16" {
            true => &older,
            false => &good,
        };
        let rows = run_all_checks(&host.to_string(), plugin);
        let failed = failures(&rows);
        assert!(failed.is_empty(), "{host}: {failed:#?}");
        println!("GOOD in {host}: {}", sp_host::summary(&rows));
        if host.to_string() == HOST {
            let skipped = rows.iter().find(|row| row.status != CheckStatus::Pass);
            assert!(skipped.is_none(), "{host}: {skipped:#?}");
        }
    }
}

fn good_plugin_of_each_header_passes() {
    for api in HEADERS.map(snapshot) {
        let rows = run_all_checks(HOST, &plugin(&api, "GOOD"));
        let failed = failures(&rows);
        assert!(
            failed.is_empty(),
            "the header of {}: {failed:#?}",
            api.release
        );
        println!("GOOD of {}: {}", api.release, sp_host::summary(&rows));
    }
}

fn plugin_without_device_is_skipped(newest: &Api) {
    let rows = run_all_checks(HOST, &plugin(newest, "NO_DEVICE"));
    assert!(failures(&rows).is_empty(), "{rows:#?}");
    let client = rows
        .iter()
        .find(|row| row.check == "pjrt_client")
        .expect("it is listed");
    assert_eq!(client.status, CheckStatus::Skip, "{client}");
    assert!(
        client.detail.contains("no device on this machine"),
        "{client}"
    );
    println!("NO_DEVICE: {}", sp_host::summary(&rows));
}

fn plugin_without_programs_is_skipped(newest: &Api) {
    let rows = run_all_checks(HOST, &plugin(newest, "NO_PROGRAMS"));
    assert!(failures(&rows).is_empty(), "{rows:#?}");
    let compile = rows
        .iter()
        .find(|row| row.check == "pjrt_compile")
        .expect("it is listed");
    assert_eq!(compile.status, CheckStatus::Skip, "{compile}");
    println!("NO_PROGRAMS: {}", sp_host::summary(&rows));
}

fn each_check_has_a_defect() {
    let planted: BTreeSet<&str> = rows::rows::<3>(table::DEFECTS)
        .iter()
        .map(|it| it[1])
        .collect();
    let without: Vec<&str> = CHECKS
        .iter()
        .map(|check| check.id)
        .filter(|id| !planted.contains(id))
        .collect();
    assert!(without.is_empty(), "no defect for {without:?}");
}

fn defects_are_found(newest: &Api) {
    let parts = std::env::var("SP_DEFECTS").unwrap_or_default();
    let selected: Vec<[&str; 3]> = rows::rows::<3>(table::DEFECTS)
        .into_iter()
        .filter(|[defect, ..]| parts.split(',').any(|part| defect.contains(part)))
        .collect();
    assert!(!selected.is_empty(), "SP_DEFECTS names no defect");
    selected
        .iter()
        .for_each(|[defect, ..]| drop(plugin(newest, defect)));
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(vec![]));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some([defect, check, words]) =
                    selected.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let error = expect_found(newest, defect, check, words).err();
                    missed.lock().expect("no panic").extend(error);
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no panic");
    assert!(missed.is_empty(), "{missed:#?}");
    println!("{} planted defects found", selected.len());
}

/// Runs the check on the plugin with the defect.
///
/// # Errors
/// Returns an error if the check does not fail with a detail that has these words.
fn expect_found(newest: &Api, defect: &str, check: &str, words: &str) -> Result<(), String> {
    let plugin = plugin(newest, defect);
    let mut last = String::new();
    // Threads of the plugin may run at another time on a busy machine.
    for _ in 0..5 {
        let row = run_check(check, HOST, &plugin);
        println!("{defect}: {row}");
        if row.status == CheckStatus::Fail && row.detail.contains(words) {
            return Ok(());
        }
        last = format!("{defect}: {row}, expected {words:?}");
    }
    Err(last)
}
