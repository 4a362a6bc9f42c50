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
    /// The release whose measured demand judges a plugin: this one, or a similar one if this one was not measured.
    pub measured: &'static str,
}

impl PjrtHost {
    /// Returns the host of `name`, such as `jaxlib:0.10`, or `None` if there is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.to_string() == name)
    }

    /// Returns the host of a release of a framework, such as `jaxlib` and `0.10.2`.
    pub fn of_release(framework: &str, release: &str) -> Option<&'static Self> {
        let is_release = |host: &&Self| {
            let rest = release.strip_prefix(host.release);
            host.framework == framework
                && rest.is_some_and(|it| it.is_empty() || it.starts_with('.'))
        };
        HOSTS.iter().find(is_release)
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

macro_rules! hosts {
    ($($framework:ident $release:literal: $minor:literal, $layouts:literal, $measured:literal;)*) => {
        /// Every known host, by framework, the oldest first. jaxlib 0.6 and later log their minor version when they load a plugin
        /// (`The framework PJRT API version is 0.112`); for 0.4 and 0.5 it is that of jax-cuda12-pjrt of the same release. TensorFlow's
        /// wheels have the header.
        pub const HOSTS: &[PjrtHost] = &[$(PjrtHost {
            framework: stringify!($framework),
            release: $release,
            minor: $minor,
            layouts: $layouts,
            measured: $measured,
        },)*];
    };
}

hosts! {
    jaxlib "0.4": 58, "2.18", "0.4";
    jaxlib "0.5": 67, "2.19", "0.5";
    jaxlib "0.6": 70, "2.19", "0.6";
    jaxlib "0.7": 76, "2.20", "0.7";
    jaxlib "0.8": 85, "2.20", "0.8";
    jaxlib "0.9": 100, "2.21", "0.9";
    jaxlib "0.10": 112, "2.21", "0.10";
    jaxlib "0.11": 115, "2.22", "0.11";
    jaxlib "0.12": 116, "2.22", "0.12";
    tensorflow "2.16": 40, "2.16", "2.16";
    tensorflow "2.17": 54, "2.17", "2.18";
    tensorflow "2.18": 54, "2.18", "2.18";
    tensorflow "2.19": 67, "2.19", "2.20";
    tensorflow "2.20": 72, "2.20", "2.20";
    tensorflow "2.21": 90, "2.21", "2.21";
    tensorflow "2.22": 115, "2.22", "2.22";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_host_by_name_and_newest_of_each_framework() {
        let host = PjrtHost::find("jaxlib:0.10").unwrap();
        assert_eq!((host.framework, host.minor), ("jaxlib", 112));
        assert_eq!(PjrtHost::find("jaxlib:0.1"), None);
        assert_eq!(PjrtHost::of_release("jaxlib", "0.10.2"), Some(host));
        assert_eq!(PjrtHost::of_release("jaxlib", "0.1.2"), None);
        let newest: Vec<String> = PjrtHost::newest().iter().map(ToString::to_string).collect();
        assert_eq!(newest, ["jaxlib:0.12", "tensorflow:2.22"]);
    }
}
