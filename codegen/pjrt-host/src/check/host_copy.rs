//! Copies to the host: sizes, layouts, parts, and the layout of a buffer on its device.

use sp_host::child_checks::{CheckResult, Stop};

use crate::args::Args;
use crate::buffer::{Buffer, HostArray, ensure, expect_bytes, expect_error, wait};
use crate::memory;
use crate::session::Session;

/// With a null destination, PJRT_Buffer_ToHostBuffer returns the number of bytes.
pub(super) fn size_query(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    for dims in [&[][..], &[0], &[5], &[2, 3, 4]] {
        let array = HostArray::counting(dims);
        let buffer = device.put(&array)?;
        let args = device
            .plugin()
            .call("Buffer_ToHostBuffer", &[("src", buffer.handle)])?;
        let size = args.get("dst_size")? as usize;
        ensure(size == array.bytes.len(), || {
            format!(
                "an array of shape {dims:?} needs {} bytes, and the plugin asks for {size}",
                array.bytes.len()
            )
        })?;
        ensure(args.get("event")? == 0, || {
            "a query of the size returns an event, which nobody destroys".into()
        })?;
        buffer.destroy()?;
    }
    Ok("4 shapes".into())
}

/// A destination that is too short is an error, and is not written past its end.
pub(super) fn short_destination(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = device.put(&HostArray::counting(&[16]))?;
    let mut bytes = [0xa5_u8; 128];
    let set = [
        ("src", buffer.handle),
        ("dst", bytes.as_mut_ptr() as u64),
        ("dst_size", 12),
    ];
    let called = device.plugin().try_call("Buffer_ToHostBuffer", &set)?;
    let called = match called {
        Ok(args) => wait(device.plugin(), args.pointer("event")?)?.map(|()| args),
        Err(error) => Err(error),
    };
    ensure(bytes[12..].iter().all(|byte| *byte == 0xa5), || {
        "PJRT_Buffer_ToHostBuffer wrote past the end of a destination of 12 bytes".into()
    })?;
    let error = expect_error(called, "a copy of 64 bytes to 12")?;
    buffer.destroy()?;
    Ok(error.to_string())
}

/// The host's layout is used: a matrix by columns.
pub(super) fn layouts(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let columns = HostArray::floats(&[2, 3], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let buffer = device.put(&array)?;
    for (order, expected) in [([1_i64, 0], &array), ([0, 1], &columns)] {
        let mut layout = tiled(session, &order)?;
        let copied = buffer.try_to_host(layout.address())?;
        let bytes = copied.map_err(|error| {
            let text = format!("the plugin copies by rows only: {error}");
            match error.code == crate::plugin::UNIMPLEMENTED {
                true => Stop::Skip(text),
                false => Stop::Fail(format!("a copy with the layout {order:?} failed: {error}")),
            }
        })?;
        expect_bytes(
            &bytes,
            &expected.bytes,
            &format!("a copy with the layout {order:?}"),
        )?;
    }
    buffer.destroy()?;
    Ok("by rows and by columns".into())
}

/// Returns a layout without tiles, with this order of dimensions from minor to major.
pub(super) fn tiled<'a>(session: &Session<'a>, order: &[i64]) -> Result<Args<'a>, Stop> {
    let (address, rank) = (order.as_ptr() as u64, order.len() as u64);
    Args::new(session.api, "PJRT_Buffer_MemoryLayout")?
        .set("type", 0)?
        .set("anonymous.tiled.struct_size", 56)?
        .set("anonymous.tiled.minor_to_major", address)?
        .set("anonymous.tiled.minor_to_major_size", rank)
}

/// The layout of a buffer is an order of its dimensions, or strides of them.
pub(super) fn device_layout(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = device.put(&HostArray::counting(&[2, 3, 4]))?;
    let args = buffer.call("Buffer_GetMemoryLayout", &[])?;
    let text = match args.get("layout.type")? {
        0 => tiled_order(&args)?,
        1 => {
            let rank = args.get("layout.anonymous.strides.num_byte_strides")? as usize;
            ensure(rank == 3, || {
                format!("there are {rank} strides, expected 3")
            })?;
            "strides".into()
        }
        other => return Err(Stop::Fail(format!("the layout has the type {other}"))),
    };
    buffer.destroy()?;
    Ok(text)
}

