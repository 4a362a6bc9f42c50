//! The order of one stream.

use super::callback::{Callback, CallbackAction};
use super::hold::Hold;
use super::queued_work::QueuedWork;
use crate::check::session::{CheckSession, expect_equal};
use crate::host_bytes::HostBytes;
use crate::outcome::CheckResult;

/// Work of any size waits for a callback ahead of it.
pub(in crate::check) fn order(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    Hold::require(executor)?;
    let stream = device.stream()?;
    let mut small = QueuedWork::prepare(executor, stream, 64)?;
    let mut large = QueuedWork::prepare(executor, stream, 100_000)?;
    let hold = Hold::on(executor, stream)?;
    small.enqueue(&hold)?;
    large.enqueue(&hold)?;
    hold.expect_none(|is_last| {
        let done = match small.done_work(&hold, is_last)? {
            Some(done) => Some(done),
            None => large.done_work(&hold, is_last)?,
        };
        Ok(done.map(|done| {
            format!("{done} before the host callback ahead of it on its stream had returned")
        }))
    })?;
    hold.release();
    for work in [small, large] {
        work.expect_done()?;
        work.free()?;
    }
    executor.destroy_stream(stream)?;
    Ok("copies, callbacks and events waited for the host callback ahead of them".into())
}

/// A callback sees the results of the work ahead of it, also if that takes long.
pub(in crate::check) fn callbacks(session: &CheckSession<'_>) -> CheckResult {
    const SIZE: usize = 1 << 20;
    const COPIES: usize = 64;
    let device = session.device()?;
    let (executor, stream) = (&device.executor, device.stream()?);
    let memory = device.block(SIZE)?;
    let (first, last) = (vec![1; SIZE], vec![2; SIZE]);
    let (others, source) = (HostBytes::new(&first), HostBytes::new(&last));
    let target = HostBytes::poisoned(SIZE);
    for _ in 0..COPIES {
        executor.htod(stream, memory, others)?;
    }
    executor.htod(stream, memory, source)?;
    executor.dtoh(stream, target, memory)?;
    let callback = Callback::enqueue(executor, stream, CallbackAction::Read(target))?;
    callback.wait()?;
    let what = "a copy to the host, as the host callback behind it sees it,";
    expect_equal(what, &callback.seen(), &last)?;
    executor.poll(stream)?;
    executor.free(memory)?;
    executor.destroy_stream(stream)?;
    Ok(format!(
        "a callback ran after the {COPIES} copies ahead of it, and saw their result"
    ))
}
