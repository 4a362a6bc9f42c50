//! A plugin's lines on stderr: which of them `SP_LOG` chooses, and that a stderr that cannot be written
//! changes nothing else.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use sp_host::{Error, Host, Op, PlayedRelease, Tensor};
use sp_tests::{example, exports_without, snapshots};

/// Returns a stderr for a child that fails every write, or `None` for one that the child closes itself.
fn broken(kind: &str) -> Option<Stdio> {
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

/// Runs `scene` below in a process of its own, with these variables.
fn play(scene: &str, variables: &[(&str, &str)], stderr: Stdio) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "plays_one_scene", "--nocapture"])
        .env("SP_SCENE", scene)
        .env_remove("SP_LOG")
        .envs(variables.iter().copied())
        .stderr(stderr)
        .output()
        .unwrap()
}

/// Runs in a process of its own, which `play` starts: a process decides once what its host is.
#[test]
fn plays_one_scene() {
    let Ok(scene) = std::env::var("SP_SCENE") else {
        return;
    };
    if std::env::var_os("SP_CLOSE").is_some() {
        // SAFETY: nothing in this process uses the descriptor as more than a place to write lines.
        unsafe { libc::close(libc::STDERR_FILENO) };
    }
    match scene.as_str() {
        "computes" => computes(),
        "declines" => declines(),
        "registers_less" => registers_less(),
        other => panic!("no scene {other}"),
    }
    println!("survived");
}

/// Panics of all kinds are statuses, and kernels compute after them.
fn computes() {
    let host = Host::open(&snapshots("2.21"), &example("rough")).unwrap();
    let panics = Op::new("Panics").input("x", "T").output("y", "T");
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
    let declined = Host::open(&snapshots("2.6"), &example("rough"));
    assert!(matches!(declined, Err(Error::Declined(_))), "{declined:?}");
}

fn registers_less() {
    let apis = snapshots("2.21");
    let exports = exports_without(&apis, "TF_KernelBuilder_TypeConstraint");
    let host = Host::open(
        PlayedRelease::new(&apis).with_exports(&exports),
        &example("rough"),
    )
    .unwrap();
    assert_eq!(host.kernels().count(), 0);
}

#[test]
fn stderr_that_cannot_be_written_changes_nothing_else() {
    for scene in ["computes", "declines", "registers_less"] {
        for kind in ["full", "unread", "closed"] {
            // A value that the first kernel reports.
            let mut variables = vec![("SP_CPU_ISA", "none")];
            let stderr = broken(kind).unwrap_or_else(|| {
                variables.push(("SP_CLOSE", "1"));
                Stdio::null()
            });
            let output = play(scene, &variables, stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(stdout.contains("survived"), "{scene}, {kind}: {output:?}");
            assert!(output.status.success(), "{scene}, {kind}: {output:?}");
        }
    }
}

/// Returns the lines of the plugin if `SP_LOG` has this value.
fn lines(scene: &str, level: &str) -> Vec<String> {
    let output = play(scene, &[("SP_LOG", level)], Stdio::piped());
    assert!(output.status.success(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = stderr.lines().filter(|line| line.starts_with("plugin "));
    lines.map(str::to_owned).collect()
}

#[test]
fn sp_log_chooses_levels() {
    for level in ["off", "error"] {
        assert_eq!(lines("declines", level), [""; 0], "{level}");
    }
    for level in ["warn", "info", "debug"] {
        let lines = lines("declines", level);
        assert!(
            lines.len() == 1 && lines[0].contains("declined TensorFlow 2.6"),
            "{lines:?}"
        );
    }
    let registered = |level| {
        lines("computes", level)
            .iter()
            .any(|it| it.contains("registers"))
    };
    assert!(registered("debug") && !registered("info"));
}

#[test]
fn invalid_sp_log_is_one_warning_and_the_default() {
    let lines = lines("declines", "loud");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("SP_LOG=loud is invalid"), "{lines:?}");
    assert!(lines[1].contains("declined"), "{lines:?}");
}
