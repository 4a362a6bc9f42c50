//! The names of the planes of devices.

use std::ffi::CStr;
use std::sync::OnceLock;

/// The form of the names of planes of devices. A name decides which of TensorBoard's tools read the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DevicePlane {
    /// `/device:GPU:N`, whatever the device type is: all tools read it. In a process that also profiles a GPU of TensorFlow's own
    /// both are in the profile under one name.
    #[default]
    Gpu,
    /// `/device:CUSTOM:TYPE:N`: the trace viewer reads it.
    Custom,
}

/// The device type of the plugin.
static DEVICE_TYPE: OnceLock<&'static CStr> = OnceLock::new();

/// Stores the device type of the plugin, which is registered once.
pub(super) fn set_device_type(device_type: &'static CStr) {
    let _ = DEVICE_TYPE.set(device_type);
}

/// Returns the device type of the plugin.
pub(super) fn device_type() -> &'static str {
    let name = DEVICE_TYPE.get().and_then(|it| it.to_str().ok());
    name.unwrap_or("DEVICE")
}

impl DevicePlane {
    /// Returns the name of a device's plane.
    pub(super) fn name(self, ordinal: u32) -> String {
        match self {
            Self::Gpu => format!("/device:GPU:{ordinal}"),
            Self::Custom => format!("/device:CUSTOM:{}:{ordinal}", device_type()),
        }
    }
}