fn tiled_order(args: &Args<'_>) -> Result<String, Stop> {
    let at = args.get("layout.anonymous.tiled.minor_to_major")?;
    let rank = args.get("layout.anonymous.tiled.minor_to_major_size")? as usize;
    ensure(rank == 3, || {
        format!("minor_to_major has {rank} dimensions, expected 3")
    })?;
    let order = memory::words(at, rank, "minor_to_major")?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    ensure(sorted == [0, 1, 2], || {
        format!("minor_to_major is {order:?}, which is no order of three dimensions")
    })?;
    Ok(format!("tiled, minor to major {order:?}"))
}

/// The size on the device is not below that of the elements.
pub(super) fn device_size(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    for dims in [&[1][..], &[1000], &[0]] {
        let array = HostArray::counting(dims);
        let buffer = device.put(&array)?;
        let args = buffer.call("Buffer_OnDeviceSizeInBytes", &[])?;
        let (size, least) = (
            args.get("on_device_size_in_bytes")?,
            array.bytes.len() as u64,
        );
        ensure(size >= least && size < least + (1 << 20), || {
            format!("{least} bytes have a size of {size} on the device")
        })?;
        buffer.destroy()?;
    }
    Ok("3 buffers".into())
}

/// PJRT_Buffer_CopyRawToHost copies exactly the requested part.
pub(super) fn raw_parts(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let buffer = device.put(&array)?;
    for (offset, size) in [(0, 256), (4, 8), (248, 8), (3, 5), (16, 0)] {
        let mut bytes = vec![0xa5_u8; size + 16];
        copy_raw(&buffer, &mut bytes, offset, size)?
            .map_err(|error| Stop::Fail(format!("a copy of {size} bytes at {offset}: {error}")))?;
        let part = &array.bytes[offset..offset + size];
        expect_bytes(&bytes[..size], part, &format!("{size} bytes at {offset}"))?;
        ensure(bytes[size..].iter().all(|byte| *byte == 0xa5), || {
            format!("a copy of {size} bytes wrote more")
        })?;
    }
    buffer.destroy()?;
    Ok("5 parts".into())
}

/// A part beyond the end of a buffer is an error.
pub(super) fn raw_beyond_end(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let buffer = device.put(&HostArray::counting(&[64]))?;
    let mut bytes = vec![0xa5_u8; 1024];
    for (offset, size) in [(0, 257), (256, 1), (1 << 20, 4)] {
        let called = copy_raw(&buffer, &mut bytes, offset, size)?;
        let error = called.err().ok_or_else(|| {
            Stop::Fail(format!(
                "a copy of {size} bytes at {offset} of 256 is no error"
            ))
        })?;
        expect_error(Err(error), "a copy beyond the end")?;
    }
    buffer.destroy()?;
    Ok("3 parts".into())
}

fn copy_raw(
    buffer: &Buffer<'_, '_>,
    bytes: &mut [u8],
    offset: usize,
    size: usize,
) -> Result<Result<(), crate::plugin::PluginError>, Stop> {
    let set = [
        ("dst", bytes.as_mut_ptr() as u64),
        ("offset", offset as u64),
        ("transfer_size", size as u64),
    ];
    let called = buffer.try_call("Buffer_CopyRawToHost", &set)?;
    match called {
        Ok(args) => wait(buffer.plugin, args.pointer("event")?),
        Err(error) if error.code == crate::plugin::UNIMPLEMENTED => Err(Stop::Skip(
            "the plugin does not implement PJRT_Buffer_CopyRawToHost".into(),
        )),
        Err(error) => Ok(Err(error)),
    }
}
