//! Buffers from the host: values, types, shapes, strides, semantics and wrong arguments.

use std::thread;
use std::time::Duration;

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::{Buffer, HostArray, ensure, expect_error, wait};
use crate::layout;
use crate::plugin::Called;
use crate::session::{Device, Session};

/// An array comes back as it was.
pub(super) fn round_trip(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::floats(&[2, 3], &[1.5, -2.0, 0.0, f32::INFINITY, -0.0, f32::NAN]);
    let buffer = device.put(&array)?;
    buffer.expect(&array, "a float array")?;
    buffer.expect(&array, "a second copy of a float array")?;
    buffer.destroy()?;
    Ok("24 bytes, twice".into())
}

/// Element types with their sizes in bytes. Types below a byte are packed in ways that the header does not state.
const TYPES: [(&str, usize); 21] = [
    ("PRED", 1),
    ("S8", 1),
    ("S16", 2),
    ("S32", 4),
    ("S64", 8),
    ("U8", 1),
    ("U16", 2),
    ("U32", 4),
    ("U64", 8),
    ("F16", 2),
    ("F32", 4),
    ("F64", 8),
    ("BF16", 2),
    ("C64", 8),
    ("C128", 16),
    ("F8E5M2", 1),
    ("F8E4M3FN", 1),
    ("F8E4M3B11FNUZ", 1),
    ("F8E5M2FNUZ", 1),
    ("F8E4M3FNUZ", 1),
    ("F8E8M0FNU", 1),
];

/// Arrays of each element type come back as they were, or the type is an error.
pub(super) fn element_types(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let known = layout::values(session.api, "PJRT_Buffer_Type", "PJRT_Buffer_Type_");
    let (mut taken, mut rejected) = (0, vec![]);
    for (name, size) in TYPES {
        let Some((_, element)) = known.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let mut array = HostArray::pattern(&[5, 3], *element as u64, size);
        if name == "PRED" {
            array.bytes.iter_mut().for_each(|byte| *byte %= 2);
        }
        match takes(&device, &array, name)? {
            true => taken += 1,
            false => rejected.push(name),
        }
    }
    ensure(!rejected.contains(&"F32"), || {
        "the plugin takes no arrays of F32".into()
    })?;
    match rejected.is_empty() {
        true => Ok(format!("{taken} types")),
        false => Ok(format!("{taken} types; not taken: {}", rejected.join(", "))),
    }
}

/// Copies an array in both directions. Returns false if the plugin takes none of its type.
fn takes(device: &Device<'_>, array: &HostArray, name: &str) -> Result<bool, Stop> {
    let Ok(args) = device.try_put(array, "kImmutableOnlyDuringCall", &[])? else {
        return Ok(false);
    };
    let buffer = Buffer::new(device.plugin(), args.pointer("buffer")?);
    buffer.finish(args.pointer("done_with_host_buffer")?)?;
    buffer.expect(array, &format!("an array of {name}"))?;
    let found = buffer.call("Buffer_ElementType", &[])?.get("type")?;
    ensure(found == array.element, || {
        format!(
            "an array of {name} has the element type {found}, expected {}",
            array.element
        )
    })?;
    buffer.destroy()?;
    Ok(true)
}

/// Arrays of any shape come back as they were, also without elements.
pub(super) fn shapes(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let shapes: [&[i64]; 8] = [
        &[],
        &[1],
        &[0],
        &[3, 0, 2],
        &[7],
        &[2, 1, 3, 1, 2],
        &[1, 2, 1, 2, 1, 2, 1, 2],
        &[1 << 20],
    ];
    for dims in shapes {
        let array = HostArray::counting(dims);
        let buffer = device.put(&array)?;
        buffer.expect(&array, &format!("an array of shape {dims:?}"))?;
        let found = buffer.numbers("Buffer_Dimensions", "dims", "num_dims")?;
        ensure(found == dims, || {
            format!("an array of shape {dims:?} has the dimensions {found:?}")
        })?;
        buffer.destroy()?;
    }
    Ok(format!("{} shapes", shapes.len()))
}

