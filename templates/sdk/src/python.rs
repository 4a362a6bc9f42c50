//! Changes to the Python of a process that loads the library.
//!
//! TensorFlow decides some things in eager mode that no function of the C API reaches. Fixed texts in Python, run once when
//! TensorFlow loads the library, change them for calls on the plugin's device type; `placement.py` changes the placement of some ops
//! in the whole process, `collectives.py` how collective ops communicate, `references.py` when a variable of TensorFlow 1 is read.
//! Without a Python, as in TensorFlow Serving, nothing runs. If a text fails, TensorFlow continues as without it, and a line of level debug states the reason.
//!
//! Each text is a file of its own, since no tool checks a string in Rust. It runs in a namespace of its own. The
//! table of ops that are replaced exists once, in `variable_update` of sp-graph: in eager mode such an op runs as a
//! function of one op, which the graph optimizer changes. Sums are three ops, since each step of a training loop has
//! some.
//!
//! No kernel or priority of a plugin changes the placement of an op that core can run on a device, so `placement.py`
//! does. What uses the results follows their device.

use std::ffi::{CStr, CString};

use sp_runtime::python::Text;

use crate::JitCompile;
use crate::kernel::{self, REJECTION_MESSAGE};
use crate::plugin_info::PluginInfo;
use crate::settings;
use sp_graph::variable_update;

macro_rules! text {
    ($($name:literal),*) => {
        // The compiler rejects a text with a NUL.
        const {
            let text = concat!($(include_str!(concat!("python/", $name)),)* "\0");
            match CStr::from_bytes_with_nul(text.as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("a text contains a NUL"),
            }
        }
    };
}

/// Lets functions run that ask for XLA, and optimizes small functions with ops of variables.
const FUNCTIONS: &CStr = text!("functions.py", "install.py");

/// Replaces ops of variables.
const UPDATES: &CStr = text!("updates.py", "install.py");

/// Places ops on the CPU that core would place on a device of type GPU.
const PLACEMENT: &CStr = text!("placement.py", "install.py");

/// Lets collective ops of devices of type GPU communicate in rings, where TensorFlow would use NCCL.
const COLLECTIVES: &CStr = text!("collectives.py", "install.py");

/// Makes reads of TensorFlow 1's variables wait for control dependencies.
const REFERENCES: &CStr = text!("references.py", "install.py");

/// Copies tensors to the CPU for libraries that read them through DLPack.
const DLPACK: &CStr = text!("dlpack.py", "install.py");

/// Runs the texts that apply to the plugin in this process.
pub(crate) fn install(info: &PluginInfo) {
    let jit_compile = JitCompile::in_force(info);
    let replaced_ops = replaced_ops();
    let is_cuda_build = sp_runtime::host::is_cuda_build() == Some(true);
    let cuda_build = if is_cuda_build { c"1" } else { c"" };
    let file_name = CString::new(format!("<plugin {}>", info.name)).unwrap_or_default();
    let constants = [
        (c"DEVICE_TYPE", info.device_type),
        (c"JIT_COMPILE", jit_compile.name()),
        (c"REPLACED_OPS", &*replaced_ops),
        (c"REJECTED", REJECTION_MESSAGE),
        (c"CUDA_BUILD", cuda_build),
    ];
    let run = |key, is_needed, source| {
        let text = Text {
            source,
            file_name: &file_name,
            constants: &constants,
        };
        let outcome = if is_needed {
            outcome(&text)
        } else {
            "not needed".into()
        };
        settings::set(key, &outcome);
        sp_runtime::report!(Debug, "{key}: {outcome}");
    };
    settings::set("jit_compile", &jit_compile.name().to_string_lossy());
    let has_updates = !replaced_ops.is_empty();
    run(
        "python_functions",
        jit_compile == JitCompile::Ignore || has_updates,
        FUNCTIONS,
    );
    run("python_updates", has_updates, UPDATES);
    let is_gpu = info.device_type == c"GPU";
    run("python_placement", is_gpu, PLACEMENT);
    run("python_collectives", is_gpu && is_cuda_build, COLLECTIVES);
    run("python_references", true, REFERENCES);
    run("python_dlpack", true, DLPACK);
}

/// Returns the ops of variables that the optimizer replaces in this host, separated by spaces.
fn replaced_ops() -> CString {
    if kernel::has_functions_of_variables() {
        return CString::default();
    }
    let names: Vec<_> = variable_update::names().collect();
    CString::new(names.join(" ")).unwrap_or_default()
}

/// Runs a text, and returns its outcome.
fn outcome(text: &Text<'_>) -> String {
    // SAFETY: the texts use no memory by its address. TensorFlow's thread holds no lock here that a thread in Python waits for:
    // the texts run while it loads the library, before there is a device.
    let outcome = unsafe { text.run() };
    outcome.unwrap_or_else(|error| format!("not installed: {error}"))
}
