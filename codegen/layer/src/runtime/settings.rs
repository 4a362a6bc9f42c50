//! The settings of the layer, which the command passes as environment variables.

use std::env;
use std::sync::OnceLock;

/// The environment variables.
pub mod variable {
    /// Path of the record files; each process appends its number.
    pub const RECORDS: &str = "SP_LAYER_RECORDS";
    /// `1` writes each record to stderr as text when the call returns.
    pub const LIVE: &str = "SP_LAYER_LIVE";
    /// The filter of the trace.
    pub const FILTER: &str = "SP_LAYER_FILTER";
    /// `1` checks calls.
    pub const VALIDATE: &str = "SP_LAYER_VALIDATE";
    /// `1` places the host memory of copies between inaccessible pages.
    pub const GUARD: &str = "SP_LAYER_GUARD";
    /// Path of the captures; each process appends its number.
    pub const CAPTURE: &str = "SP_LAYER_CAPTURE";
    /// The most bytes of a capture.
    pub const CAPTURE_LIMIT: &str = "SP_LAYER_CAPTURE_LIMIT";
    /// Path of the file to which findings are appended.
    pub const FINDINGS: &str = "SP_LAYER_FINDINGS";
    /// The plugin, by its path or file name; every plugin if it is absent.
    pub const PLUGIN: &str = "SP_LAYER_PLUGIN";
}

/// The settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Path of the record files, if calls are recorded to files.
    pub records: Option<String>,
    /// True if each record is written to stderr.
    pub is_live: bool,
    /// The filter of the trace.
    pub filter: String,
    /// True if calls are checked.
    pub validates: bool,
    /// True if the host memory of copies is guarded.
    pub guards: bool,
    /// Path of the captures, if kernels are captured.
    pub capture: Option<String>,
    /// The most bytes of a capture, without the records at its end, if they are limited.
    pub capture_limit: Option<u64>,
    /// Path of the file of findings.
    pub findings: Option<String>,
    /// The plugin.
    pub plugin: Option<String>,
}

impl Settings {
    /// Reads the environment.
    pub fn read() -> Self {
        let text = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
        Self {
            records: text(variable::RECORDS),
            is_live: text(variable::LIVE).is_some(),
            filter: text(variable::FILTER).unwrap_or_default(),
            validates: text(variable::VALIDATE).is_some(),
            guards: text(variable::GUARD).is_some(),
            capture: text(variable::CAPTURE),
            capture_limit: text(variable::CAPTURE_LIMIT).and_then(|it| it.parse().ok()),
            findings: text(variable::FINDINGS),
            plugin: text(variable::PLUGIN),
        }
    }

    /// Returns true if calls are recorded.
    pub fn traces(&self) -> bool {
        self.is_live || self.records.is_some()
    }

    /// Returns true if calls are recorded, checked or captured.
    pub fn is_active(&self) -> bool {
        self.traces() || self.validates || self.capture.is_some()
    }

    /// Returns true if the plugin in the file `path` is shown or checked.
    pub fn includes_plugin(&self, path: &str) -> bool {
        let file_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_same = |plugin: &String| match plugin.contains('/') {
            true => is_same_file(plugin, path),
            false => *plugin == file_name(path),
        };
        self.plugin.as_ref().is_none_or(is_same)
    }
}

fn is_same_file(one: &str, other: &str) -> bool {
    let resolved = |path: &str| std::fs::canonicalize(path).ok();
    one == other || resolved(one).is_some_and(|one| Some(one) == resolved(other))
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Returns the settings, which are read at the first use.
pub fn settings() -> &'static Settings {
    SETTINGS.get_or_init(Settings::read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_named_by_path_or_file_name() {
        let with = |plugin: &str| Settings {
            plugin: Some(plugin.into()),
            ..Settings::default()
        };
        assert!(with("libx.so").includes_plugin("/lib/libx.so"));
        assert!(!with("libx.so").includes_plugin("/lib/liby.so"));
        assert!(with("/lib/libx.so").includes_plugin("/lib/libx.so"));
        assert!(!with("/other/libx.so").includes_plugin("/lib/libx.so"));
        assert!(Settings::default().includes_plugin("/lib/libx.so"));
    }
}
