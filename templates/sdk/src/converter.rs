//! TensorFlow's converter to LiteRT (TensorFlow Lite), which sees no device of the plugin.
//!
//! The converter creates a session and reads the memory of its variables from the host, on any device but one of type `GPU`, of which
//! its session has none. On a device whose memory the host cannot access this ended the process in 2.12, 2.18, 2.21 and 2.22.

/// The modules that call the converter: in 2.12 and 2.16, from 2.18 on, and one that runs as a program of its own.
const CALLERS: [&str; 3] = [
    "tensorflow.lite.python.wrap_toco",
    "tensorflow.compiler.mlir.lite.python.wrap_converter",
    "tensorflow.lite.toco.python.toco_from_protos",
];

/// Returns true if the converter has called in this thread. Python creates other sessions in other modules.
pub(crate) fn is_running() -> bool {
    let module = sp_runtime::python::calling_module();
    module.is_some_and(|it| CALLERS.contains(&it.as_str()))
}
