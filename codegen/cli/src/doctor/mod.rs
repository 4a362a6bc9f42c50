//! Diagnosis of a plugin whose device TensorFlow does not list: each step from the installed TensorFlow to the
//! registered kernels, with a verdict and advice.
//!
//! Data flows one way: `survey.py` finds TensorFlow and the plugins, `file` reads each plugin's file, a session
//! of `session.py` loads it into TensorFlow, and `session` converts its counts to steps; `conflicts` compares the plugins.
//!
//! `survey.py` imports nothing of TensorFlow. `session.py` imports it while `os.listdir` returns empty plugin
//! folders, then loads one plugin as TensorFlow does. It writes the name of each stage that it enters to its answer,
//! so that the end of the process is a finding of that stage.

mod answer;
mod conflicts;
mod file;
pub mod jax;
pub mod json;
mod session;
mod settings;
mod step;
#[cfg(test)]
mod tests;
pub mod text;

pub use answer::{Survey, survey};
pub use step::{DoctorReport, Step, StepKind, StepVerdict};

use answer::{Mode, SessionResult, SessionStage};
use conflicts::WorkingPlugin;
use miette::Diagnostic;
use sp_system::errors;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// The variable that names plugins beside those in site-packages.
const VARIABLE: &str = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH";

/// Devices or kernels by device type.
type ByType = BTreeMap<String, u64>;

errors! {
    /// An error that prevents a diagnosis.
    #[derive(Debug, Error, Diagnostic)]
    pub enum DoctorError in doctor {
        /// There is no such program.
        NoPython { python: String, source: std::io::Error } = no_python: ("cannot run {python}: {source}"),
            help("name the Python that has the framework: `sp-gen doctor venv/bin/python`");

        /// The program is not a Python, or a broken one.
        NoAnswer {
            python: String,
            /// The end of the process.
            detail: String,
        } = no_answer: ("{python} did not run a Python program: {detail}"),
            help("name the Python that has the framework: `sp-gen doctor venv/bin/python`");
    }
}

/// Diagnoses the plugins that the TensorFlow of `python` loads; `progress` gets the name of each session
/// before it starts, and `limit` is the time that each may take.
///
/// # Errors
/// Returns an error if `python` is not a Python that can be run.
pub fn diagnose(
    python: &Path,
    limit: Duration,
    progress: impl Fn(&str),
) -> Result<DoctorReport, DoctorError> {
    let found = program(python);
    let python: &Path = &found;
    progress("looking for TensorFlow and plugins");
    let mut survey = answer::survey(python, limit)?;
    let mut report = DoctorReport::new(&python.display().to_string());
    if !found_tensorflow(&survey, &mut report) {
        return Ok(report);
    }
    let run = |mode: Mode<'_>, label: &str| {
        progress(label);
        answer::session(python, mode, limit)
    };
    let baseline = run(Mode::Without, "import tensorflow without plugins")?;
    report.add(session::imported(&survey, &baseline));
    if session::is_too_old(&baseline) {
        return Ok(report);
    }
    if session::reads_no_variable(&baseline) {
        drop_named(&mut survey, &mut report);
    }
    let plugins = plugins(&survey, &mut report);
    let mut working = Vec::new();
    let imports = baseline.counts.stage == SessionStage::Done;
    for path in &plugins {
        let loaded = match imports {
            true => Some(run(Mode::Alone(path), &format!("loading {path}"))?),
            false => None,
        };
        working.extend(diagnose_plugin(
            path,
            &survey,
            &baseline,
            loaded,
            &mut report,
        ));
    }
    report.steps.extend(conflicts::steps_of_names(&working));
    if imports && !plugins.is_empty() {
        let together = run(Mode::Together, "import tensorflow with all plugins")?;
        report.add(session::together(&together, &working, plugins.len()));
    }
    Ok(report)
}

/// Returns the Python of an environment, if the path is that of its folder.
fn program(python: &Path) -> Cow<'_, Path> {
    let programs = ["bin/python", "bin/python3"].map(|it| python.join(it));
    match programs.into_iter().find(|it| it.is_file()) {
        Some(program) if python.is_dir() => Cow::Owned(program),
        _ => Cow::Borrowed(python),
    }
}

/// Adds the step that fails if there is no TensorFlow. Returns true if there is one.
fn found_tensorflow(survey: &Survey, report: &mut DoctorReport) -> bool {
    if survey.tensorflow.is_some() {
        return true;
    }
    let detail = format!("Python {} has no package `tensorflow`", survey.python);
    report.add(Step::failed(
        StepKind::TensorFlow,
        &detail,
        "name the Python that has it, `sp-gen doctor venv/bin/python`, or install tensorflow-cpu there",
    ));
    false
}

