//! Kernels: what `#[kernel(..)]` registers, and what a kernel sees while it runs.
//!
//! A [`HostKernel`] works on slices and serves every device; a [`Kernel`] works on one device's own
//! memory. Both end as an [`Entry`] in an explicit, ordered table.

mod attribute;
mod builder;
mod call;
mod calls;
mod entry;
mod host;
mod host_argument;
mod on_device;
mod table;
mod variable; // since 2.6

pub use attribute::{Attributes, Construction, FromAttribute};
pub use calls::{report, write_calls};
pub use entry::Entry;
pub use host::{Host, OnHost};
pub use on_device::OnDevice;
pub use sp_runtime::{Attributes, kernel};
pub use table::register;

use crate::{Device, Result};

/// A kernel that computes on the host, whatever the device: made by `#[kernel(..)]`.
pub trait HostKernel: 'static {
    /// What it reads of its node once, when TensorFlow makes it.
    type Attributes: Attributes;

    /// Computes one call.
    ///
    /// # Errors
    /// What is wrong with the inputs; TensorFlow reports it as the op's error.
    fn compute(cx: &Host<'_>, attributes: &Self::Attributes) -> Result<()>;
}

/// A kernel on device `D`: made by `#[kernel(..)]`.
pub trait Kernel<D: Device>: 'static {
    /// What it reads of its node once, when TensorFlow makes it.
    type Attributes: Attributes;

    /// Computes one call, or enqueues it on the call's stream.
    ///
    /// # Errors
    /// What is wrong with the inputs; TensorFlow reports it as the op's error.
    fn compute(cx: &OnDevice<'_, D>, attributes: &Self::Attributes) -> Result<()>;
}

/// An ordered table of kernels: one module and one word each.
///
/// `kernels! { for MyAccel: mat_mul, relu }` declares the modules and `pub fn table()`, whose
/// entries serve `MyAccel`; `kernels! { for D: .. }` makes `table::<D>()`, which serves any device.
/// Each module has the `entries()` that `#[kernel(..)]` makes.
#[macro_export]
macro_rules! kernels {
    (for D: $($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The kernels of this table, in order, for any device.
        pub fn table<D: $crate::Device>() -> ::std::vec::Vec<$crate::kernel::Entry<D>> {
            let parts: [::std::vec::Vec<$crate::kernel::Entry<D>>; _] = [$($name::entries()),*];
            parts.into_iter().flatten().collect()
        }
    };
    (for $device:ty: $($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The kernels of this table, in order.
        pub fn table() -> ::std::vec::Vec<$crate::kernel::Entry<$device>> {
            let parts: [::std::vec::Vec<$crate::kernel::Entry<$device>>; _] =
                [$($name::entries()),*];
            parts.into_iter().flatten().collect()
        }
    };
}
