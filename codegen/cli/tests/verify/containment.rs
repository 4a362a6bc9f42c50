//! Containment of plugins that hang, flood, print escape sequences or leave processes behind.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::Scene;
use crate::{compile, verify};
use sp_tests::assert_contains_all;

#[test]
fn hang_at_load_costs_one_time_limit() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DHANGS"]) else {
        return;
    };
    let arguments = ["--timeout", "1", "--jobs", "20", "--format", "json"];
    let start = Instant::now();
    let output = verify(&scene, &plugin, &arguments).output().unwrap();
    // 18 releases of 58 checks, each of a second, would take over 30 seconds.
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["verdict"], "fail");
    for row in report["rows"].as_array().unwrap() {
        let detail = row["detail"].as_str().unwrap();
        let status = match row["check"] == "entry_points" {
            true => "fail",
            false => "skip",
        };
        assert_eq!(row["status"], status, "{row}");
        assert!(
            detail.contains("still in the plugin's constructors after 1 s"),
            "{row}"
        );
    }
}

#[test]
fn starts_no_check_after_the_limit_of_the_run() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DHANGS"]) else {
        return;
    };
    let limits = ["--timeout", "3", "--run-timeout", "1", "--jobs", "1"];
    let arguments = [&limits[..], &["--format", "json"]].concat();
    let output = verify(&scene, &plugin, &arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("checks were not run: the time limit of the whole run"),
        "{stderr}"
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows[0]["status"], "fail", "{}", rows[0]);
    for row in &rows[1..] {
        assert_eq!(row["status"], "skip", "{row}");
        let detail = row["detail"].as_str().unwrap();
        let words = "not run: the time limit of the whole run, 1 s, has elapsed";
        assert_eq!(detail, words);
    }
}

#[test]
fn checks_several_releases() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    for arguments in [
        &["--release", "2.21,2.18"][..],
        &["--release", "2.18", "--release", "2.21"],
        &["--release", "2.21", "--release", "2.18,2.21"],
    ] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let output = verify(&scene, &plugin, &arguments).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["releases"], serde_json::json!(["2.18", "2.21"]));
    }
    let run = scene.run(&["verify", "plugin.so", "--release", "2.21,1.0"]);
    run.assert_rejected(&["cannot verify for TensorFlow 1.0"]);
}

#[test]
fn row_order_is_independent_of_jobs() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &[]) else {
        return;
    };
    let run = |jobs| {
        let arguments = ["--release", "2.21", "--format", "json", "--jobs", jobs];
        verify(&scene, &plugin, &arguments).output().unwrap().stdout
    };
    let (one, eight) = (run("1"), run("8"));
    assert!(!one.is_empty());
    let expected = String::from_utf8(eight).unwrap();
    assert_eq!(String::from_utf8(one).unwrap(), expected);
}

#[test]
fn rejects_zero_timeout_and_zero_jobs() {
    let scene = Scene::new();
    for option in ["--timeout", "--run-timeout", "--jobs"] {
        let run = scene.run(&["verify", "plugin.so", option, "0"]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains("invalid value '0'"), "{}", run.stderr);
    }
}

#[test]
fn escapes_control_characters_in_text_and_json() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DESCAPES"]) else {
        return;
    };
    let mut bytes = fs::read(&plugin).unwrap();
    while let Some(at) = bytes.windows(5).position(|part| part == b"TF_QQ") {
        bytes[at + 3..at + 5].copy_from_slice(b"\x1b[");
    }
    fs::write(&plugin, bytes).unwrap();
    for format in ["text", "json"] {
        let arguments = ["--release", "2.21", "--format", format];
        let output = verify(&scene, &plugin, &arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_contains_all(&text, &["TF_", "1b}[31mRed"]);
        assert!(text.contains("1b}[2Jgone"), "{text}");
        let mut controls = text.chars().filter(|it| it.is_control() && *it != '\n');
        assert_eq!(controls.next(), None, "{text}");
        assert!(
            !text.contains(r"\u001b"),
            "a program that prints JSON would send it: {text}"
        );
    }
}

#[test]
fn counts_output_that_is_dropped() {
    let scene = Scene::new();
    let Some(plugin) = compile(&scene, &["-DFLOODS"]) else {
        return;
    };
    let arguments = ["--release", "2.21", "--format", "json"];
    let output = verify(&scene, &plugin, &arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &report["rows"][0];
    assert_eq!(row["status"], "pass", "{row}");
    assert!(row["dropped_bytes"].as_u64().unwrap() > 16 << 19, "{row}");
    let output = verify(&scene, &plugin, &["--release", "2.21"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("bytes of the plugin's output, in"), "{text}");
}

/// The plugin and the process that it forked end with the command: by Ctrl-C, and if it is killed.
#[test]
fn leaves_no_process_when_the_command_is_ended() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
        let scene = Scene::new();
        let Some(plugin) = compile(&scene, &["-DFORKS", "-DHANGS"]) else {
            return;
        };
        let mut command = verify(&scene, &plugin, &["--release", "2.21"]);
        restore_interrupt(&mut command);
        let mut running = command.stdout(Stdio::null()).spawn().unwrap();
        let numbers = wait_for("the plugin is loaded", || {
            let text = fs::read_to_string(scene.path("marker")).unwrap_or_default();
            let numbers: Vec<String> = text.lines().map(str::to_owned).collect();
            (numbers.len() == 2 && text.ends_with('\n')).then_some(numbers)
        });
        let number = running.id().to_string();
        let sent = Command::new("kill")
            .args([format!("-{signal}"), number])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(running.wait().unwrap().signal(), Some(signal));
        for number in numbers {
            wait_for(&format!("signal {signal} ends {number}"), || {
                let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
                let state = stat.rsplit(") ").next().unwrap_or_default();
                (state.is_empty() || state.starts_with('Z')).then_some(())
            });
        }
    }
}

/// Makes Ctrl-C end the command also if these tests ignore it, as a shell's jobs in the background do.
fn restore_interrupt(command: &mut Command) {
    let restore = || {
        // SAFETY: `signal` is async-signal-safe, and the default action needs no handler.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: the function calls only `signal`, and allocates nothing.
    unsafe { command.pre_exec(restore) };
}

/// Waits, at most for 20 seconds, until `found` gives something.
#[track_caller]
fn wait_for<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within 20 seconds");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn help_states_that_it_is_no_sandbox() {
    let run = Scene::new().run(&["verify", "--help"]);
    let words: Vec<&str> = run.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("not a sandbox"), "{}", run.stdout);
}
