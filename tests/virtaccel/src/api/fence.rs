//! Fences.

use std::sync::Arc;

use super::{check_target, guard, since, write};
use crate::abi::{Result, Status};
use crate::fence::Fence;
use crate::queue::{Action, Queue, check_may_wait, is_shut_down};
use crate::registry::{DEVICES, FENCES, QUEUES};

/// # Safety
/// - `fence` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_fence_create(device: usize, fence: *mut usize) -> Status {
    guard(|| {
        check_target(fence)?;
        DEVICES.get(device)?;
        let created = FENCES.insert(Arc::new(Fence::default()));
        // SAFETY: the caller's obligation.
        unsafe { write(fence, created) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_fence_destroy(fence: usize) -> Status {
    guard(|| FENCES.remove(fence).map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn va_fence_record(fence: usize, queue: usize) -> Status {
    guard(|| {
        let (fence, queue) = (FENCES.get(fence)?, QUEUES.get(queue)?);
        let record = fence.record();
        let complete = fence.clone();
        let action = Action::Always(Box::new(move |queue: &Queue| {
            complete.complete(record, queue.error(false));
        }));
        // A record that no queue has would never complete.
        let pushed = queue.push("va_fence_record", action);
        pushed.inspect_err(|_| fence.complete(record, None))
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_fence_wait(queue: usize, fence: usize) -> Status {
    guard(|| {
        let (fence, queue) = (FENCES.get(fence)?, QUEUES.get(queue)?);
        let record = fence.last_record();
        let wait = move |queue: &Queue| {
            fence.wait(record, is_shut_down);
            if let Some(failure) = fence.failure(record) {
                queue.fail(failure);
            }
        };
        queue.push("va_fence_wait", Action::Always(Box::new(wait)))
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_fence_synchronize(fence: usize) -> Status {
    guard(|| {
        check_may_wait()?;
        let fence = FENCES.get(fence)?;
        match fence.wait(fence.last_record(), is_shut_down) {
            true => Ok(()),
            false => Err(Status::SHUT_DOWN),
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn va_fence_query(fence: usize) -> Status {
    guard(|| {
        let fence = FENCES.get(fence)?;
        match fence.is_complete() {
            true => fence.last_failure().map_or(Ok(()), |it| Err(it.status)),
            false => Err(Status::NOT_READY),
        }
    })
}

/// # Safety
/// - `nanoseconds` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_fence_elapsed(start: usize, end: usize, nanoseconds: *mut u64) -> Status {
    guard(|| {
        since(2)?;
        let elapsed = elapsed(start, end)?;
        // SAFETY: the caller's obligation.
        unsafe { write(nanoseconds, elapsed) }
    })
}

/// # Safety
/// - `ticks` is null, or valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn va_fence_time(fence: usize, ticks: *mut u64) -> Status {
    guard(|| {
        since(3)?;
        let time = FENCES.get(fence)?.time()?;
        // SAFETY: the caller's obligation.
        unsafe { write(ticks, time) }
    })
}

fn elapsed(start: usize, end: usize) -> Result<u64> {
    let (start, end) = (FENCES.get(start)?.time()?, FENCES.get(end)?.time()?);
    Ok(end.saturating_sub(start))
}
