//! The steps of a diagnosis and their verdicts.

use serde::Serialize;
use sp_host::escape_control;

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// The step succeeded.
    Ok,
    /// The step failed, so that the device is missing or unusable.
    Failed,
    /// The step could not be checked, or does not decide alone.
    Unknown,
}

/// The steps, in the order in which TensorFlow needs them; then those of JAX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// TensorFlow is installed and can be imported without plugins.
    #[serde(rename = "tensorflow")]
    TensorFlow,
    /// A folder `tensorflow-plugins` exists where TensorFlow looks for it.
    Folder,
    /// The plugin's file is a library that can be read, with a name that TensorFlow loads.
    File,
    /// The file is for this machine.
    Architecture,
    /// The libraries that it needs are found.
    Libraries,
    /// It exports the entry point of a device.
    EntryPoints,
    /// The dynamic loader loads it.
    Load,
    /// TensorFlow registers it, and it accepts the running release.
    Host,
    /// TensorFlow lists its devices.
    Devices,
    /// Kernels are registered for the device's type.
    Kernels,
    /// The settings in force, as the plugin states them.
    Settings,
    /// Ops that have no kernel in this release, as the plugin states them.
    Lacking,
    /// The names of the platform and of the device type are not those of another plugin or of TensorFlow.
    Names,
    /// An import with all plugins lists the same devices.
    Import,
    /// JAX is installed.
    Jax,
    /// Packages name modules of plugins of JAX.
    Plugins,
    /// The module's `initialize` registers a library.
    Initialize,
    /// jaxlib accepts the version of the table.
    Version,
    /// The slots that jaxlib calls without a check are set.
    Slots,
    /// `JAX_PLATFORMS` selects the platform, and its devices state the same name.
    Platform,
}

impl StepKind {
    /// The steps that take a session of TensorFlow with the plugin.
    pub const SESSION_STEPS: [Self; 5] = [
        Self::Load,
        Self::Host,
        Self::Devices,
        Self::Kernels,
        Self::Settings,
    ];

    /// Returns the name of the step in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::TensorFlow => "tensorflow",
            Self::Folder => "folder",
            Self::File => "file",
            Self::Architecture => "architecture",
            Self::Libraries => "libraries",
            Self::EntryPoints => "entry points",
            Self::Load => "load",
            Self::Host => "host",
            Self::Devices => "devices",
            Self::Kernels => "kernels",
            Self::Settings => "settings",
            Self::Lacking => "lacking ops",
            Self::Names => "names",
            Self::Import => "import",
            Self::Jax => "jax",
            Self::Plugins => "plugins",
            Self::Initialize => "initialize",
            Self::Version => "version",
            Self::Slots => "slots",
            Self::Platform => "platform",
        }
    }
}

/// A step with its verdict. Its texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The step.
    pub step: StepKind,
    /// The plugin's file, or `None` for a step of the installation.
    pub plugin: Option<String>,
    /// The outcome.
    pub verdict: StepVerdict,
    /// The observation.
    pub detail: String,
    /// Advice; empty if there is nothing to do.
    pub advice: String,
}

impl Step {
    fn new(step: StepKind, verdict: StepVerdict, detail: &str, advice: &str) -> Self {
        Self {
            step,
            plugin: None,
            verdict,
            detail: escape_control(detail),
            advice: escape_control(advice),
        }
    }

    /// Returns a step that succeeded.
    pub fn ok(step: StepKind, detail: &str) -> Self {
        Self::new(step, StepVerdict::Ok, detail, "")
    }

    /// Returns a step that failed.
    pub fn failed(step: StepKind, detail: &str, advice: &str) -> Self {
        Self::new(step, StepVerdict::Failed, detail, advice)
    }

    /// Returns a step that could not be checked.
    pub fn unknown(step: StepKind, detail: &str, advice: &str) -> Self {
        Self::new(step, StepVerdict::Unknown, detail, advice)
    }

    /// Returns the step as one of the plugin at `path`.
    pub fn for_plugin(mut self, path: &str) -> Self {
        self.plugin = Some(escape_control(path));
        self
    }
}

/// The result of a diagnosis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorReport {
    /// The path of the Python.
    pub python: String,
    /// The steps in order; those of one plugin are together.
    pub steps: Vec<Step>,
}

impl DoctorReport {
    /// Returns a report without steps.
    pub fn new(python: &str) -> Self {
        Self {
            python: escape_control(python),
            steps: Vec::new(),
        }
    }

    /// Adds a step.
    pub fn add(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Returns true if some step failed.
    pub fn has_failed(&self) -> bool {
        self.steps
            .iter()
            .any(|it| it.verdict == StepVerdict::Failed)
    }

    /// Returns true if there is a JAX, or a TensorFlow that can be imported without plugins.
    pub fn has_framework(&self) -> bool {
        let is_framework = |kind| matches!(kind, StepKind::TensorFlow | StepKind::Jax);
        let mut steps = self.steps.iter();
        steps.any(|it| is_framework(it.step) && it.verdict == StepVerdict::Ok)
    }
}
