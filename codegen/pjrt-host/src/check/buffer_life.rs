//! Buffers that are deleted, referenced from outside, viewed, donated, without values, or in error.

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::{Buffer, F32, HostArray, ensure, expect_bytes, expect_error};
use crate::call::{Calls, record_call};
use crate::memory;
use crate::session::{Device, Session};

/// A deleted buffer reports that, its use is an error, and it can be destroyed.
pub(super) fn deletion(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = device.put(&HostArray::counting(&[6]))?;
    buffer.delete()?;
    ensure(buffer.is_deleted()?, || {
        "is_deleted is false after PJRT_Buffer_Delete".into()
    })?;
    let copied = buffer.try_to_host(0)?;
    let error = copied
        .err()
        .ok_or_else(|| Stop::Fail("a copy of a deleted buffer to the host is no error".into()))?;
    expect_error(Err(error.clone()), "a copy of a deleted buffer")?;
    buffer.destroy()?;
    Ok(error.to_string())
}

/// An external reference keeps the memory of a deleted buffer.
pub(super) fn external_reference(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let buffer = device.put(&array)?;
    ensure(buffer.wait()?.is_ok(), || "a new buffer is in error".into())?;
    buffer.call("Buffer_IncreaseExternalReferenceCount", &[])?;
    let args = buffer.call("Buffer_OpaqueDeviceMemoryDataPointer", &[])?;
    let address = args.pointer("device_memory_ptr")?;
    buffer.delete()?;
    if is_on_cpu(&buffer)? {
        let other = device.put(&HostArray::pattern(&[64], F32, 4))?;
        let bytes = memory::bytes(
            address,
            array.bytes.len(),
            "memory with an external reference",
        )?;
        expect_bytes(
            &bytes,
            &array.bytes,
            "a deleted buffer with an external reference",
        )?;
        other.destroy()?;
    }
    buffer.call("Buffer_DecreaseExternalReferenceCount", &[])?;
    buffer.destroy()?;
    Ok("the memory of a deleted buffer".into())
}

fn is_on_cpu(buffer: &Buffer<'_, '_>) -> Result<bool, Stop> {
    let found = buffer
        .call("Buffer_IsOnCpu", &[])
        .and_then(|args| args.flag("is_on_cpu"));
    Ok(super::buffer::optional(found)? == Some(true))
}

/// A reference that was not added cannot be removed.
pub(super) fn reference_underflow(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = device.put(&HostArray::counting(&[4]))?;
    let called = buffer.try_call("Buffer_DecreaseExternalReferenceCount", &[])?;
    let error = expect_error(called, "the removal of a reference that was not added")?;
    buffer.destroy()?;
    Ok(error.to_string())
}

/// The address of a buffer is the same in two calls, and not that of another one.
pub(super) fn raw_pointer(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let (first, second) = (device.put(&array)?, device.put(&array)?);
    let address = |buffer: &Buffer<'_, '_>| {
        let args = buffer.call("Buffer_UnsafePointer", &[])?;
        args.pointer("buffer_pointer")
    };
    let (one, other) = (address(&first)?, address(&second)?);
    ensure(one == address(&first)?, || {
        "the address of a buffer changes".into()
    })?;
    ensure(one != other, || "two buffers have the same address".into())?;
    let bytes = array.bytes.len();
    if is_on_cpu(&first)? {
        let found = memory::bytes(one, bytes, "the memory of a buffer")?;
        expect_bytes(&found, &array.bytes, "the memory of a buffer")?;
    }
    first.destroy()?;
    second.destroy()?;
    Ok(format!("{one:#x}"))
}

/// A view of memory on the device has its bytes, and its callback runs once.
pub(super) fn view(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let owner = device.put(&array)?;
    let args = owner.call("Buffer_OpaqueDeviceMemoryDataPointer", &[])?;
    let calls = Calls::leaked();
    let mut layout = super::host_copy::tiled(session, &[0])?;
    let set = [
        ("client", device.client.handle),
        ("device_buffer_ptr", args.pointer("device_memory_ptr")?),
        ("dims", array.dims.as_ptr() as u64),
        ("num_dims", 1),
        ("element_type", F32),
        ("layout", layout.address()),
        ("device", device.handle),
        ("on_delete_callback", record_call as *const () as u64),
        ("on_delete_callback_arg", calls.address()),
    ];
    let function = "Client_CreateViewOfDeviceBuffer";
    let args = device.plugin().call(function, &set)?;
    let view = Buffer::new(device.plugin(), args.pointer("buffer")?);
    expect_view(&view, &array, calls)?;
    owner.expect(&array, "the memory of a view that was destroyed")?;
    owner.destroy()?;
    ensure(calls.count() == 1, || {
        format!("the callback of a view ran {} times", calls.count())
    })?;
    Ok("a view of 256 bytes".into())
}

