//! Diagnosis of a plugin whose device TensorFlow does not list: each step from the installed TensorFlow to the
//! registered kernels, with a verdict and advice.
//!
//! Data flows one way: `survey.py` finds TensorFlow and the plugins, `file` reads each plugin's file, a session
//! of `session.py` loads it into TensorFlow, and `session` converts its counts to steps.
//!
//! `survey.py` imports nothing of TensorFlow. `session.py` imports it while `os.listdir` returns empty plugin
//! folders, then loads one plugin as TensorFlow does. It writes the name of each stage that it enters to its answer,
//! so that the end of the process is a finding of that stage.

mod answer;
mod file;
pub mod json;
mod session;
mod settings;
mod step;
#[cfg(test)]
mod tests;
pub mod text;

pub use step::{DoctorReport, Step, StepKind, StepVerdict};

use answer::{Mode, SessionResult, SessionStage, Survey};
use miette::Diagnostic;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// The variable that names plugins beside those in site-packages.
const VARIABLE: &str = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH";

/// Devices or kernels by device type.
type ByType = BTreeMap<String, u64>;

/// An error that prevents a diagnosis.
#[derive(Debug, Error, Diagnostic)]
pub enum DoctorError {
    /// There is no such program.
    #[error("cannot run {python}: {source}")]
    #[diagnostic(
        code(sp_gen::doctor::no_python),
        help("name the Python that has TensorFlow: `sp-gen doctor venv/bin/python`")
    )]
    NoPython {
        /// The program.
        python: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The program is not a Python, or a broken one.
    #[error("{python} did not run a Python program: {detail}")]
    #[diagnostic(
        code(sp_gen::doctor::no_answer),
        help("name the Python that has TensorFlow: `sp-gen doctor venv/bin/python`")
    )]
    NoAnswer {
        /// The program.
        python: String,
        /// The end of the process.
        detail: String,
    },
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
    let survey = answer::survey(python, limit)?;
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
    let plugins = plugins(&survey, &mut report);
    let mut working = Vec::new();
    let imports = baseline.counts.stage == SessionStage::Done;
    let mut expected = BTreeSet::new();
    for path in &plugins {
        let loaded = match imports {
            true => Some(run(Mode::Alone(path), &format!("loading {path}"))?),
            false => None,
        };
        let types = diagnose_plugin(path, &survey, &baseline, loaded, &mut report);
        working.extend((!types.is_empty()).then(|| path.clone()));
        expected.extend(types);
    }
    if imports && !plugins.is_empty() {
        let together = run(Mode::Together, "import tensorflow with all plugins")?;
        report.add(session::together(&together, &expected, &working));
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

/// Adds the step of the plugins folders. Returns the files that TensorFlow loads from them.
fn plugins(survey: &Survey, report: &mut DoctorReport) -> Vec<String> {
    report.add(folder_step(survey));
    if !survey.similar.is_empty() {
        let detail = format!("TensorFlow does not read {}", survey.similar.join(", "));
        let advice = "move the libraries to the folder `tensorflow-plugins` in site-packages";
        report.add(Step::unknown(StepKind::Folder, &detail, advice));
    }
    for [first, second] in copies(survey) {
        let detail = format!("{second} is the same plugin as {first}: TensorFlow loads both");
        report.add(Step::failed(
            StepKind::Folder,
            &detail,
            "remove one of them",
        ));
    }
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

/// Returns the pairs of libraries that have the same content, or are one file under two names.
fn copies(survey: &Survey) -> Vec<[String; 2]> {
    let libraries = survey.folders().flat_map(|folder| &folder.files);
    let libraries = libraries.filter(|it| it.is_library);
    let mut by_length: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for library in libraries {
        if let Ok(metadata) = Path::new(&library.path).metadata() {
            let same_length = by_length.entry(metadata.len()).or_default();
            same_length.push(&library.path);
        }
    }
    let mut copies = Vec::new();
    // Only files of one length can be equal; the others are not read.
    for paths in by_length.into_values().filter(|paths| paths.len() > 1) {
        let mut first: BTreeMap<[u8; 32], &str> = BTreeMap::new();
        for path in paths {
            let Ok(hash) = input::sha256(Path::new(path), MAX_LIBRARY_BYTES) else {
                continue;
            };
            match first.get(&hash) {
                Some(known) => copies.push([(*known).to_owned(), path.to_owned()]),
                None => drop(first.insert(hash, path)),
            }
        }
    }
    copies
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
    let named = survey
        .named
        .iter()
        .map(|it| format!("{VARIABLE}={}", it.folder));
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

/// Adds the steps of one plugin. Returns the device types that it listed.
fn diagnose_plugin(
    path: &str,
    survey: &Survey,
    baseline: &SessionResult,
    loaded: Option<SessionResult>,
    report: &mut DoctorReport,
) -> Vec<String> {
    report.begin_plugin(path);
    file::steps(Path::new(path), &survey.machine)
        .into_iter()
        .for_each(|step| report.add(step));
    let Some(loaded) = loaded else {
        let reason = "TensorFlow cannot be imported without plugins either";
        for kind in StepKind::SESSION_STEPS {
            report.add(Step::unknown(kind, reason, ""));
        }
        report.end_plugin();
        return Vec::new();
    };
    let added = session::added(&loaded.counts.devices, &baseline.counts.devices);
    session::steps(&loaded, &added)
        .into_iter()
        .for_each(|step| report.add(step));
    report.end_plugin();
    added.into_keys().collect()
}