/// A buffer reports its device, its memory and static dimensions.
pub(super) fn properties(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[4, 2]);
    let buffer = device.put(&array)?;
    let found = buffer.call("Buffer_Device", &[])?.get("device")?;
    ensure(found == device.handle, || {
        "a buffer is on another device than requested".into()
    })?;
    let default = device.call("Device_DefaultMemory", &[])?.get("memory")?;
    let memory = buffer.call("Buffer_Memory", &[])?.get("memory")?;
    ensure(memory == default, || {
        "a buffer of a device is not in the device's default memory".into()
    })?;
    ensure(!buffer.is_deleted()?, || "a new buffer is deleted".into())?;
    optional(dimensions(&buffer))?;
    optional(
        buffer
            .call("Buffer_IsOnCpu", &[])
            .and_then(|args| args.flag("is_on_cpu")),
    )?;
    buffer.destroy()?;
    Ok("device, memory, dimensions".into())
}

fn dimensions(buffer: &Buffer<'_, '_>) -> Result<(), Stop> {
    let unpadded = buffer.numbers("Buffer_UnpaddedDimensions", "unpadded_dims", "num_dims")?;
    ensure(unpadded == [4, 2], || {
        format!("the unpadded dimensions are {unpadded:?}")
    })?;
    let dynamic = buffer.numbers(
        "Buffer_DynamicDimensionIndices",
        "dynamic_dim_indices",
        "num_dynamic_dims",
    )?;
    ensure(dynamic.is_empty(), || {
        format!("the dimensions {dynamic:?} are dynamic")
    })
}

/// Returns `None` for a part of a check that the plugin does not implement.
pub(super) fn optional<T>(result: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Skip(_)) => Ok(None),
        Err(stop) => Err(stop),
    }
}

/// Strides of the host's memory: the columns of a matrix, and every second row.
pub(super) fn strides(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let columns = HostArray::floats(&[2, 3], &numbers);
    let rows = HostArray::floats(&[2, 3], &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    expect_strided(&device, &columns, &[4, 8], &rows, "a matrix by columns")?;
    let same = HostArray::floats(&[2, 3], &numbers);
    expect_strided(&device, &columns, &[12, 4], &same, "a matrix by rows")?;
    let mut gaps = HostArray::floats(&[2, 2], &[1.0, 2.0, 9.0, 9.0, 3.0, 4.0, 9.0, 9.0]);
    gaps.dims = vec![2, 2];
    let without = HostArray::floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let padded = expect_strided(&device, &gaps, &[16, 4], &without, "every second row");
    Ok(match padded {
        Ok(()) => "by columns, by rows, every second row".into(),
        Err(Stop::Skip(_)) => "by columns and by rows; not every second row".into(),
        Err(stop) => return Err(stop),
    })
}

fn expect_strided(
    device: &Device<'_>,
    array: &HostArray,
    strides: &[i64],
    expected: &HostArray,
    what: &str,
) -> Result<(), Stop> {
    let set = [
        ("byte_strides", strides.as_ptr() as u64),
        ("num_byte_strides", strides.len() as u64),
    ];
    let (buffer, done) = device.put_with(array, "kImmutableOnlyDuringCall", &set)?;
    buffer.finish(done)?;
    buffer.expect(expected, what)?;
    buffer.destroy()
}

/// The time in which a thread of the plugin may still read memory that is the host's again.
const LATER: Duration = Duration::from_millis(60);

/// With kImmutableOnlyDuringCall the host's memory is not read after the call.
pub(super) fn only_during_call(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    for elements in [3, 1 << 10, 1 << 20] {
        let mut array = HostArray::counting(&[elements]);
        let expected = array.clone();
        let (buffer, done) = device.put_with(&array, "kImmutableOnlyDuringCall", &[])?;
        array.bytes.fill(0x5a);
        thread::sleep(LATER);
        buffer.expect(
            &expected,
            "an array whose memory was written after the call",
        )?;
        buffer.finish(done)?;
        buffer.destroy()?;
    }
    Ok("the host's memory was written after the call".into())
}

/// With kImmutableUntilTransferCompletes the host's memory is not read after the event.
pub(super) fn until_transfer_completes(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    for elements in [3, 1 << 10, 1 << 20] {
        let mut array = HostArray::counting(&[elements]);
        let expected = array.clone();
        let (buffer, done) = device.put_with(&array, "kImmutableUntilTransferCompletes", &[])?;
        buffer.finish(done)?;
        array.bytes.fill(0x5a);
        thread::sleep(LATER);
        buffer.expect(
            &expected,
            "an array whose memory was written after the event",
        )?;
        buffer.destroy()?;
    }
    Ok("the host's memory was written after the event".into())
}

/// With the semantics without a copy, the event is ready after the buffer is destroyed at the latest.
pub(super) fn zero_copy(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let mut taken = vec![];
    for semantics in ["kImmutableZeroCopy", "kMutableZeroCopy"] {
        let array = HostArray::counting(&[1 << 12]);
        let Ok(args) = device.try_put(&array, semantics, &[])? else {
            continue;
        };
        let buffer = Buffer::new(device.plugin(), args.pointer("buffer")?);
        buffer.expect(&array, "a buffer without a copy")?;
        buffer.destroy()?;
        let waited = wait(device.plugin(), args.pointer("done_with_host_buffer")?)?;
        ensure(waited.is_ok(), || {
            format!("the event has the error {waited:?}")
        })?;
        taken.push(semantics);
    }
    match taken.is_empty() {
        true => Err(Stop::Skip(
            "the plugin takes no semantics without a copy".into(),
        )),
        false => Ok(taken.join(", ")),
    }
}

/// A type or semantics that does not exist is an error.
pub(super) fn unknown_type(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[2]);
    let called = device.try_put(&array, "kImmutableOnlyDuringCall", &[("type", 9999)])?;
    let error = expect_error(called, "a buffer of the element type 9999")?;
    Ok(error.to_string())
}

