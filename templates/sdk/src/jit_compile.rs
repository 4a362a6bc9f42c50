//! Requests for XLA (`tf.function(jit_compile=True)`) on a device without XLA.
//!
//! The plugin's devices have no XLA compiler, so TensorFlow rejects each function that asks for one. Keras 3 asks by default.
//! With [`JitCompile::Ignore`] the function runs as an ordinary one: in a graph, the optimizer removes the request from the node
//! of the call ([`call`]); in eager mode, where TensorFlow optimizes no graph before it decides, a text in Python runs a copy of
//! the function without the request (`python/functions.py`).
//!
//! `MustCompileWithXLA` of core reads the attribute `_XlaMustCompile` of the call, or else of the function's
//! definition. Layers of TensorFlow's Python that could ignore it, from the author of a program to core:
//!
//! | layer | why not |
//! |---|---|
//! | the argument of `tf.function` | the device is not known there. The request would be lost for the CPU, and functions of a SavedModel have none |
//! | `Function.__call__`, with a second `Function` without the request | concrete functions and those of a SavedModel do not pass. Each function has two sets of traces, of which `experimental_get_tracing_count`, `get_concrete_function` and saving see one. `Function` has changed in most releases |
//! | the tracing of a function, which writes the attribute | traces are not made for each device: one that was made without `tf.device` is also called under `tf.device("CPU")` |
//! | the attribute of the call | `TFE_Py_Execute` rejects an attribute of a function other than `executor_type` and `config_proto` |
//! | `execute(op_name, num_outputs, inputs, attrs, ctx)`, which calls a function by its name | this one is used: all calls in eager mode pass it in each release from 2.5 to 2.23, with the same five parameters. Traces, saved models and the compiler's IR stay as they are |
//!
//! A copy differs from a trace with `jit_compile=False` in what TensorFlow decides while it traces for XLA. Branches
//! and loops lack the attribute that lowers them, so the copy has it. Accumulators of loops have a fixed length, as
//! in the CPU's run of the same program.
//!
//! A compiled function begins when all its arguments are there; the nodes of an inlined one begin when their own
//! inputs are. So each node of the copy that changes a state waits for the arguments: without that, `fit` over a
//! generator of unknown length counted a step too many in 7 of 12 runs. One `NoOp` waits for the arguments, and these
//! nodes wait for it: edges from each argument to each node would be slow.
//!
//! Errors get the original's name back, by which TensorFlow finds the lines of the program. The code objects of the
//! texts have a file name in TensorFlow's folder, so that tracebacks end with the user's line.

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
