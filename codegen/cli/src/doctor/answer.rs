//! Answers of the two Python programs. The second one runs a plugin's code, so nothing in it is trusted
//! to be printable.

use super::DoctorError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sp_host::escape_control;
use sp_system::child::{End, Finished, Script, run_script};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const SURVEY: &str = include_str!("survey.py");
const SESSION: &str = concat!(include_str!("stages.py"), include_str!("session.py"));

/// Variables that show the line with which a plugin declines a host.
const VARIABLES: [(&str, &str); 2] = [("SP_LOG", "info"), ("TF_CPP_MIN_LOG_LEVEL", "1")];

/// Maximum length of an answer, in bytes.
const ANSWER_BYTES: u64 = 1 << 22;

/// A Python, its TensorFlow and the plugins that TensorFlow would load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Survey {
    /// Python's version.
    pub python: String,
    /// The machine that it runs on: `x86_64`.
    pub machine: String,
    /// The folder of the package `tensorflow`.
    pub tensorflow: Option<String>,
    /// The installed package and its version.
    pub installed: Option<String>,
    /// The folders that TensorFlow treats as site-packages.
    pub searched: Vec<String>,
    /// True if TensorFlow itself is in one of them; otherwise it loads no plugin.
    pub is_searched: bool,
    /// The folders `tensorflow-plugins` in them.
    pub plugins: Vec<PluginFolder>,
    /// The library or folder of `TF_PLUGGABLE_DEVICE_LIBRARY_PATH`, which TensorFlow loads too.
    pub named: Option<PluginFolder>,
    /// Folders with libraries that look like one for plugins, and that TensorFlow does not read.
    pub similar: Vec<String>,
}

impl Survey {
    /// Returns the folders in site-packages, and what the variable names.
    pub fn folders(&self) -> impl Iterator<Item = &PluginFolder> {
        self.plugins.iter().chain(&self.named)
    }
}

/// A folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PluginFolder {
    /// Its path.
    pub folder: String,
    /// Its entries.
    pub files: Vec<PluginFile>,
    /// The error if it cannot be listed.
    pub error: Option<String>,
}

#[cfg(test)]
impl PluginFolder {
    /// Writes libraries, given as name and text, and returns their folder.
    pub fn new(folder: &Path, libraries: &[(&str, &str)]) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let write = |(name, text): &(&str, &str)| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            PluginFile {
                path: path.display().to_string(),
                is_library: true,
            }
        };
        Self {
            folder: folder.display().to_string(),
            files: libraries.iter().map(write).collect(),
            error: None,
        }
    }
}

/// A file in a folder of plugins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PluginFile {
    /// Its path.
    pub path: String,
    /// True if TensorFlow loads a file of this name.
    pub is_library: bool,
}

/// The plugins of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode<'a> {
    /// None.
    Without,
    /// One.
    Alone(&'a str),
    /// Those that `import tensorflow` finds.
    Together,
}

/// The stages of a session, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStage {
    /// Nothing was imported.
    #[default]
    #[serde(rename = "")]
    Start,
    /// `import tensorflow`.
    Import,
    /// The dynamic loader loads the plugin.
    Load,
    /// TensorFlow calls the plugin's entry points.
    Register,
    /// The devices are listed.
    Devices,
    /// The kernels are counted.
    Kernels,
    /// The plugin's settings are read.
    Settings,
    /// With several types of devices, a graph is optimized.
    Optimize,
    /// All of it is done.
    Done,
}

/// Counts of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Counts {
    /// The last stage that it entered.
    pub stage: SessionStage,
    /// The exception that ended it.
    pub error: Option<String>,
    /// TensorFlow's version.
    pub release: Option<String>,
    /// Physical devices by type.
    pub devices: BTreeMap<String, u64>,
    /// Registered kernels by device type.
    pub kernels: BTreeMap<String, u64>,
    /// The text of the plugin's settings, if it exports the function.
    pub settings: Option<String>,
    /// `PLATFORM DEVICE_TYPE`, the names that the plugin has registered, if it exports the function.
    pub names: Option<String>,
}

impl Counts {
    /// Returns the name of the plugin's platform, if the plugin states it.
    pub fn platform_name(&self) -> Option<&str> {
        Some(self.names.as_deref()?.split_once(' ')?.0)
    }
}

/// A session of TensorFlow.
pub type SessionResult = Session<Counts>;

/// A session: its counts, the end of its process and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session<C> {
    /// The counts.
    pub counts: C,
    /// The end of its process.
    pub end: End,
    /// Its stderr.
    pub stderr: String,
}

