//! Lifetimes: leaks, threads, the order of destruction, and the end of the process.

use sp_host::child_checks::{CheckResult, Stop, expect_no_growth};

use crate::buffer::HostArray;
use crate::session::{Client, Session};

/// The number of objects of each kind in a measurement.
const ROUNDS: usize = 200;

/// Buffers and their events leave no memory behind.
pub(super) fn buffer_leaks(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    expect_no_growth("a buffer", ROUNDS, || {
        let buffer = device.put(&array)?;
        buffer.to_host()?;
        drop(buffer.wait()?);
        buffer.destroy()
    })?;
    Ok(format!("{ROUNDS} buffers"))
}

/// Errors leave no memory behind.
pub(super) fn error_leaks(session: &Session<'_>) -> CheckResult {
    let client = session.client()?;
    expect_no_growth("an error", ROUNDS, || {
        let called = client.try_call("Client_LookupDevice", &[("id", 0x7fff_fff0)])?;
        let error = called.err();
        error
            .map(drop)
            .ok_or_else(|| Stop::Fail("an unknown device is found".into()))
    })?;
    Ok(format!("{ROUNDS} errors"))
}

/// Deleted buffers free the memory of the device before they are destroyed.
pub(super) fn deletion_frees(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[1 << 20]);
    let first = in_use(&device)?;
    let mut buffers = vec![];
    for _ in 0..4 {
        let buffer = device.put(&array)?;
        drop(buffer.wait()?);
        buffer.delete()?;
        buffers.push(buffer);
    }
    let last = in_use(&device)?;
    buffers
        .iter()
        .try_for_each(crate::buffer::Buffer::destroy)?;
    let growth = last - first;
    crate::buffer::ensure(growth < 8 << 20, || {
        format!("4 deleted buffers of 4 MiB still use {growth} bytes")
    })?;
    Ok(format!("{growth} bytes of 16 MiB are in use"))
}

fn in_use(device: &crate::session::Device<'_>) -> Result<i64, Stop> {
    let args = device.call("Device_MemoryStats", &[])?;
    Ok(args.get("bytes_in_use")? as i64)
}

/// Runs `work` on eight threads at once, with the thread's number.
pub(super) fn on_threads(work: impl Fn(usize) -> Result<(), Stop> + Sync) -> Result<(), Stop> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..8).map(|at| scope.spawn(move || work(at))).collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.map_err(|_| Stop::Fail("a thread panicked".into()))?
        })
    })
}

/// Eight threads copy arrays to the device and back at once.
pub(super) fn threads(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    on_threads(|thread| {
        for round in 0..40 {
            let array = HostArray::floats(&[17], &[(thread * 1000 + round) as f32; 17]);
            let buffer = device.put(&array)?;
            buffer.expect(&array, "an array of one of eight threads")?;
            buffer.destroy()?;
        }
        Ok(())
    })?;
    Ok("8 threads, 40 arrays each".into())
}

/// Buffers and events are destroyed in any order, before the client.
pub(super) fn destruction_order(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let arrays: Vec<HostArray> = (1..9).map(|it| HostArray::counting(&[it])).collect();
    let mut buffers = vec![];
    for array in &arrays {
        let buffer = device.put(array)?;
        buffers.push((buffer, buffer.ready_event()?));
    }
    for at in [3, 0, 7, 5] {
        buffers[at].0.destroy()?;
    }
    for at in [1, 2, 4, 6] {
        buffers[at]
            .0
            .expect(&arrays[at], "an array after others were destroyed")?;
        buffers[at].0.destroy()?;
    }
    for (_, event) in buffers {
        drop(crate::buffer::wait(device.plugin(), event)?);
    }
    device.client.destroy()?;
    Ok("8 buffers, 8 events, then the client".into())
}

/// Clients are created and destroyed one after the other.
pub(super) fn client_recreation(session: &Session<'_>) -> CheckResult {
    let mut client = session.client()?;
    for _ in 0..3 {
        client.destroy()?;
        client = Client::new(client.plugin)?;
    }
    let devices = client.list("Client_AddressableDevices", "addressable_devices")?;
    client.destroy()?;
    Ok(format!(
        "3 clients, the last one with {} devices",
        devices.len()
    ))
}

/// A process with a client, a buffer and an executable ends without a crash.
pub(super) fn process_exit(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let array = HostArray::counting(&[64]);
    let buffer = device.put(&array)?;
    buffer.expect(&array, "an array")?;
    if let Ok(executable) = device.compile(crate::program::DOUBLE) {
        let x = device.put(&HostArray::counting(&[2, 3]))?;
        drop(executable.execute(&[x], 1)?);
    }
    Ok("the process ended while the client was in use".into())
}