/// Fails unless the view has the values of `array`, and its callback runs at its end.
fn expect_view(view: &Buffer<'_, '_>, array: &HostArray, calls: &Calls) -> Result<(), Stop> {
    view.expect(array, "a view of memory on the device")?;
    ensure(calls.count() == 0, || {
        "the callback of a view ran before its end".into()
    })?;
    view.destroy()?;
    ensure(calls.wait(), || {
        "the callback of a view did not run after its end".into()
    })
}

/// A buffer without values has its shape and type, and can be copied.
pub(super) fn uninitialized(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let dims = [4_i64, 3];
    let set = [
        ("shape_dims", dims.as_ptr() as u64),
        ("shape_num_dims", 2),
        ("shape_element_type", F32),
        ("device", device.handle),
    ];
    let args = device
        .client
        .call("Client_CreateUninitializedBuffer", &set)?;
    let buffer = Buffer::new(device.plugin(), args.pointer("buffer")?);
    let found = buffer.numbers("Buffer_Dimensions", "dims", "num_dims")?;
    ensure(found == dims, || {
        format!("its dimensions are {found:?}, expected {dims:?}")
    })?;
    let bytes = buffer.to_host()?.len();
    ensure(bytes == 48, || format!("it has {bytes} bytes, expected 48"))?;
    buffer.destroy()?;
    Ok("48 bytes".into())
}

/// A donated buffer is deleted, and the new one has its bytes.
pub(super) fn donation(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let buffer = device.put(&array)?;
    // The plugin returns the callback with which the caller states that its dependency is done.
    let args = buffer.call("Buffer_DonateWithControlDependency", &[])?;
    let donated = Buffer::new(device.plugin(), args.pointer("out_buffer")?);
    let callback = args.pointer("dependency_ready_callback")?;
    let name = "PJRT_Buffer_DonateWithControlDependency_Callback_Args";
    let mut ready = crate::args::Args::new(session.api, name)?
        .set("callback_data", args.get("callback_data")?)?;
    // The callback has one parameter, the struct.
    device
        .plugin()
        .call_deleter(callback, ready.address(), "dependency_ready_callback")?;
    ensure(buffer.is_deleted()?, || {
        "a donated buffer is not deleted".into()
    })?;
    donated.expect(&array, "the new buffer of a donation")?;
    donated.destroy()?;
    buffer.destroy()?;
    Ok("256 bytes".into())
}

/// The error of a buffer is that of its event and of its copies.
pub(super) fn error_buffer(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let (dims, message) = ([4_i64], "no values for sp-gen");
    let memory = device.call("Device_DefaultMemory", &[])?.get("memory")?;
    let set = [
        ("error_code", 13),
        ("error_message", message.as_ptr() as u64),
        ("error_message_size", message.len() as u64),
        ("shape_dims", dims.as_ptr() as u64),
        ("shape_num_dims", 1),
        ("shape_element_type", F32),
        ("memory", memory),
    ];
    let args = device.client.call("Client_CreateErrorBuffer", &set)?;
    let buffer = Buffer::new(device.plugin(), args.pointer("buffer")?);
    expect_own_error(
        buffer.wait()?.err(),
        message,
        "the event of a buffer in error",
    )?;
    expect_own_error(
        buffer.try_to_host(0)?.err(),
        message,
        "a copy of a buffer in error",
    )?;
    buffer.destroy()?;
    Ok("the same error from the event and from a copy".into())
}

/// Fails unless `error` has the code INTERNAL and a message with `message`.
pub(super) fn expect_own_error(
    error: Option<crate::plugin::PluginError>,
    message: &str,
    what: &str,
) -> Result<(), Stop> {
    let error = error.ok_or_else(|| Stop::Fail(format!("{what} has no error")))?;
    let is_own = error.code == 13 && error.message.contains(message);
    ensure(is_own, || {
        format!("{what} has the error {error}, expected INTERNAL: {message}")
    })
}

/// Returns a buffer of the device, for checks of events.
pub(super) fn any<'p, 'a>(device: &'p Device<'a>) -> Result<Buffer<'p, 'a>, Stop> {
    device.put(&HostArray::counting(&[16]))
}
