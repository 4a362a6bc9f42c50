//! Events, and the functions that wait on the calling thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::hold::Hold;
use super::queued_work::{QueuedWork, is_complete};
use crate::Error;
use crate::check::session::CheckSession;
use crate::outcome::{CheckResult, Stop};

/// A function that must not return while a stream is held.
type Wait<'a> = (&'static str, &'a (dyn Fn() -> Result<(), Error> + Sync));

/// Events are pending until the work ahead of them is done, also if they were complete before.
pub(in crate::check) fn events(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    Hold::require(&device.executor)?;
    let (executor, stream) = (&device.executor, device.stream()?);
    let (fresh, reused) = (executor.create_event()?, executor.create_event()?);
    executor.record_event(stream, reused)?;
    executor.block_for_event(reused)?;
    let hold = Hold::on(executor, stream)?;
    for event in [fresh, reused] {
        hold.call("record_event", || executor.record_event(stream, event))?;
    }
    let block_for_event = || executor.block_for_event(fresh);
    expect_waits(&hold, &[("block_host_for_event", &block_for_event)], || {
        for (event, which) in [(fresh, ""), (reused, " that was recorded a second time")] {
            if is_complete(executor, event)? {
                return Ok(Some(format!(
                    "get_event_status returned SE_EVENT_COMPLETE for an event{which} before the work ahead of it on its stream was done"
                )));
            }
        }
        Ok(None)
    })?;
    executor.block_for_event(reused)?;
    for event in [fresh, reused] {
        if !is_complete(executor, event)? {
            let text = "get_event_status returned SE_EVENT_PENDING after block_host_for_event";
            return Err(Stop::Fail(text.into()));
        }
        executor.destroy_event(event)?;
    }
    executor.destroy_stream(stream)?;
    Ok("events were pending until the work ahead of them was done".into())
}

/// Functions that wait for a stream or the device return after its work.
pub(in crate::check) fn waits(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let executor = &device.executor;
    Hold::require(executor)?;
    // The held stream is neither the first nor the last one.
    let (first, stream, last) = (device.stream()?, device.stream()?, device.stream()?);
    let mut work = QueuedWork::prepare(executor, stream, 100_000)?;
    let hold = Hold::on(executor, stream)?;
    work.enqueue(&hold)?;
    let synchronize = || executor.synchronize();
    let block_until_done = || executor.block_until_done(stream);
    let mut waits: Vec<Wait<'_>> = vec![("synchronize_all_activity", &synchronize)];
    if executor.has("block_host_until_done") {
        waits.push(("block_host_until_done", &block_until_done));
    }
    expect_waits(&hold, &waits, || Ok(None))?;
    work.expect_done()?;
    work.free()?;
    for stream in [first, stream, last] {
        executor.destroy_stream(stream)?;
    }
    let names: Vec<&str> = waits.iter().map(|(name, _)| *name).collect();
    Ok(format!(
        "{} returned after the work of a held stream",
        names.join(" and ")
    ))
}

/// Calls each function on a thread of its own, and fails the check if one returns while the stream is held, or if there
/// is another fault. Releases the stream, and returns when the functions have returned.
fn expect_waits(
    hold: &Hold,
    waits: &[Wait<'_>],
    mut fault: impl FnMut() -> Result<Option<String>, Stop>,
) -> Result<(), Stop> {
    let returned: Vec<AtomicBool> = waits.iter().map(|_| AtomicBool::new(false)).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = waits
            .iter()
            .zip(&returned)
            .map(|((_, wait), returned)| {
                scope.spawn(move || {
                    let result = wait();
                    returned.store(true, Ordering::Release);
                    result
                })
            })
            .collect();
        let seen = hold.expect_none(|_| {
            let is_early = |returned: &AtomicBool| returned.load(Ordering::Acquire);
            match (fault()?, returned.iter().position(is_early)) {
                (None, Some(at)) => Ok(Some(format!(
                    "{} returned before the work on the stream was done",
                    waits[at].0
                ))),
                (found, _) => Ok(found),
            }
        });
        hold.release();
        let panicked = |_| Stop::Fail("a thread panicked".into());
        let results: Vec<_> = threads.into_iter().map(|it| it.join()).collect();
        seen?;
        results
            .into_iter()
            .try_for_each(|result| Ok(result.map_err(panicked)??))
    })
}
