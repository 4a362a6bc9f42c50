//! The steps that a session of TensorFlow decides.

use super::answer::{SessionResult, SessionStage, Survey};
use super::conflicts::{self, WorkingPlugin};
use super::{ByType, Step, StepKind, settings};
use sp_ir::Release;
use std::collections::BTreeSet;

/// A part of the dynamic loader's error message, and the advice for it.
const LOADER: [(&str, &str); 8] = [
    (
        "undefined symbol: TF_",
        "this TensorFlow does not export the function: look it up when the plugin runs, or use a release that \
         exports it (`sp-gen history FUNCTION`)",
    ),
    (
        "undefined symbol",
        "link the library that has the symbol into the plugin, or build the plugin for this release",
    ),
    (
        "cannot open shared object file",
        "install the missing library, or name its folder in LD_LIBRARY_PATH",
    ),
    (
        "version `GLIBC",
        "build the plugin on a system with an older C library, such as a manylinux image",
    ),
    (
        "wrong ELF class",
        "build the plugin for the machine of this Python",
    ),
    (
        "invalid ELF header",
        "install the plugin again: the file is not a library",
    ),
    (
        "cannot dynamically load",
        "it is a program, not a library: build a shared library",
    ),
    (
        "file too short",
        "install the plugin again: the file is truncated",
    ),
];

/// Advice for a process that ended without a Python exception.
const ENDED: &str = "run `sp-gen verify PLUGIN.so`, which reports the violated contract";

/// Returns the step of TensorFlow itself, from a session without plugins.
pub fn imported(survey: &Survey, session: &SessionResult) -> Step {
    let kind = StepKind::TensorFlow;
    let folder = survey.tensorflow.as_deref().unwrap_or_default();
    let reached = session.counts.stage;
    let failure = session.failure_up_to(SessionStage::Devices);
    match (&session.counts.release, failure) {
        (Some(release), None) if is_too_old(session) => Step::failed(
            kind,
            &format!("TensorFlow {release} in {folder} loads no plugins"),
            "use TensorFlow 2.5 or later",
        ),
        (Some(release), None) if reached == SessionStage::Done => Step::ok(
            kind,
            &format!("{release} in {folder}, Python {}", survey.python),
        ),
        (_, failure) => {
            let installed = survey.installed.as_deref().unwrap_or(folder);
            let reason = failure.unwrap_or_else(|| session.end.to_string());
            Step::failed(
                kind,
                &format!("{installed} cannot be imported without plugins: {reason}"),
                "repair the installation of TensorFlow first",
            )
        }
    }
}

/// Returns true for a release before the first one that loads plugins.
pub fn is_too_old(session: &SessionResult) -> bool {
    is_before(session, Release::FIRST_SUPPORTED)
}

/// Returns true for a release before the first one that reads `TF_PLUGGABLE_DEVICE_LIBRARY_PATH`.
pub fn reads_no_variable(session: &SessionResult) -> bool {
    is_before(session, Release::from_minor(2, 12))
}

fn is_before(session: &SessionResult, first: Release) -> bool {
    let release = session.counts.release.as_ref();
    let release: Option<Release> = release.and_then(|it| it.parse().ok());
    release.is_some_and(|it| it.key() < first)
}

/// Returns the counts by type that are in `with` and not in `without`.
pub fn added(with: &ByType, without: &ByType) -> ByType {
    let more = |(device_type, count): (&String, &u64)| {
        let before = without.get(device_type).copied().unwrap_or(0);
        (*count > before).then(|| (device_type.clone(), count - before))
    };
    with.iter().filter_map(more).collect()
}

/// Returns the steps of a session with one plugin, which added `devices`.
pub fn steps(session: &SessionResult, devices: &ByType) -> Vec<Step> {
    let mut steps = vec![
        load(session),
        host(session, devices),
        listed(session, devices),
        kernels(session, devices),
    ];
    steps.extend(settings::steps(session));
    steps.extend(conflicts::step_of_core(&session.counts));
    steps
}

fn load(session: &SessionResult) -> Step {
    let kind = StepKind::Load;
    if let Some(reason) = session.failure_up_to(SessionStage::Import) {
        let detail = format!("TensorFlow was not imported this time: {reason}");
        return Step::unknown(kind, &detail, "run sp-gen doctor again");
    }
    match session.failure(SessionStage::Load) {
        None => Step::ok(kind, "the dynamic loader loads it"),
        Some(reason) => Step::failed(kind, &reason, advice_of_loader(&reason)),
    }
}

/// Returns the advice for an error of the dynamic loader.
pub fn advice_of_loader(reason: &str) -> &'static str {
    let known = LOADER.iter().find(|(words, _)| reason.contains(words));
    known.map_or(ENDED, |(_, advice)| advice)
}

