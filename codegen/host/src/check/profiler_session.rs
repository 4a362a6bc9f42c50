//! Sessions of a profiler with work of the device, for the checks of profilers.

use super::asynchronous::find_op;
use super::session::{CheckSession, block, ensure};
use crate::outcome::Stop;
use crate::profiler::RegisteredProfiler;
use crate::{Host, Op, Tensor, proto};

/// The number of elements of each input, and of bytes of a copy.
const SIZE: i64 = 64;

/// Work of the device: a kernel, or a copy if the plugin has no known kernel.
pub(super) struct Workload<'a> {
    host: &'a Host,
    op: Option<Op>,
    input: Tensor,
}

/// Loads the plugin with its profiler, or skips the check.
pub(super) fn host(session: &CheckSession<'_>) -> Result<Host, Stop> {
    session.with("TF_InitProfiler")?;
    session.host()
}

/// Returns the profiler of a host that [`host`] has loaded.
pub(super) fn profiler(host: &Host) -> Result<&RegisteredProfiler, Stop> {
    let none = || Stop::Skip("the plugin registered no profiler".into());
    host.profiler.as_ref().ok_or_else(none)
}

impl<'a> Workload<'a> {
    pub fn new(host: &'a Host) -> Self {
        let input = Tensor::from([SIZE], &[1_f32; SIZE as usize]);
        let op = find_op(host, &input).ok().map(|(op, _)| op);
        Self { host, op, input }
    }

    /// Returns the kind of work, in the plural.
    pub fn name(&self) -> String {
        match &self.op {
            Some(op) => format!("kernels of {}", op.name),
            None => "copies".to_owned(),
        }
    }

    /// Does the work once and waits for it.
    pub fn run(&self) -> Result<(), Stop> {
        if let Some(op) = &self.op {
            let inputs = [self.input.clone(), self.input.clone()];
            self.host.run(op, &inputs)?;
            return Ok(());
        }
        let executor = &self.host.executor;
        let memory = block(executor, SIZE as usize)?;
        executor.sync_htod(memory, &[7; SIZE as usize])?;
        Ok(executor.free(memory)?)
    }
}

/// Runs `body` in a session and returns the profile, which is an `XSpace`.
pub(super) fn record(
    profiler: &RegisteredProfiler,
    body: impl FnOnce() -> Result<(), Stop>,
) -> Result<Vec<u8>, Stop> {
    profiler.start()?;
    let result = body();
    profiler.stop()?;
    result?;
    collect_space(profiler)
}

/// Collects the data of the session, and fails the check unless it is an `XSpace`.
pub(super) fn collect_space(profiler: &RegisteredProfiler) -> Result<Vec<u8>, Stop> {
    let bytes = profiler.collect()?;
    ensure(proto::parse_fields(&bytes).is_some(), || {
        let len = bytes.len();
        format!("{len} bytes were collected, which are not an XSpace")
    })?;
    Ok(bytes)
}

/// Returns the number of events in an `XSpace`.
pub(super) fn count_events(space: &[u8]) -> usize {
    let planes = messages(space, 1);
    let lines = planes.flat_map(|plane| messages(plane, 3));
    lines.map(|line| messages(line, 4).count()).sum()
}

fn messages(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    proto::field_values(message, number).filter_map(|value| value.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::bytes_field;

    #[test]
    fn counts_events_of_all_lines() {
        let line = |events: usize| bytes_field(3, bytes_field(4, "").repeat(events));
        let plane = bytes_field(1, [line(2), line(0), line(1)].concat());
        assert_eq!(count_events(&[plane.clone(), plane].concat()), 6);
        assert_eq!(count_events(&bytes_field(1, "")), 0);
    }
}
