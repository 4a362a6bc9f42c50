//! The environment variables that select the reference device's memory and streams.

use std::env;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

/// The settings of the reference device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The number of devices: `SP_CPU_DEVICES`.
    pub devices: usize,
    /// True if the host cannot address device memory: `SP_CPU_MEMORY=opaque`.
    pub is_opaque: bool,
    /// True if each stream has a thread: `SP_CPU_STREAMS=async`.
    pub is_async: bool,
    /// The longest pause of such a thread before a command: `SP_CPU_JITTER`, in microseconds.
    pub jitter: Duration,
    /// The number of the copy, fill or kernel that fails, counted from 1: `SP_CPU_FAIL`.
    pub failing_command: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            is_opaque: false,
            is_async: false,
            jitter: Duration::ZERO,
            failing_command: None,
        }
    }
}

impl Settings {
    /// Returns the settings of the environment, which is read once.
    pub fn from_env() -> Self {
        static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
            Settings::from_variables(|name| env::var_os(name).map(|it| it.display().to_string()))
        });
        *SETTINGS
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let default = Self::default();
        let choice = |name, values: [&'static str; 2]| {
            let position = |text: &str| values.iter().position(|it| *it == text);
            let index = read(
                variable(name),
                name,
                &values.join(" or "),
                values[0],
                position,
            );
            index == Some(1)
        };
        let number = |name, default: &dyn Display, expected| {
            let parse = |text: &str| u64::from_str(text).ok();
            read(variable(name), name, expected, default, parse)
        };
        let devices = |text: &str| text.parse().ok().filter(|it| (1..=64).contains(it));
        let name = "SP_CPU_DEVICES";
        Self {
            devices: read(variable(name), name, "1 to 64", 1, devices).unwrap_or(default.devices),
            is_opaque: choice("SP_CPU_MEMORY", ["host", "opaque"]),
            is_async: choice("SP_CPU_STREAMS", ["inline", "async"]),
            jitter: number("SP_CPU_JITTER", &0, "microseconds")
                .map_or(default.jitter, Duration::from_micros),
            failing_command: number("SP_CPU_FAIL", &"none", "the number of a command"),
        }
    }

    /// Returns true if the device needs no queues.
    pub fn is_inline_on_host(&self) -> bool {
        !self.is_opaque && !self.is_async && self.failing_command.is_none()
    }
}

/// Parses a variable. An invalid value is one line, and `None`.
fn read<T>(
    value: Option<String>,
    name: &str,
    expected: &str,
    default: impl Display,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let value = value?;
    let parsed = parse(&value);
    if parsed.is_none() {
        sp_runtime::report!(
            Warn,
            "{name}={value} is invalid: expected {expected}; {default} is used"
        );
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        Settings::from_variables(|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_select_memory_streams_and_devices() {
        let found = settings(&[
            ("SP_CPU_MEMORY", "opaque"),
            ("SP_CPU_STREAMS", "async"),
            ("SP_CPU_DEVICES", "2"),
            ("SP_CPU_JITTER", "150"),
        ]);
        assert!(found.is_opaque && found.is_async && !found.is_inline_on_host());
        assert_eq!((found.devices, found.jitter.as_micros()), (2, 150));
        assert!(settings(&[("SP_CPU_MEMORY", "host")]).is_inline_on_host());
    }

    #[test]
    fn invalid_values_are_the_defaults() {
        for (name, value) in [
            ("SP_CPU_MEMORY", "gpu"),
            ("SP_CPU_STREAMS", ""),
            ("SP_CPU_DEVICES", "0"),
            ("SP_CPU_JITTER", "-1"),
            ("SP_CPU_FAIL", "first"),
        ] {
            assert_eq!(settings(&[(name, value)]), Settings::default(), "{name}");
        }
    }
}