fn host(session: &SessionResult, devices: &ByType) -> Step {
    let kind = StepKind::Host;
    if let Some(reason) = session.failure(SessionStage::Register) {
        let advice = match reason.contains(conflicts::PLATFORM_MESSAGE) {
            true => {
                "give the platform another name: `SP_Platform.name`, or `--platform-name` of `sp-gen new`"
            }
            false => ENDED,
        };
        return Step::failed(kind, &reason, advice);
    }
    if session.counts.stage < SessionStage::Devices {
        return not_reached(kind);
    }
    let release = session.counts.release.as_deref().unwrap_or_default();
    let lines: Vec<&str> = session.plugin_lines().collect();
    let declined = lines.iter().find(|line| line.contains(": declined "));
    match (devices.is_empty(), declined) {
        (false, None) => Step::ok(kind, &format!("it accepts TensorFlow {release}")),
        (false, Some(line)) => Step::ok(
            kind,
            &format!("it accepts TensorFlow {release} in part: {line}"),
        ),
        (true, Some(line)) => Step::failed(
            kind,
            line,
            "build the plugin with an sp-gen that contains this release (`sp-gen update` in its folder), or use a \
             release that it contains",
        ),
        (true, None) => Step::unknown(
            kind,
            &format!(
                "it was registered, and reports no device{}",
                session.last_lines()
            ),
            "",
        ),
    }
}

fn listed(session: &SessionResult, devices: &ByType) -> Step {
    let kind = StepKind::Devices;
    if let Some(reason) = session.failure(SessionStage::Devices) {
        return Step::failed(kind, &reason, ENDED);
    }
    if session.counts.stage < SessionStage::Kernels {
        return not_reached(kind);
    }
    match devices.is_empty() {
        false => Step::ok(kind, &by_type(devices)),
        true => Step::failed(
            kind,
            &format!(
                "none; without the plugin there are {}",
                by_type(&session.counts.devices)
            ),
            "see the step `host`; if the plugin accepted TensorFlow, its get_device_count returns 0: check the \
             device's driver and its permissions",
        ),
    }
}

fn kernels(session: &SessionResult, devices: &ByType) -> Step {
    let kind = StepKind::Kernels;
    if let Some(reason) = session.failure(SessionStage::Kernels) {
        return Step::unknown(kind, &format!("they cannot be counted: {reason}"), "");
    }
    if devices.is_empty() || session.counts.stage < SessionStage::Settings {
        return not_reached(kind);
    }
    let of_type = |device_type: &String| {
        let count = session.counts.kernels.get(device_type).copied();
        (device_type.clone(), count.unwrap_or(0))
    };
    let counts: ByType = devices.keys().map(of_type).collect();
    match counts.values().any(|count| *count == 0) {
        false => Step::ok(kind, &by_type(&counts)),
        true => Step::failed(
            kind,
            &format!("{}: no op runs on such a device", by_type(&counts)),
            "export TF_InitKernel and register kernels for exactly the device type",
        ),
    }
}

/// Returns the step of `import tensorflow` with all `count` plugins. `working` are those that have devices alone.
pub fn together(session: &SessionResult, working: &[WorkingPlugin], count: usize) -> Step {
    let kind = StepKind::Import;
    if working.len() > 1 && working.len() == count && has_ended(session) {
        return conflict(session, working);
    }
    if let Some(reason) = session.failure_up_to(SessionStage::Devices) {
        let detail = format!("`import tensorflow` with all plugins: {reason}");
        let advice =
            "remove the plugin whose steps failed; if each works alone, load one at a time";
        return Step::failed(kind, &detail, advice);
    }
    let found = &session.counts.devices;
    let expected = working.iter().flat_map(|it| &it.device_types);
    let expected: BTreeSet<&str> = expected.map(String::as_str).collect();
    let missing = expected.into_iter().filter(|it| !found.contains_key(*it));
    let missing: Vec<&str> = missing.collect();
    match missing.is_empty() {
        true => Step::ok(kind, &format!("it lists {}", by_type(found))),
        false => Step::failed(
            kind,
            &format!(
                "it lists {}, and not {}",
                by_type(found),
                missing.join(", ")
            ),
            "the plugin lists it alone: remove the other plugins one by one",
        ),
    }
}

/// Returns true if the process has ended with a message of TensorFlow or a signal, and not with an exception of Python.
fn has_ended(session: &SessionResult) -> bool {
    session.counts.stage != SessionStage::Done && session.counts.error.is_none()
}

/// Returns the step of plugins that work alone and end the process together.
fn conflict(session: &SessionResult, working: &[WorkingPlugin]) -> Step {
    let reason = session.failure(session.counts.stage).unwrap_or_default();
    let stage = match session.counts.stage {
        SessionStage::Optimize => "the first graph of a process with all devices",
        _ => "`import tensorflow` with all plugins",
    };
    let paths = conflicts::paths_of_platform(&reason, working).join(" and ");
    let detail = format!("{paths} work alone, and {stage} ends: {reason}");
    let advice = match session.counts.stage {
        SessionStage::Optimize => {
            "their graph optimizers switch different passes of TensorFlow on or off (`PASSES`): load one of them, or call \
             tf.config.optimizer.set_experimental_options({\"use_plugin_optimizers\": False})"
        }
        _ => "two plugins need different device types and platform names: load one of them",
    };
    Step::failed(StepKind::Import, &detail, advice)
}

/// Returns the step of something that an earlier failure prevents.
pub fn not_reached(kind: StepKind) -> Step {
    Step::unknown(kind, "not reached: an earlier step failed", "")
}

/// Returns `CPU: 1, MYACCEL: 2`.
pub fn by_type(counts: &ByType) -> String {
    let pairs = counts
        .iter()
        .map(|(name, count)| format!("{name}: {count}"));
    let text = pairs.collect::<Vec<_>>().join(", ");
    match text.is_empty() {
        true => "none".to_owned(),
        false => text,
    }
}
