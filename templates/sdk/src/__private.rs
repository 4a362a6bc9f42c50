//! Items for the expansions of the macros. They may change in any release, and are not for direct use.

use sp_runtime::guard;

use crate::Device;
use crate::kernel::{self, Kernel};
use crate::python; // since 2.6

pub use crate::kernel::expansion::*;
pub use crate::op::expansion::*;
pub use crate::optimizer::OptimizerPart; // since 2.6
pub use crate::part::{Part, register_part};
pub use crate::platform::PlatformPart;
pub use crate::plugin_info::PluginInfo;
pub use crate::profiler::ProfilerPart; // since 2.7
pub use crate::registered::platform as registered_platform;
pub use crate::runtime_line::RUNTIME_LINE;
pub use crate::settings::write_settings;
pub use sp_runtime::RawStatus;

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

/// Defines the static `$name`, whose text is in the section.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_functions {
    ($name:ident, $op:expr, $functions:expr) => {
        #[allow(unsafe_code)]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,sp_optional"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "sp_optional"))]
        static $name: [u8; $crate::__private::line_len($op, $functions)] =
            $crate::__private::line($op, $functions);
    };
}
