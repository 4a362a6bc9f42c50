//! The names that a first device and its first kernels need: `use sp_plugin::prelude::*`.

#[doc(no_inline)]
pub use crate::kernel::{Context, In, Kernel, Out, kernel, kernels};
#[doc(no_inline)]
pub use crate::{
    Description, Device, DeviceProperties, Error, HostAddressable, HostQueue, InPlace,
    MemoryAccess, Result, vtable,
};
