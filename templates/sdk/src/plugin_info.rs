//! The properties of a plugin as a whole.

use std::ffi::CStr;

use sp_runtime::{HostRequirements, Release, UnknownRelease};

use crate::JitCompile;

/// The properties that [`plugin!`](crate::plugin) states of the plugin.
#[derive(Debug, Clone, Copy)]
pub struct PluginInfo {
    /// The plugin's name in messages: that of its crate.
    pub name: &'static str,
    /// The device type, as in `tf.device` and `list_physical_devices`; it matches `[A-Z][A-Z_]*`.
    pub device_type: &'static CStr,
    /// The platform's name, which TensorFlow prints; it matches `[A-Z][A-Z_]*`.
    pub platform_name: &'static CStr,
    /// The oldest release that the plugin serves.
    pub min_release: Release,
    /// The treatment of a release that is newer than the plugin's sp-abi.
    pub unknown_release: UnknownRelease,
    /// The treatment of a function that asks for XLA.
    pub jit_compile: JitCompile,
}

impl PluginInfo {
    /// Returns the conditions for the decision about the host.
    pub(crate) fn requirements(&self) -> HostRequirements {
        HostRequirements {
            plugin: self.name,
            oldest: self.min_release,
            unknown_release: self.unknown_release,
        }
    }
}
