//! Asynchronous transfers: several buffers, in parts, from literals, and with errors.

use sp_host::child_checks::{CheckResult, Stop};

use super::buffer_life::expect_own_error;
use crate::buffer::{Buffer, F32, HostArray, ensure, expect_error, wait};
use crate::session::{Device, Session};

/// A manager of transfers with two buffers: of 8 and of 2 by 3 floats.
struct Transfers<'p, 'a> {
    device: &'p Device<'a>,
    manager: u64,
}

impl<'p, 'a> Transfers<'p, 'a> {
    fn new(device: &'p Device<'a>) -> Result<Self, Stop> {
        let dims: [&[i64]; 2] = [&[8], &[2, 3]];
        let specs = dims.map(|dims| {
            let (address, rank) = (dims.as_ptr() as u64, dims.len() as u64);
            [36, 0, address, rank, F32]
        });
        let memory = device.call("Device_DefaultMemory", &[])?.get("memory")?;
        let set = [
            ("shape_specs", specs.as_ptr() as u64),
            ("num_shape_specs", 2),
            ("memory", memory),
        ];
        let function = "Client_CreateBuffersForAsyncHostToDevice";
        let args = device.client.call(function, &set)?;
        let manager = args.pointer("transfer_manager")?;
        Ok(Self { device, manager })
    }

    /// Calls `function` of the manager.
    fn call(&self, function: &str, set: &[(&str, u64)]) -> Result<crate::args::Args<'a>, Stop> {
        let function = format!("AsyncHostToDeviceTransferManager_{function}");
        let set = [&[("transfer_manager", self.manager)], set].concat();
        self.device.plugin().call(&function, &set)
    }

    /// Returns the buffer at `index`.
    fn buffer(&self, index: u64) -> Result<Buffer<'p, 'a>, Stop> {
        let args = self.call("RetrieveBuffer", &[("buffer_index", index)])?;
        Ok(Buffer::new(
            self.device.plugin(),
            args.pointer("buffer_out")?,
        ))
    }

    /// Transfers bytes to a part of a buffer, and waits until the host's memory is free.
    fn send(&self, index: u64, bytes: &[u8], offset: u64, is_last: bool) -> Result<(), Stop> {
        let set = [
            ("buffer_index", index),
            ("data", bytes.as_ptr() as u64),
            ("offset", offset),
            ("transfer_size", bytes.len() as u64),
            ("is_last_transfer", u64::from(is_last)),
        ];
        let args = self.call("TransferData", &set)?;
        let waited = wait(
            self.device.plugin(),
            args.pointer("done_with_h2d_transfer")?,
        )?;
        waited.map_err(|error| Stop::Fail(format!("the event of a transfer has the error {error}")))
    }

    fn destroy(&self) -> Result<(), Stop> {
        self.call("Destroy", &[]).map(drop)
    }
}

/// The manager reports its buffers, their sizes and its device.
pub(super) fn properties(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let transfers = Transfers::new(&device)?;
    let count = transfers.call("BufferCount", &[])?.get("buffer_count")?;
    ensure(count == 2, || {
        format!("there are {count} buffers, expected 2")
    })?;
    for (index, least) in [(0, 32), (1, 24)] {
        let args = transfers.call("BufferSize", &[("buffer_index", index)])?;
        let size = args.get("buffer_size")?;
        ensure(size >= least, || {
            format!("buffer {index} has {size} bytes, expected {least}")
        })?;
    }
    let found = transfers.call("Device", &[])?.get("device_out")?;
    ensure(found == device.handle, || {
        "the manager has another device".into()
    })?;
    Ok("2 buffers".into())
}

/// Buffers that are filled in parts have the values, whatever the order.
pub(super) fn parts(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let transfers = Transfers::new(&device)?;
    let (first, second) = (HostArray::counting(&[8]), HostArray::counting(&[2, 3]));
    let (one, other) = (transfers.buffer(0)?, transfers.buffer(1)?);
    transfers.send(1, &second.bytes, 0, true)?;
    transfers.send(0, &first.bytes[12..], 12, false)?;
    transfers.send(0, &first.bytes[..12], 0, true)?;
    one.expect(&first, "a buffer that was transferred in two parts")?;
    other.expect(&second, "a buffer that was transferred at once")?;
    transfers.destroy()?;
    one.expect(&first, "a buffer whose manager was destroyed")?;
    one.destroy()?;
    other.destroy()?;
    Ok("2 buffers, 3 transfers".into())
}

/// A buffer is not ready before its last transfer.
pub(super) fn readiness(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let plugin = device.plugin();
    let transfers = Transfers::new(&device)?;
    let array = HostArray::counting(&[8]);
    let buffer = transfers.buffer(0)?;
    let event = buffer.ready_event()?;
    transfers.send(0, &array.bytes[..16], 0, false)?;
    let args = plugin.call("Event_IsReady", &[("event", event)])?;
    ensure(!args.flag("is_ready")?, || {
        "a buffer is ready before its last transfer".into()
    })?;
    transfers.send(0, &array.bytes[16..], 16, true)?;
    let waited = wait(plugin, event)?;
    ensure(waited.is_ok(), || {
        "a transferred buffer has an error".into()
    })?;
    buffer.expect(&array, "a transferred buffer")?;
    buffer.destroy()?;
    Ok("pending, then ready".into())
}

/// The error that the host sets is that of the buffer.
pub(super) fn error(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let transfers = Transfers::new(&device)?;
    let message = "sp-gen stops the transfer";
    let buffer = transfers.buffer(0)?;
    let set = [
        ("buffer_index", 0),
        ("error_code", 13),
        ("error_message", message.as_ptr() as u64),
        ("error_message_size", message.len() as u64),
    ];
    transfers.call("SetBufferError", &set)?;
    expect_own_error(
        buffer.wait()?.err(),
        message,
        "a buffer whose transfer was stopped",
    )?;
    buffer.destroy()?;
    Ok("the error of the buffer is that of the transfer".into())
}

/// An index or a part that does not exist is an error.
pub(super) fn bad_index(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let transfers = Transfers::new(&device)?;
    let function = "AsyncHostToDeviceTransferManager_BufferSize";
    let set = [("transfer_manager", transfers.manager), ("buffer_index", 7)];
    let error = expect_error(
        device.plugin().try_call(function, &set)?,
        "the size of buffer 7 of 2",
    )?;
    Ok(error.to_string())
}

/// A literal is transferred as a whole.
pub(super) fn literal(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let transfers = Transfers::new(&device)?;
    let array = HostArray::counting(&[2, 3]);
    let mut layout = super::host_copy::tiled(session, &[1, 0])?;
    let set = [
        ("buffer_index", 1),
        ("data", array.bytes.as_ptr() as u64),
        ("shape_dims", array.dims.as_ptr() as u64),
        ("shape_num_dims", 2),
        ("shape_element_type", F32),
        ("shape_layout", layout.address()),
    ];
    let buffer = transfers.buffer(1)?;
    let args = transfers.call("TransferLiteral", &set)?;
    let waited = wait(device.plugin(), args.pointer("done_with_h2d_transfer")?)?;
    ensure(waited.is_ok(), || {
        "the event of a literal has an error".into()
    })?;
    buffer.expect(&array, "a buffer of a literal")?;
    buffer.destroy()?;
    Ok("24 bytes".into())
}
