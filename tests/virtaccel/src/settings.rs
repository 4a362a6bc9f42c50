//! The settings from the environment, read once.

use std::env;
use std::sync::OnceLock;

use crate::abi::VERSION;

/// The settings of this process.
pub struct Settings {
    /// Number of devices.
    pub devices: u32,
    /// Bytes of each device.
    pub memory: u64,
    /// The version that the driver claims.
    pub version: u32,
    /// Seed of the random delays.
    pub seed: u64,
}

impl Settings {
    /// Returns the settings. A value that does not parse is ignored.
    pub fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self {
            devices: number("DEVICES").map_or(2, |devices| devices.min(64) as u32),
            memory: number("MEMORY").unwrap_or(1 << 30),
            version: text("VERSION")
                .and_then(|text| parse_version(&text))
                .unwrap_or(VERSION),
            seed: number("SEED").unwrap_or(1),
        })
    }
}

/// Returns the number in `VIRTACCEL_name`, or `None` if it is not set to one.
pub fn number(name: &str) -> Option<u64> {
    text(name)?.parse().ok()
}

fn text(name: &str) -> Option<String> {
    env::var(format!("VIRTACCEL_{name}")).ok()
}

fn parse_version(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once('.')?;
    let major: u16 = major.parse().ok()?;
    let minor: u16 = minor.parse().ok()?;
    Some(u32::from(major) << 16 | u32::from(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_has_16_bits_for_each_part() {
        assert_eq!(parse_version("1.3"), Some(VERSION));
        assert_eq!(parse_version("1"), None);
        assert_eq!(parse_version("70000.0"), None);
    }
}
