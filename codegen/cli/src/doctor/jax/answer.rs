//! Answers of the two Python programs. The second one runs a plugin's code, so nothing in it is trusted to be printable.

use super::DoctorError;
use crate::doctor::answer::{self, Session, last_lines};
use serde::Deserialize;
use sp_data::demand::PluginTable;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const SURVEY: &str = include_str!("survey.py");
const SESSION: &str = concat!(include_str!("../stages.py"), include_str!("session.py"));

/// A Python, its JAX and the modules of plugins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct JaxSurvey {
    /// Python's version.
    pub python: String,
    /// The machine that it runs on: `x86_64`.
    pub machine: String,
    /// The version of the package `jax`.
    pub jax: Option<String>,
    /// The version of the package `jaxlib`.
    pub jaxlib: Option<String>,
    /// The folders of the namespace package `jax_plugins`.
    pub folders: Vec<String>,
    /// The modules of plugins.
    pub modules: Vec<String>,
    /// The value of `JAX_PLATFORMS`.
    pub platforms: Option<String>,
}

/// The stages of a session, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JaxStage {
    /// Nothing was imported.
    #[default]
    #[serde(rename = "")]
    Start,
    /// `import jax`.
    Import,
    /// The module of the plugin is imported.
    Module,
    /// Its `initialize` runs.
    Initialize,
    /// The dynamic loader loads the library that it registers.
    Load,
    /// `GetPjrtApi` is called and its table is read.
    Table,
    /// JAX registers the plugin, and calls PJRT_Plugin_Initialize.
    Register,
    /// JAX creates a client and lists its devices.
    Devices,
    /// All of it is done.
    Done,
}

/// Facts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct JaxCounts {
    /// The last stage that it entered.
    pub stage: JaxStage,
    /// The exception that ended it.
    pub error: Option<String>,
    /// The name that the plugin registered.
    pub registered: Option<String>,
    /// The path of its library.
    pub library: Option<String>,
    /// Its table.
    pub table: Option<PluginTable>,
    /// Devices by platform.
    pub devices: BTreeMap<String, u64>,
    /// The platform that the first device states.
    #[serde(default)]
    pub platform: Option<String>,
}

/// A session of JAX.
pub type JaxSession = Session<JaxCounts>;

impl JaxSession {
    /// Returns the reason why the session ended in a stage from `first` to `last`, or `None` if it passed them or did not reach them.
    pub fn failure(&self, first: JaxStage, last: JaxStage) -> Option<String> {
        let reached = self.counts.stage;
        let ended = (first..=last).contains(&reached) && reached != JaxStage::Done;
        ended.then(|| match &self.counts.error {
            Some(error) => error.clone(),
            None => format!("{}{}", self.end, last_lines(&self.stderr)),
        })
    }
}

/// Runs the survey.
///
/// # Errors
/// Returns an error if the program does not start, or is not a Python.
pub fn survey(python: &Path, limit: Duration) -> Result<JaxSurvey, DoctorError> {
    answer::parsed(python, &answer::start(python, SURVEY, &[], limit)?)
}

/// Runs a session with the plugin of `module`, or with all of them if it is empty.
///
/// # Errors
/// Returns an error if the program does not start.
pub fn session(python: &Path, module: &str, limit: Duration) -> Result<JaxSession, DoctorError> {
    answer::run_session(python, SESSION, &[module], limit)
}
