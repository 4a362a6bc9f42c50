//! Work on two devices.

use super::dependency::early_message;
use super::hold::Hold;
use super::interleaving::{features, lanes, run_schedules};
use super::queued_work::QueuedWork;
use super::schedule::Features;
use crate::Error;
use crate::check::session::{CheckSession, CheckedDevice, block, expect_equal, pattern};
use crate::executor::{Executor, StreamHandle};
use crate::outcome::{CheckResult, Stop};

/// Streams of one device wait for those of another one, and each device has its own memory.
pub(in crate::check) fn two_devices(session: &CheckSession<'_>) -> CheckResult {
    let first = session.device()?;
    let count = first.platform.device_count()?;
    if count < 2 {
        return Err(Stop::Skip("the plugin reports 1 device".into()));
    }
    let CheckedDevice { platform, executor } = &first;
    let second = platform.executor(platform.create_device(1)?);
    let failed = peer_copy(executor, &second).err();
    if failed.is_none() {
        expect_dependency(executor, &second)?;
    }
    let mut streams = lanes(executor, 0, 2)?;
    streams.extend(lanes(&second, 1, 2)?);
    let features = Features {
        peer_copies: failed.is_none() && executor.has("memcpy_dtod"),
        ..features(executor)
    };
    run_schedules(&streams, features)?;
    platform.destroy_device(second.device())?;
    match failed {
        None => Ok(format!(
            "random work on 2 of {count} devices left the bytes that its dependencies determine"
        )),
        Some(error) => Err(Stop::Skip(format!(
            "random work on 2 of {count} devices was right, each for itself; a copy between them fails: {error}"
        ))),
    }
}

/// Copies a block to the second device, in the order of a stream of each.
fn peer_copy(first: &Executor, second: &Executor) -> Result<(), Error> {
    let (from, to) = (first.create_stream()?, second.create_stream()?);
    let (source, target) = (first.allocate(64)?, second.allocate(64)?);
    let copied = first.depend(from, to).and_then(|()| {
        first.sync_htod(source, &pattern(64, 5))?;
        match first.has("memcpy_dtod") {
            true => first.dtod(from, target, source, 64),
            false => Ok(()),
        }
    });
    first.synchronize()?;
    second.synchronize()?;
    first.free(source)?;
    second.free(target)?;
    first.destroy_stream(from)?;
    second.destroy_stream(to)?;
    copied
}

/// A stream of the first device waits for one of the second device.
fn expect_dependency(first: &Executor, second: &Executor) -> Result<(), Stop> {
    let (dependent, other) = (first.create_stream()?, second.create_stream()?);
    let mut work = QueuedWork::prepare(first, dependent, 1000)?;
    let (memory, bytes) = (block(second, 1000)?, pattern(1000, 6));
    second.sync_htod(memory, &bytes)?;
    if let Some(hold) = hold_unless_inline(second, other)? {
        hold.call("create_stream_dependency", || {
            first.depend(dependent, other)
        })?;
        work.enqueue(&hold)?;
        hold.expect_none(|is_last| {
            let done = work.done_work(&hold, is_last)?;
            Ok(done.map(|done| {
                early_message(
                    done,
                    "create_stream_dependency",
                    "a stream of another device",
                )
            }))
        })?;
        hold.release();
        work.expect_done()?;
    }
    second.synchronize()?;
    let mut found = vec![0; 1000];
    second.sync_dtoh(&mut found, memory)?;
    let what = "a block of one device after work on another one";
    expect_equal(what, &found, &bytes)?;
    work.free()?;
    second.free(memory)?;
    first.destroy_stream(dependent)?;
    Ok(second.destroy_stream(other)?)
}

/// Holds a stream, or returns `None` if the device cannot.
pub(super) fn hold_unless_inline(
    executor: &Executor,
    stream: StreamHandle,
) -> Result<Option<Hold>, Stop> {
    match Hold::on(executor, stream) {
        Ok(hold) => Ok(Some(hold)),
        Err(Stop::Skip(_)) => Ok(None),
        Err(stop) => Err(stop),
    }
}
