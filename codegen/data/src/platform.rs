//! The platforms whose wheels are read, identified by the wheels' tags.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A platform that TensorFlow has wheels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WheelPlatform {
    /// Linux on x86-64; every release has a wheel for it.
    #[serde(rename = "x86_64-unknown-linux-gnu")]
    LinuxX86_64,
    /// Linux on 64-bit ARM.
    #[serde(rename = "aarch64-unknown-linux-gnu")]
    LinuxAarch64,
    /// macOS on 64-bit ARM.
    #[serde(rename = "aarch64-apple-darwin")]
    MacosArm64,
}

impl WheelPlatform {
    /// All platforms.
    pub const ALL: [Self; 3] = [Self::LinuxX86_64, Self::LinuxAarch64, Self::MacosArm64];

    /// Returns the platform of a wheel's tag, such as `manylinux_2_17_x86_64.manylinux2014_x86_64`, or `None` if no
    /// release is read for it.
    pub fn from_wheel_tag(tag: &str) -> Option<Self> {
        let linux = tag.contains("manylinux");
        match () {
            () if linux && tag.ends_with("_x86_64") => Some(Self::LinuxX86_64),
            () if linux && tag.ends_with("_aarch64") => Some(Self::LinuxAarch64),
            () if tag.starts_with("macosx_") && tag.ends_with("_arm64") => Some(Self::MacosArm64),
            () => None,
        }
    }

    /// Returns the target triple, as compilers spell it.
    pub fn triple(self) -> &'static str {
        match self {
            Self::LinuxX86_64 => "x86_64-unknown-linux-gnu",
            Self::LinuxAarch64 => "aarch64-unknown-linux-gnu",
            Self::MacosArm64 => "aarch64-apple-darwin",
        }
    }
}

impl fmt::Display for WheelPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_platform_from_wheel_tag() {
        for (tag, platform) in [
            ("manylinux2010_x86_64", Some(WheelPlatform::LinuxX86_64)),
            (
                "manylinux_2_17_x86_64.manylinux2014_x86_64",
                Some(WheelPlatform::LinuxX86_64),
            ),
            ("manylinux_2_27_aarch64", Some(WheelPlatform::LinuxAarch64)),
            ("macosx_12_0_arm64", Some(WheelPlatform::MacosArm64)),
            ("macosx_10_15_x86_64", None),
            ("win_amd64", None),
        ] {
            assert_eq!(WheelPlatform::from_wheel_tag(tag), platform, "{tag}");
        }
    }
}
