//! Verdicts from the counts of a session.

use super::answer::{Counts, SessionResult, SessionStage, Survey};
use super::*;
use sp_system::child::End;

fn counts(pairs: &[(&str, u64)]) -> ByType {
    let pairs = pairs
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    pairs.collect()
}

fn session(stage: SessionStage, devices: &[(&str, u64)]) -> SessionResult {
    SessionResult {
        counts: Counts {
            stage,
            error: None,
            release: Some("2.21.0".into()),
            devices: counts(devices),
            kernels: counts(&[("CPU", 900), ("ACCEL", 30)]),
            settings: Some("compare=off\n".into()),
            names: None,
        },
        end: End::Exit(0),
        stderr: String::new(),
    }
}

fn baseline() -> SessionResult {
    session(SessionStage::Done, &[("CPU", 1)])
}

/// Returns the verdicts of load, host, devices and kernels, and the steps.
fn verdicts_of(session: &SessionResult) -> ([StepVerdict; 4], Vec<Step>) {
    let added = session::added(&session.counts.devices, &baseline().counts.devices);
    let steps = session::steps(session, &added);
    let verdicts: Vec<StepVerdict> = steps.iter().map(|it| it.verdict).collect();
    (verdicts[..4].try_into().unwrap(), steps)
}

use StepVerdict::{Failed, Ok as Passed, Unknown};
use sp_tests::assert_contains;

#[test]
fn device_with_kernels_passes_every_step() {
    let (verdicts, steps) = verdicts_of(&session(SessionStage::Done, &[("CPU", 1), ("ACCEL", 2)]));
    assert_eq!(verdicts, [Passed; 4]);
    assert_eq!(steps[2].detail, "ACCEL: 2");
    assert_eq!(steps[3].detail, "ACCEL: 30");
}

#[test]
fn device_without_kernels_fails_last_step() {
    let (verdicts, steps) = verdicts_of(&session(SessionStage::Done, &[("CPU", 1), ("accel", 1)]));
    assert_eq!(verdicts, [Passed, Passed, Passed, Failed]);
    assert!(steps[3].advice.contains("TF_InitKernel"));
}

#[test]
fn settings_and_ops_without_kernel_are_steps() {
    let mut session = session(SessionStage::Done, &[("CPU", 1), ("ACCEL", 2)]);
    let (_, steps) = verdicts_of(&session);
    assert_eq!(steps.len(), 5);
    assert_eq!(steps[4].detail, "compare=off");
    let lacking =
        "lacking=B: TF_X is absent; use Y\nlacking=A: TF_X is absent; use Y\nlacking=C: z\n";
    session.counts.settings = Some(format!("compare=off\njit_compile=ignore\n{lacking}"));
    let (_, steps) = verdicts_of(&session);
    let found = steps[4..].iter();
    let found: Vec<_> = found.map(|it| (it.step, it.detail.as_str())).collect();
    let expected = [
        (StepKind::Settings, "compare=off, jit_compile=ignore"),
        (
            StepKind::Lacking,
            "2 ops have no kernel here, since TF_X is absent; use Y: A, B",
        ),
        (StepKind::Lacking, "1 op has no kernel here, since z: C"),
    ];
    assert_eq!(found, expected);
    assert!(steps.iter().all(|it| it.verdict == Passed));
}

#[test]
fn step_names_some_of_many_ops_without_kernel() {
    let mut session = session(SessionStage::Done, &[("CPU", 1), ("ACCEL", 2)]);
    let lacking = (10..20).map(|op| format!("lacking=Op{op}: z\n"));
    session.counts.settings = Some(lacking.collect());
    let (_, steps) = verdicts_of(&session);
    let detail = &steps[steps.len() - 1].detail;
    assert!(detail.contains("Op15 and 4 more"), "{detail}");
}

#[test]
fn plugin_without_settings_or_that_ends_in_them_fails_no_step() {
    let mut session = session(SessionStage::Done, &[("CPU", 1), ("ACCEL", 2)]);
    session.counts.settings = None;
    let (verdicts, steps) = verdicts_of(&session);
    assert_eq!((verdicts, steps[4].verdict), ([Passed; 4], Unknown));
    assert!(steps[4].detail.contains("exports no `sp_plugin_settings`"));
    session.counts.stage = SessionStage::Settings;
    session.end = End::Signal(11);
    let (verdicts, steps) = verdicts_of(&session);
    assert_eq!((verdicts, steps[4].verdict), ([Passed; 4], Unknown));
    assert!(steps[4].detail.contains("SIGSEGV"), "{}", steps[4].detail);
}

