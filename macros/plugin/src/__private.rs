//! Items for the expansions of the macros. They may change in any release, and are not for direct use.

pub use crate::entry::register_kernels;
pub use crate::kernel::expansion::*;
pub use crate::op::expansion::*;
pub use crate::optimizer::OptimizerPart; // since 2.6
pub use crate::part::register_part;
pub use crate::platform::PlatformPart;
pub use crate::plugin_info::PluginInfo;
pub use crate::profiler::ProfilerPart; // since 2.7
pub use crate::registered::platform as registered_platform;
pub use crate::runtime_line::RUNTIME_LINE;
pub use crate::settings::write_settings;
pub use sp_abi::grappler::TP_OptimizerRegistrationParams; // since 2.6
pub use sp_abi::pluggable_profiler::TF_ProfilerRegistrationParams; // since 2.7
pub use sp_abi::stream_executor::SE_PlatformRegistrationParams;
pub use sp_runtime::RawStatus;
