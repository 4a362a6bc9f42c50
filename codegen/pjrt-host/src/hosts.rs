//! The hosts that can be emulated. This table is all that distinguishes them.

use std::fmt;

use sp_ir::Api;

/// A release of a framework that loads PJRT plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PjrtHost {
    /// The framework: `jaxlib` or `tensorflow`.
    pub framework: &'static str,
    /// The release.
    pub release: &'static str,
    /// The minor version of the header that the host was built with. It sets the sizes of the structs that the host passes.
    pub minor: u32,
    /// The release of TensorFlow whose header has the layouts: that of the minor version, or the newest one before it.
    pub layouts: &'static str,
    /// The oldest minor version of a plugin that the host accepts.
    pub oldest_minor: u32,
}

impl PjrtHost {
    /// Returns the host of `name`, such as `jaxlib:0.10`, or `None` if there is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.to_string() == name)
    }

    /// Returns the newest host of each framework.
    pub fn newest() -> Vec<&'static Self> {
        let is_last = |at: usize| {
            let later = &HOSTS[at + 1..];
            later.iter().all(|it| it.framework != HOSTS[at].framework)
        };
        let places = (0..HOSTS.len()).filter(|at| is_last(*at));
        places.map(|at| &HOSTS[at]).collect()
    }
}

impl fmt::Display for PjrtHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.framework, self.release)
    }
}

/// Returns the minor version that a snapshot describes.
pub(crate) fn minor(api: &Api) -> Option<u32> {
    let version = api.version.as_deref()?;
    version.split('.').nth(1)?.parse().ok()
}

/// The functions without which a host cannot list devices and copy arrays. A null slot ends its process.
pub(crate) const REQUIRED: &[&str] = &[
    "Error_Destroy",
    "Error_Message",
    "Error_GetCode",
    "Plugin_Initialize",
    "Plugin_Attributes",
    "Event_Destroy",
    "Event_IsReady",
    "Event_Error",
    "Event_Await",
    "Event_OnReady",
    "Client_Create",
    "Client_Destroy",
    "Client_PlatformName",
    "Client_ProcessIndex",
    "Client_PlatformVersion",
    "Client_Devices",
    "Client_AddressableDevices",
    "Client_LookupDevice",
    "Client_AddressableMemories",
    "Client_BufferFromHostBuffer",
    "DeviceDescription_Id",
    "DeviceDescription_ProcessIndex",
    "DeviceDescription_Attributes",
    "DeviceDescription_Kind",
    "DeviceDescription_DebugString",
    "DeviceDescription_ToString",
    "Device_GetDescription",
    "Device_IsAddressable",
    "Device_LocalHardwareId",
    "Device_AddressableMemories",
    "Device_DefaultMemory",
    "Memory_Id",
    "Memory_Kind",
    "Memory_DebugString",
    "Memory_ToString",
    "Memory_AddressableByDevices",
    "Buffer_Destroy",
    "Buffer_ElementType",
    "Buffer_Dimensions",
    "Buffer_Device",
    "Buffer_Memory",
    "Buffer_Delete",
    "Buffer_IsDeleted",
    "Buffer_ToHostBuffer",
    "Buffer_ReadyEvent",
];

macro_rules! hosts {
    ($($framework:ident $release:literal: $minor:literal, $layouts:literal, $oldest:literal;)*) => {
        /// Every known host, by framework, the oldest first. A jaxlib logs its minor version when it
        /// loads a plugin (`The framework PJRT API version is 0.112`), and names the oldest one when it declines a plugin of 0.1. TensorFlow's
        /// wheels have the header.
        pub const HOSTS: &[PjrtHost] = &[$(PjrtHost {
            framework: stringify!($framework),
            release: $release,
            minor: $minor,
            layouts: $layouts,
            oldest_minor: $oldest,
        },)*];
    };
}

hosts! {
    jaxlib "0.4": 58, "2.18", 29;
    jaxlib "0.5": 67, "2.19", 29;
    jaxlib "0.6": 70, "2.19", 29;
    jaxlib "0.7": 76, "2.20", 29;
    jaxlib "0.8": 85, "2.20", 29;
    jaxlib "0.9": 100, "2.21", 29;
    jaxlib "0.10": 112, "2.21", 29;
    jaxlib "0.11": 115, "2.22", 29;
    jaxlib "0.12": 116, "2.22", 29;
    tensorflow "2.16": 40, "2.16", 29;
    tensorflow "2.17": 54, "2.17", 29;
    tensorflow "2.18": 54, "2.18", 29;
    tensorflow "2.19": 67, "2.19", 29;
    tensorflow "2.20": 72, "2.20", 29;
    tensorflow "2.21": 90, "2.21", 29;
    tensorflow "2.22": 115, "2.22", 29;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_host_by_name_and_newest_of_each_framework() {
        let host = PjrtHost::find("jaxlib:0.10").unwrap();
        assert_eq!((host.framework, host.minor), ("jaxlib", 112));
        assert_eq!(PjrtHost::find("jaxlib:0.1"), None);
        let newest: Vec<String> = PjrtHost::newest().iter().map(ToString::to_string).collect();
        assert_eq!(newest, ["jaxlib:0.12", "tensorflow:2.22"]);
    }
}