#[test]
fn declining_plugin_fails_step_with_its_line() {
    let line = "plugin accel: declined TensorFlow 2.22.0: SP_Platform is 99 bytes";
    let mut declined = session(SessionStage::Done, &[("CPU", 1)]);
    declined.stderr = format!("noise\n{line}\n");
    let (verdicts, steps) = verdicts_of(&declined);
    assert_eq!(verdicts, [Passed, Failed, Failed, Unknown]);
    assert_eq!(steps[1].detail, line);
    declined.stderr = "noise\n".into();
    let (verdicts, steps) = verdicts_of(&declined);
    assert_eq!(verdicts, [Passed, Unknown, Failed, Unknown]);
    assert!(steps[1].detail.contains("noise"));
}

#[test]
fn declined_part_does_not_fail_device() {
    let mut part = session(SessionStage::Done, &[("CPU", 1), ("ACCEL", 1)]);
    part.stderr = "plugin accel: declined TensorFlow 2.22.0 for its profiler: grew\n".into();
    let (verdicts, steps) = verdicts_of(&part);
    assert_eq!(verdicts, [Passed; 4]);
    assert!(steps[1].detail.contains("for its profiler"));
}

#[test]
fn loader_error_has_advice_for_its_cause() {
    let mut failed = session(SessionStage::Load, &[]);
    for (error, words) in [
        (
            "OSError: x.so: undefined symbol: TF_NoSuch",
            "sp-gen history",
        ),
        (
            "OSError: libd.so: cannot open shared object file",
            "LD_LIBRARY_PATH",
        ),
        (
            "OSError: /lib/libc.so.6: version `GLIBC_2.99' not found",
            "older C library",
        ),
    ] {
        failed.counts.error = Some(error.into());
        let (verdicts, steps) = verdicts_of(&failed);
        assert_eq!(verdicts, [Failed, Unknown, Unknown, Unknown]);
        assert_eq!(steps[0].detail, error);
        assert!(steps[0].advice.contains(words), "{}", steps[0].advice);
    }
}

#[test]
fn ended_process_fails_its_current_stage() {
    let mut aborted = session(SessionStage::Register, &[]);
    aborted.end = End::Signal(6);
    aborted.stderr = "F tensorflow: Non-OK-status: \x1b[2J\n".into();
    let (verdicts, steps) = verdicts_of(&aborted);
    assert_eq!(verdicts, [Passed, Failed, Unknown, Unknown]);
    assert!(steps[1].detail.contains("SIGABRT") && steps[1].detail.contains("Non-OK-status"));
    assert!(!steps[1].detail.contains('\x1b'), "{}", steps[1].detail);
    aborted.end = End::TimedOut(Duration::from_secs(7));
    assert_contains(&verdicts_of(&aborted).1[1].detail, "killed after 7 seconds");
}

#[test]
fn platform_name_of_tensorflow_has_advice_of_its_own() {
    let mut aborted = session(SessionStage::Register, &[]);
    aborted.end = End::Signal(6);
    let message = "INTERNAL: platform is already registered with name: \"HOST\"";
    aborted.stderr = format!("F0000 00:00 stream_executor.cc:550] Check failed: {message}\n");
    let (verdicts, steps) = verdicts_of(&aborted);
    assert_eq!(verdicts, [Passed, Failed, Unknown, Unknown]);
    assert_contains(&steps[1].detail, message);
    assert_contains(&steps[1].advice, "SP_Platform.name");
}

#[test]
fn ended_process_is_quoted_from_load_on() {
    let mut aborted = session(SessionStage::Register, &[]);
    aborted.end = End::Signal(6);
    let stages = "oneDNN is on\n\nsp-gen doctor: stage load\n\nsp-gen doctor: stage register\n";
    aborted.stderr = format!("{stages}driver: no such device\n");
    let detail = |session: &SessionResult| verdicts_of(session).1[1].detail.clone();
    assert!(detail(&aborted).ends_with("its last lines: driver: no such device"));
    aborted.stderr = format!("{stages}F0000 00:00 x.cc:1] Check failed: ok\n  @ 0x7f68 f()\nend\n");
    assert!(detail(&aborted).ends_with("x.cc:1] Check failed: ok"));
}

#[test]
fn all_plugins_together_list_same_devices() {
    let working = [WorkingPlugin::new("/a/liba.so", None, "ACCEL")];
    let step = |session: &SessionResult| session::together(session, &working, 1);
    assert_eq!(
        step(&session(SessionStage::Done, &[("ACCEL", 1)])).verdict,
        Passed
    );
    let missing = step(&session(SessionStage::Done, &[("CPU", 1)]));
    assert_eq!(missing.verdict, Failed);
    assert!(missing.detail.contains("not ACCEL"));
    assert_eq!(step(&session(SessionStage::Import, &[])).verdict, Failed);
}