/// Removes the plugins that the variable names, which this release does not read.
fn drop_named(survey: &mut Survey, report: &mut DoctorReport) {
    if let Some(named) = survey.named.take() {
        let detail = format!("this TensorFlow does not read {VARIABLE}={}", named.folder);
        let advice = "use TensorFlow 2.12 or later, or install the plugin";
        report.add(Step::unknown(StepKind::Folder, &detail, advice));
    }
}

/// Adds the step of the plugins folders. Returns the files that TensorFlow loads from them.
fn plugins(survey: &Survey, report: &mut DoctorReport) -> Vec<String> {
    report.add(folder_step(survey));
    if !survey.similar.is_empty() {
        let detail = format!("TensorFlow does not read {}", survey.similar.join(", "));
        let advice = "move the libraries to the folder `tensorflow-plugins` in site-packages";
        report.add(Step::unknown(StepKind::Folder, &detail, advice));
    }
    report.steps.extend(conflicts::steps_of_files(survey));
    let entries = || survey.folders().flat_map(|folder| &folder.files);
    for other in entries().filter(|entry| !entry.is_library && !entry.path.ends_with(".py")) {
        report.add(file::not_loaded(&other.path));
    }
    let named = survey.named.iter().flat_map(|it| &it.files);
    let installed = survey.plugins.iter().flat_map(|it| &it.files);
    let installed = installed.filter(|_| survey.is_searched);
    let libraries = installed.chain(named).filter(|it| it.is_library);
    libraries.map(|entry| entry.path.clone()).collect()
}

fn folder_step(survey: &Survey) -> Step {
    const INSTALL: &str =
        "install the plugin with this Python: `python -m pip install .` in its folder";
    let kind = StepKind::Folder;
    if !survey.is_searched {
        let folder = survey.tensorflow.as_deref().unwrap_or_default();
        let detail = format!("{folder} is in none of the site-packages folders of this Python");
        return Step::failed(
            kind,
            &detail,
            "TensorFlow loads plugins only if it is installed in one of them: install it with pip",
        );
    }
    let named = survey.named.iter();
    let named = named.map(|it| format!("{VARIABLE}={}", it.folder));
    let paths = survey.plugins.iter().map(|it| it.folder.clone());
    let paths: Vec<String> = paths.chain(named).collect();
    let errors = survey.folders().filter_map(|it| it.error.as_deref());
    let errors: Vec<&str> = errors.collect();
    let count = survey.folders().flat_map(|it| &it.files);
    let count = count.filter(|it| it.is_library).count();
    match (paths.is_empty(), errors.is_empty(), count) {
        (true, _, _) => {
            let searched = survey.searched.join(", ");
            let detail = format!("there is no folder `tensorflow-plugins` in {searched}");
            Step::failed(kind, &detail, INSTALL)
        }
        (_, false, _) => Step::failed(
            kind,
            &errors.join(", "),
            "make the folder readable for this user",
        ),
        (_, _, 0) => {
            let detail = format!("{} has no shared library", paths.join(", "));
            Step::failed(kind, &detail, INSTALL)
        }
        _ => Step::ok(kind, &paths.join(", ")),
    }
}

/// Adds the steps of one plugin. Returns the plugin if it listed devices.
fn diagnose_plugin(
    path: &str,
    survey: &Survey,
    baseline: &SessionResult,
    loaded: Option<SessionResult>,
    report: &mut DoctorReport,
) -> Option<WorkingPlugin> {
    let mut steps = file::steps(Path::new(path), &survey.machine);
    let working = match loaded {
        Some(loaded) => {
            let added = session::added(&loaded.counts.devices, &baseline.counts.devices);
            steps.extend(session::steps(&loaded, &added));
            (!added.is_empty()).then(|| WorkingPlugin {
                path: path.to_owned(),
                device_types: added.into_keys().collect(),
                platform: loaded.counts.platform_name().map(str::to_owned),
            })
        }
        None => {
            let reason = "TensorFlow cannot be imported without plugins either";
            let unknown = |kind| Step::unknown(kind, reason, "");
            steps.extend(StepKind::SESSION_STEPS.map(unknown));
            None
        }
    };
    let steps = steps.into_iter().map(|step| step.for_plugin(path));
    report.steps.extend(steps);
    working
}
