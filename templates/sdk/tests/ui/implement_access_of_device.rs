//! Host kernels use the memory of a device in place only if the device is `HostAddressable`, which is an `unsafe` trait.

use sp_plugin::{Access, Device, InPlace, MemoryAccess};

struct Remote<D>(D);

impl<D> Access<Remote<D>> for InPlace
where
    Remote<D>: Device,
{
    fn memory_access(_: &Remote<D>) -> MemoryAccess {
        MemoryAccess::InPlace
    }
}

fn main() {}
