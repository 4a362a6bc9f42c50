//! Random work on the streams of one device.

use super::schedule::{Features, Lane, Schedule};
use crate::check::session::CheckSession;
use crate::executor::Executor;
use crate::outcome::{CheckResult, Stop};

/// The number of steps of one schedule.
pub(super) const STEPS: usize = 150;

/// The seeds of the schedules.
pub(super) const SEEDS: [u64; 3] = [1, 2, 3];

/// Returns the features of a device. Other devices have none of its memory.
pub(super) fn features(executor: &Executor) -> Features {
    Features {
        dtod: executor.has("memcpy_dtod"),
        memset: executor.is_in_release("memset"),
        deallocate: !executor.uses_bfc(),
        peer_copies: false,
    }
}

/// Creates lanes on new streams.
pub(super) fn lanes(
    executor: &Executor,
    device: usize,
    count: usize,
) -> Result<Vec<Lane<'_>>, Stop> {
    let lane = |_| {
        let stream = executor.create_stream()?;
        Ok(Lane {
            executor,
            stream,
            device,
        })
    };
    (0..count).map(lane).collect()
}

/// Runs each schedule, then destroys the streams.
pub(super) fn run_schedules(lanes: &[Lane<'_>], features: Features) -> Result<(), Stop> {
    for seed in SEEDS {
        Schedule::new(lanes, features, seed)?.run(STEPS)?;
    }
    for lane in lanes {
        lane.executor.destroy_stream(lane.stream)?;
    }
    Ok(())
}

/// Random work on four streams leaves the bytes that its dependencies determine.
pub(in crate::check) fn interleaved_streams(session: &CheckSession<'_>) -> CheckResult {
    const STREAMS: usize = 4;
    let device = session.device()?;
    let lanes = lanes(&device.executor, 0, STREAMS)?;
    run_schedules(&lanes, features(&device.executor))?;
    Ok(format!(
        "{} times {STEPS} steps of random work on {STREAMS} streams left the bytes that their dependencies determine",
        SEEDS.len()
    ))
}
