//! Requests for XLA (`tf.function(jit_compile=True)`) on a device without XLA.
//!
//! The plugin's devices have no XLA compiler, so TensorFlow rejects each function that asks for one. Keras 3 asks by default.
//! With [`JitCompile::Ignore`] the function runs as an ordinary one: in a graph, the optimizer removes the request from the node
//! of the call ([`call`]); in eager mode, where TensorFlow optimizes no graph before it decides, a text in Python runs a copy of
//! the function without the request (`python/functions.py`).

pub(crate) mod call; // since 2.6

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use crate::plugin_info::PluginInfo;

/// The choice of an author, in [`plugin!`](crate::plugin), or of a user, by `SP_JIT_COMPILE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JitCompile {
    /// A function that asks for XLA runs as an ordinary function.
    #[default]
    Ignore,
    /// A function that asks for XLA is an error, as without this setting.
    Error,
}

const VARIABLE: &str = "SP_JIT_COMPILE";

impl JitCompile {
    /// Returns the setting of the process: the user's, or else the author's. An invalid value is one warning.
    pub(crate) fn in_force(info: &PluginInfo) -> Self {
        // The same library can be registered with several test hosts, with one environment.
        static USER: OnceLock<Option<JitCompile>> = OnceLock::new();
        let user = USER.get_or_init(|| {
            let value = std::env::var_os(VARIABLE)?;
            let found = Self::parse(&value);
            if found.is_none() {
                let (value, default) = (value.display(), info.jit_compile.name().to_string_lossy());
                sp_runtime::report!(
                    Warn,
                    "{VARIABLE}={value} is invalid: expected ignore or error; {default} is used"
                );
            }
            found
        });
        user.unwrap_or(info.jit_compile)
    }

    /// Returns the name in `SP_JIT_COMPILE`.
    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            Self::Ignore => c"ignore",
            Self::Error => c"error",
        }
    }

    fn parse(value: &OsStr) -> Option<Self> {
        let mut all = [Self::Ignore, Self::Error].into_iter();
        all.find(|it| value.as_bytes() == it.name().to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_only() {
        let parse = |value: &str| JitCompile::parse(OsStr::new(value));
        assert_eq!(parse("ignore"), Some(JitCompile::Ignore));
        assert_eq!(parse("error"), Some(JitCompile::Error));
        assert_eq!(parse("Ignore"), None);
        assert_eq!(parse(""), None);
    }
}