/// An element type of 0 is an error.
pub(super) fn invalid_type(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[2]);
    let called = device.try_put(&array, "kImmutableOnlyDuringCall", &[("type", 0)])?;
    let error = expect_error(called, "a buffer of the element type INVALID")?;
    Ok(error.to_string())
}

/// A negative dimension is an error.
pub(super) fn negative_dimension(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray {
        dims: vec![2, -1],
        ..HostArray::counting(&[2])
    };
    let called = device.try_put(&array, "kImmutableOnlyDuringCall", &[])?;
    let error = expect_error(called, "a buffer with the dimension -1")?;
    Ok(error.to_string())
}

/// A buffer above all memory is an error, and the next buffer works.
pub(super) fn too_large(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let dims = [1_i64 << 20, 1 << 25];
    let memory = device.call("Device_DefaultMemory", &[])?.get("memory")?;
    let set = [
        ("shape_dims", dims.as_ptr() as u64),
        ("shape_num_dims", 2),
        ("shape_element_type", crate::buffer::F32),
        ("memory", memory),
    ];
    let function = "Client_CreateUninitializedBuffer";
    let called = device.client.try_call(function, &set)?;
    let text = allocation_error(&device, called)?;
    let array = HostArray::counting(&[8]);
    let buffer = device.put(&array)?;
    buffer.expect(&array, "a buffer after an allocation that failed")?;
    buffer.destroy()?;
    Ok(text)
}

/// Returns the error of a buffer that is too large: that of the call, or of its readiness.
fn allocation_error(device: &Device<'_>, called: Called<'_>) -> Result<String, Stop> {
    let args = match called {
        Ok(args) => args,
        Err(error) if error.code == crate::plugin::UNIMPLEMENTED => {
            return Err(Stop::Skip(
                "the plugin does not implement PJRT_Client_CreateUninitializedBuffer".into(),
            ));
        }
        Err(error) => return Ok(expect_error(Err(error), "a buffer of 128 TiB")?.to_string()),
    };
    let buffer = Buffer::new(device.plugin(), args.pointer("buffer")?);
    let waited = buffer.wait()?;
    buffer.destroy()?;
    let error = waited.err().ok_or_else(|| {
        Stop::Fail("a buffer of 128 TiB is created, and is ready without an error".into())
    })?;
    Ok(error.to_string())
}
