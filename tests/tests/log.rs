//! A plugin's lines on stderr: `SP_LOG` selects the levels, and a failing stderr has no other effect.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use sp_host::{EmulatedRelease, Error, Host, Op, Tensor};
use sp_tests::{example, exports_without, snapshots};

/// Returns a stderr for a child that fails every write, or `None` if the child closes its stderr itself.
fn failing_stderr(kind: &str) -> Option<Stdio> {
    match kind {
        "full" => Some(
            File::options()
                .write(true)
                .open("/dev/full")
                .unwrap()
                .into(),
        ),
        "unread" => Some(std::io::pipe().unwrap().1.into()),
        _ => None,
    }
}

/// Runs [`run_scenario`] in a process of its own, with these environment variables.
fn start_scenario(scenario: &str, variables: &[(&str, &str)], stderr: Stdio) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run_scenario", "--nocapture"])
        .env("SP_SCENARIO", scenario)
        .env_remove("SP_LOG")
        .envs(variables.iter().copied())
        .stderr(stderr)
        .output()
        .unwrap()
}

/// Runs the scenario that `SP_SCENARIO` names. [`start_scenario`] starts this test in a process of its own,
/// since a process identifies its host once.
#[test]
fn run_scenario() {
    let Ok(scenario) = std::env::var("SP_SCENARIO") else {
        return;
    };
    if std::env::var_os("SP_CLOSE_STDERR").is_some() {
        // SAFETY: this process only writes lines to the descriptor, and no object owns it.
        unsafe { libc::close(libc::STDERR_FILENO) };
    }
    match scenario.as_str() {
        "computes" => computes(),
        "declines" => declines(),
        "omits_kernels" => omits_kernels(),
        other => panic!("unknown scenario {other}"),
    }
    println!("completed");
}

/// Checks that every panic ends in a status and that kernels compute afterwards.
fn computes() {
    let host = Host::open(&snapshots("2.21"), &example("author_errors")).unwrap();
    let panics = Op::new("Softplus")
        .input("features", "T")
        .output("activations", "T");
    for payload in [0_f32, 1.0, 2.0, 3.0] {
        let error = host.run(&panics, &[Tensor::scalar(payload)]).unwrap_err();
        assert!(error.to_string().contains("panic in a kernel"), "{error}");
    }
    let x = || Tensor::from([2], &[1_f32, 2.0]);
    let sum = host.run(&Op::new("AddV2"), &[x(), x()]).unwrap();
    assert_eq!(sum, [Tensor::from([2], &[2_f32, 4.0])]);
    assert!(host.optimize(&[], &[]).is_err());
    assert!(host.profile(|| ()).is_err());
    host.close().unwrap();
}

fn declines() {
    let declined = Host::open(&snapshots("2.6"), &example("author_errors"));
    assert!(matches!(declined, Err(Error::Declined(_))), "{declined:?}");
}

fn omits_kernels() {
    let apis = snapshots("2.21");
    let exports = exports_without(&apis, "TF_KernelBuilder_TypeConstraint");
    let host = Host::open(
        EmulatedRelease::new(&apis).with_exports(&exports),
        &example("author_errors"),
    )
    .unwrap();
    // A kernel without type constraints needs no such function.
    assert!(host.kernels().all(|it| it.constraints.is_empty()));
}

#[test]
fn failing_stderr_has_no_other_effect() {
    for scenario in ["computes", "declines", "omits_kernels"] {
        for kind in ["full", "unread", "closed"] {
            // The first kernel reports this value.
            let mut variables = vec![("SP_CPU_ISA", "none")];
            let stderr = failing_stderr(kind).unwrap_or_else(|| {
                variables.push(("SP_CLOSE_STDERR", "1"));
                Stdio::null()
            });
            let output = start_scenario(scenario, &variables, stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(
                stdout.contains("completed"),
                "{scenario}, {kind}: {output:?}"
            );
            assert!(output.status.success(), "{scenario}, {kind}: {output:?}");
        }
    }
}

/// Returns the lines of the plugin if `SP_LOG` has this value.
fn lines(scenario: &str, level: &str) -> Vec<String> {
    let output = start_scenario(scenario, &[("SP_LOG", level)], Stdio::piped());
    assert!(output.status.success(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = stderr.lines().filter(|line| line.starts_with("plugin "));
    lines.map(str::to_owned).collect()
}

#[test]
fn sp_log_selects_levels() {
    assert_eq!(lines("declines", "off"), [""; 0]);
    // The device cannot be used.
    for level in ["error", "warn", "info", "debug"] {
        let lines = lines("declines", level);
        assert!(
            lines.len() == 1 && lines[0].contains("declined TensorFlow 2.6"),
            "{lines:?}"
        );
    }
    let registered = |level| {
        lines("computes", level)
            .iter()
            .any(|line| line.contains("registers"))
    };
    assert!(registered("debug") && !registered("info"));
}

#[test]
fn invalid_sp_log_gives_one_warning_and_default_level() {
    let lines = lines("declines", "loud");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("SP_LOG=loud is invalid"), "{lines:?}");
    assert!(lines[1].contains("declined"), "{lines:?}");
}
