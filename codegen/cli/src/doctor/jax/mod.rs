//! Diagnosis of a plugin whose device JAX does not list: each step from the installed JAX to the devices.
//!
//! Data flows as in the diagnosis of TensorFlow: `survey.py` finds JAX and the modules of plugins, `session.py` initializes one of
//! them in a process of its own, and reads the table of its library; `steps` converts its answer.

mod answer;
mod steps;

use super::{DoctorError, DoctorReport, Step, file, program};
use answer::{JaxSession, JaxStage, JaxSurvey};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Diagnoses the plugins that the JAX of `python` loads; `progress` gets the name of each session before it starts, and `limit` is the
/// time that each may take.
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
    progress("looking for JAX and plugins");
    let survey = answer::survey(python, limit)?;
    let mut report = DoctorReport::new(&python.display().to_string());
    report.add(steps::jax(&survey));
    if !report.has_framework() {
        return Ok(report);
    }
    report.add(steps::plugins(&survey));
    let mut working = BTreeMap::new();
    for module in &survey.modules {
        progress(&format!("initializing {module}"));
        let session = answer::session(python, module, limit)?;
        diagnose_module(module, &survey, &session, &mut report);
        if session.counts.stage == JaxStage::Done {
            working.extend(session.counts.devices);
        }
    }
    progress("import jax with all plugins");
    let together = answer::session(python, "", limit)?;
    report.add(steps::together(&survey, &together, &working));
    Ok(report)
}

/// Adds the steps of one module of a plugin.
fn diagnose_module(
    module: &str,
    survey: &JaxSurvey,
    session: &JaxSession,
    report: &mut DoctorReport,
) {
    let mut found = vec![steps::initialize(session)];
    if let Some(library) = &session.counts.library {
        let is_pjrt = sp_pjrt_host::ENTRY_POINT;
        found.extend(file::steps_with(
            Path::new(library),
            &survey.machine,
            is_pjrt,
        ));
    }
    found.extend([steps::load(session), steps::version(survey, session)]);
    found.extend(steps::slots(survey, session));
    found.extend([
        steps::devices(survey, session),
        steps::platform(survey, session),
    ]);
    let found = found.into_iter().map(|step: Step| step.for_plugin(module));
    report.steps.extend(found);
}
