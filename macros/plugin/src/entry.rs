//! The bodies of entry points that need several modules.

use sp_runtime::guard;

use crate::Device;
use crate::kernel::{self, Kernel};
use crate::plugin_info::PluginInfo;
use crate::python; // since 2.6

/// The body of `TF_InitKernel`: registers the kernels of all tables, those of earlier tables with a higher priority.
///
/// # Safety
/// - Each device of the type that `info` states is a `D` of this library: kernels find the device by its stream.
pub unsafe fn register_kernels<D: Device>(
    info: &PluginInfo,
    tables: impl FnOnce() -> Vec<Vec<&'static Kernel>>,
) {
    guard::run_with_default("TF_InitKernel", (), || {
        // SAFETY: the obligation is the same.
        if !unsafe { kernel::register::<D>(info, tables) } {
            return;
        }
        python::install(info); // since 2.6
    });
}
