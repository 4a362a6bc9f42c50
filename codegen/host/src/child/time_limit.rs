//! The time limit of a check. It does not count the time for which the check was ready to run and the machine had no free
//! processor. A check must not fail, and skip others, because the machine is busy.

use std::fs;
use std::time::{Duration, Instant};

/// The maximum of a limit's extension, as a multiple of the limit. A plugin that hangs in a loop then ends too.
const EXTENSION: u32 = 9;

/// A limit on the time of a process's main thread, which runs the check.
pub(super) struct TimeLimit {
    limit: Duration,
    start: Instant,
    process: u32,
    waited_before: Duration,
}

impl TimeLimit {
    /// Starts a limit for the process `process`.
    pub fn start(limit: Duration, process: u32) -> Self {
        Self {
            limit,
            start: Instant::now(),
            process,
            waited_before: waited_for_processor(process),
        }
    }

    /// Returns the time that is left; 0 if the limit has elapsed.
    pub fn remaining(&self) -> Duration {
        let elapsed = self.start.elapsed();
        if elapsed < self.limit {
            return self.limit - elapsed;
        }
        let waited = waited_for_processor(self.process).saturating_sub(self.waited_before);
        remaining(self.limit, elapsed, waited)
    }
}

fn remaining(limit: Duration, elapsed: Duration, waited: Duration) -> Duration {
    (limit + waited.min(limit * EXTENSION)).saturating_sub(elapsed)
}

/// Returns the time for which the main thread of `process` was ready to run and did not, or 0 if the system does not count it.
fn waited_for_processor(process: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat"));
    text.ok().and_then(|text| parse(&text)).unwrap_or_default()
}

/// Parses the second of three numbers, in nanoseconds.
fn parse(text: &str) -> Option<Duration> {
    let nanoseconds = text.split(' ').nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn time_without_processor_does_not_count() {
        assert_eq!(remaining(10 * SECOND, 12 * SECOND, 5 * SECOND), 3 * SECOND);
        assert_eq!(remaining(10 * SECOND, 12 * SECOND, SECOND), Duration::ZERO);
    }

    #[test]
    fn loop_on_busy_machine_ends_after_ten_limits() {
        let left = remaining(SECOND, 10 * SECOND, 1000 * SECOND);
        assert_eq!(left, Duration::ZERO);
    }

    #[test]
    fn parses_statistics_of_scheduler() {
        assert_eq!(parse("1354332 2000000 3\n"), Some(2 * SECOND / 1000));
        assert_eq!(parse(""), None);
        assert!(TimeLimit::start(SECOND, std::process::id()).remaining() > SECOND / 2);
    }
}