impl SessionResult {
    /// Returns the reason why the session ended in `stage`, or `None` if it passed it or did not reach it.
    pub fn failure(&self, stage: SessionStage) -> Option<String> {
        if self.counts.stage != stage || stage == SessionStage::Done {
            return None;
        }
        Some(match &self.counts.error {
            Some(error) => error.clone(),
            None => format!("{}{}", self.end, self.last_lines()),
        })
    }

    /// Returns the reason why the session ended in `last` or an earlier stage, or `None` if it passed them.
    pub fn failure_up_to(&self, last: SessionStage) -> Option<String> {
        let reached = self.counts.stage;
        (reached <= last).then(|| self.failure(reached)).flatten()
    }

    /// Returns the lines on stderr that begin as those of a plugin.
    pub fn plugin_lines(&self) -> impl Iterator<Item = &str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("plugin ") || line.starts_with("plugin:"))
    }

    /// Returns the fatal messages since the plugin was loaded, or else the last lines. If it was not loaded, takes
    /// those of the last stage.
    pub fn last_lines(&self) -> String {
        let marker = |stage: &str| self.stderr.rfind(&format!("{MARKER}{stage}"));
        let start = marker("load").or_else(|| marker("")).unwrap_or(0);
        last_lines(&self.stderr[start..])
    }
}

/// Name that `stages.py` prints at the beginning of each stage.
const MARKER: &str = "sp-gen doctor: stage ";

/// Returns the end of an output, for a process that did not state why it ended.
pub fn last_lines(output: &str) -> String {
    const SHOWN: usize = 3;
    let is_informative = |line: &&str| {
        let is_stack = line.trim_start().starts_with("@ ");
        let is_notice = line.starts_with("WARNING: All log messages before absl");
        !(line.trim().is_empty() || line.starts_with(MARKER) || is_stack || is_notice)
    };
    let lines: Vec<&str> = output.lines().filter(is_informative).collect();
    let is_fatal = |line: &&&str| {
        line.starts_with("F0") || line.contains(": F ") || line.contains(" F tensorflow/")
    };
    let fatal: Vec<&str> = lines.iter().filter(is_fatal).copied().collect();
    let chosen = if fatal.is_empty() { lines } else { fatal };
    let last = chosen[chosen.len().saturating_sub(SHOWN)..].join("\n");
    match last.is_empty() {
        true => String::new(),
        false => format!("; its last lines: {last}"),
    }
}

/// Runs the survey.
///
/// # Errors
/// Returns an error if the program does not start, or is not a Python.
pub fn survey(python: &Path, limit: Duration) -> Result<Survey, DoctorError> {
    parsed(python, &start(python, SURVEY, &[], limit)?)
}

/// Parses the answer of a survey.
///
/// # Errors
/// Returns an error if there is none: the program is not a Python.
pub fn parsed<T: DeserializeOwned>(python: &Path, finished: &Finished) -> Result<T, DoctorError> {
    match finished.answer.as_deref().map(serde_json::from_slice) {
        Ok(Ok(answer)) => Ok(answer),
        _ => Err(DoctorError::NoAnswer {
            python: escape_control(&python.display().to_string()),
            detail: escape_control(&format!("{}{}", finished.end, last_lines(&finished.stderr))),
        }),
    }
}

/// Runs a session.
///
/// # Errors
/// Returns an error if the program does not start.
pub fn session(
    python: &Path,
    mode: Mode<'_>,
    limit: Duration,
) -> Result<SessionResult, DoctorError> {
    let arguments = match mode {
        Mode::Without => ["without", ""],
        Mode::Alone(plugin) => ["alone", plugin],
        Mode::Together => ["together", ""],
    };
    run_session(python, SESSION, &arguments, limit)
}

/// Runs the program of a session.
///
/// # Errors
/// Returns an error if it does not start.
pub fn run_session<C: DeserializeOwned + Default>(
    python: &Path,
    script: &str,
    arguments: &[&str],
    limit: Duration,
) -> Result<Session<C>, DoctorError> {
    let finished = start(python, script, arguments, limit)?;
    let parsed = finished.answer.as_deref().map(serde_json::from_slice);
    Ok(Session {
        counts: parsed.ok().and_then(Result::ok).unwrap_or_default(),
        end: finished.end,
        stderr: finished.stderr,
    })
}

/// Runs a program of Python.
///
/// # Errors
/// Returns an error if it does not start.
pub fn start(
    python: &Path,
    script: &str,
    arguments: &[&str],
    time: Duration,
) -> Result<Finished, DoctorError> {
    let script = Script {
        source: script,
        arguments,
        variables: &VARIABLES,
        time,
        answer_bytes: ANSWER_BYTES,
    };
    run_script(python, &script).map_err(|source| DoctorError::NoPython {
        python: escape_control(&python.display().to_string()),
        source,
    })
}
