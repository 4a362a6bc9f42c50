//! The memory in which TensorFlow places tensors of an element type that is chosen for each registration.

use sp_abi::tf_datatype::TF_DataType;

use crate::Element;
use crate::kernel::sealed::Sealed;

/// The memory space of an argument that the host reads or writes: [`HostAccess`] or [`HostInt32`].
#[diagnostic::on_unimplemented(
    message = "the host cannot read or write elements of a tensor in the memory of `{Self}`",
    label = "the tensor is in the memory of `{Self}`",
    note = "for the host, leave the device out: `In<'_, T>`, `Out<'_, T>`, `BytesIn<'_>`, `BytesOut<'_>`",
    note = "for work of the device, use `address()`; if the device is `HostAddressable`, `as_slice()`"
)]
pub trait Placement: Sealed + 'static {
    /// True if int32 tensors are in host memory.
    const HAS_HOST_INT32: bool;
}

/// The memory space of tensors that the host reads and writes, in place or through a copy.
pub struct HostAccess(());

/// Host memory for int32, device memory for other types: TensorFlow's own kernels of another device compute shapes and
/// indices so. A tensor that one such kernel writes and another one reads is then never copied to the device.
///
/// If an output is in host memory for int32, so must be all inputs of that type: eagerly, TensorFlow 2.12 to 2.22 takes the
/// address of another int32 input on the device for one in host memory.
pub struct HostInt32(());

impl Sealed for HostAccess {}
impl Sealed for HostInt32 {}

impl Placement for HostAccess {
    const HAS_HOST_INT32: bool = false;
}

impl Placement for HostInt32 {
    const HAS_HOST_INT32: bool = true;
}

/// Returns true if elements of `E` are in host memory.
pub(super) const fn is_host<E: Element, S: Placement>() -> bool {
    S::HAS_HOST_INT32 && E::DTYPE.0 == TF_DataType::TF_INT32.0
}