#[test]
fn plugins_that_end_the_process_together_are_both_named() {
    let working = [("/a/liba.so", "A"), ("/b/libb.so", "B")];
    let working = working.map(|(path, ty)| WorkingPlugin::new(path, None, ty));
    let step = |stage| {
        let mut ended = session(stage, &[("CPU", 1), ("A", 1), ("B", 1)]);
        ended.end = End::Signal(6);
        session::together(&ended, &working, 2)
    };
    for (stage, words) in [
        (SessionStage::Optimize, "use_plugin_optimizers"),
        (
            SessionStage::Import,
            "different device types and platform names",
        ),
    ] {
        let step = step(stage);
        assert_eq!(step.verdict, Failed);
        let names = "/a/liba.so and /b/libb.so work alone";
        assert!(step.detail.starts_with(names), "{}", step.detail);
        assert!(step.advice.contains(words), "{}", step.advice);
    }
    let mut ended = session(SessionStage::Import, &[]);
    ended.end = End::Signal(6);
    let step = session::together(&ended, &working, 3);
    assert_contains(&step.advice, "remove the plugin whose steps failed");
}

#[test]
fn release_before_plugins_fails_the_step_of_tensorflow() {
    let mut old = baseline();
    old.counts.release = Some("2.4.4".into());
    let step = session::imported(&Survey::default(), &old);
    assert_eq!((step.verdict, session::is_too_old(&old)), (Failed, true));
    assert!(step.advice.contains("2.5 or later"));
    assert!(!session::is_too_old(&baseline()));
}

#[test]
fn release_before_the_variable_loads_no_plugin_that_it_names() {
    let mut earlier = baseline();
    earlier.counts.release = Some("2.11.1".into());
    assert!(session::reads_no_variable(&earlier) && !session::reads_no_variable(&baseline()));
    let mut survey = Survey {
        named: Some(answer::PluginFolder::new(Path::new("/tmp"), &[])),
        ..Survey::default()
    };
    let mut report = DoctorReport::new("python3");
    drop_named(&mut survey, &mut report);
    assert_eq!(survey.named, None);
    assert_contains(
        &report.steps[0].detail,
        "does not read TF_PLUGGABLE_DEVICE_LIBRARY_PATH=/tmp",
    );
}

#[test]
fn copies_and_similar_folders_are_steps_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = |files: &[_]| answer::PluginFolder::new(folder.path(), files);
    let survey = Survey {
        is_searched: true,
        plugins: vec![plugins(&[("a.so", "one"), ("b.so", "two")])],
        named: Some(plugins(&[("c.so", "one")])),
        similar: vec!["/site/tensorflow_plugins".into()],
        ..Survey::default()
    };
    let mut report = DoctorReport::new("python3");
    assert_eq!(super::plugins(&survey, &mut report).len(), 3);
    let details: Vec<&str> = report.steps.iter().map(|it| it.detail.as_str()).collect();
    assert!(
        details[0].contains("TF_PLUGGABLE_DEVICE_LIBRARY_PATH="),
        "{details:?}"
    );
    assert!(
        details[1].contains("/site/tensorflow_plugins"),
        "{details:?}"
    );
    assert!(
        details[2].contains("c.so is the same plugin as "),
        "{details:?}"
    );
    assert_eq!(details.len(), 3);
}

#[test]
fn python_of_an_environment_is_found_by_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(program(folder.path()), folder.path());
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::write(folder.path().join("bin/python3"), "").unwrap();
    assert_eq!(program(folder.path()), folder.path().join("bin/python3"));
    assert_eq!(program(Path::new("python3")), Path::new("python3"));
}

#[test]
fn failed_tensorflow_import_fails_step() {
    let survey = Survey {
        tensorflow: Some("/site/tensorflow".into()),
        installed: Some("tensorflow-cpu 2.21.0".into()),
        ..Survey::default()
    };
    assert_eq!(session::imported(&survey, &baseline()).verdict, Passed);
    let mut broken = session(SessionStage::Import, &[]);
    broken.counts.error = Some("ImportError: numpy".into());
    let step = session::imported(&survey, &broken);
    assert_eq!(step.verdict, Failed);
    assert!(step.detail.contains("2.21.0") && step.detail.contains("numpy"));
}

#[test]
fn tensorflow_outside_site_packages_fails_folder_step() {
    let mut survey = Survey {
        tensorflow: Some("/opt/tensorflow".into()),
        searched: vec!["/site-packages".into()],
        ..Survey::default()
    };
    assert!(folder_step(&survey).detail.contains("/opt/tensorflow"));
    survey.is_searched = true;
    let absent = folder_step(&survey);
    assert!(absent.detail.contains("/site-packages") && absent.advice.contains("pip install"));
}
