//! Copies of buffers to devices and memories.

use sp_host::child_checks::{CheckResult, Stop};

use super::memory_space::of_device;
use crate::buffer::{Buffer, HostArray, ensure};
use crate::session::Session;

/// A copy to another device has the bytes, is on that device, and does not depend on its source.
pub(super) fn to_device(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let client = &device.client;
    let devices = client.list("Client_AddressableDevices", "addressable_devices")?;
    let others = devices.iter().filter(|it| **it != device.handle);
    if others.clone().count() == 0 {
        return Err(Stop::Skip("the client has one addressable device".into()));
    }
    let array = HostArray::counting(&[33]);
    for other in others {
        let source = device.put(&array)?;
        let args = source.call("Buffer_CopyToDevice", &[("dst_device", *other)])?;
        let copy = Buffer::new(device.plugin(), args.pointer("dst_buffer")?);
        ensure(copy.handle != source.handle, || {
            "the copy is its source".into()
        })?;
        source.destroy()?;
        let found = copy.call("Buffer_Device", &[])?.get("device")?;
        ensure(found == *other, || {
            "the copy is on another device than requested".into()
        })?;
        copy.expect(
            &array,
            "a copy on another device, whose source was destroyed",
        )?;
        copy.destroy()?;
    }
    Ok(format!("{} devices", devices.len() - 1))
}

/// A copy to each memory of the device has the bytes, is in that memory, and does not depend on its source.
pub(super) fn to_memory(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[33]);
    let mut copied = 0;
    for memory in of_device(&device.client, device.handle)? {
        let source = device.put(&array)?;
        let called = source.try_call("Buffer_CopyToMemory", &[("dst_memory", memory)])?;
        let Ok(args) = called else {
            source.destroy()?;
            continue;
        };
        let copy = Buffer::new(device.plugin(), args.pointer("dst_buffer")?);
        source.destroy()?;
        let found = copy.call("Buffer_Memory", &[])?.get("memory")?;
        ensure(found == memory, || {
            "the copy is in another memory than requested".into()
        })?;
        copy.expect(&array, "a copy in a memory, whose source was destroyed")?;
        copy.destroy()?;
        copied += 1;
    }
    match copied {
        0 => Err(Stop::Skip("the plugin copies to no memory".into())),
        many => Ok(format!("{many} memories")),
    }
}

/// A copy of a deleted buffer is an error.
pub(super) fn deleted_source(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let source = device.put(&HostArray::counting(&[4]))?;
    source.delete()?;
    let memory = device.call("Device_DefaultMemory", &[])?.get("memory")?;
    let called = source.try_call("Buffer_CopyToMemory", &[("dst_memory", memory)])?;
    let error = match called {
        Ok(args) => {
            let copy = Buffer::new(device.plugin(), args.pointer("dst_buffer")?);
            let error = copy.wait()?.err();
            copy.destroy()?;
            error.ok_or_else(|| Stop::Fail("a copy of a deleted buffer is no error".into()))?
        }
        Err(error) => error,
    };
    source.destroy()?;
    Ok(error.to_string())
}
