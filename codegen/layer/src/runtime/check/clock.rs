//! Vector clocks: which work of the streams has happened before which.

use std::collections::HashMap;

/// The number of tasks of each stream that have happened before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock(HashMap<u64, u64>);

impl Clock {
    /// Adds all that `other` has.
    pub fn join(&mut self, other: &Self) {
        for (stream, time) in &other.0 {
            let own = self.0.entry(*stream).or_insert(0);
            *own = (*own).max(*time);
        }
    }

    /// Returns the number of tasks of `stream` that have happened before.
    pub fn time(&self, stream: u64) -> u64 {
        self.0.get(&stream).copied().unwrap_or(0)
    }

    /// Returns true if all that this clock has, has happened before `other` too, and it has something.
    pub fn is_before(&self, other: &Self) -> bool {
        let is_known = |(stream, time): (&u64, &u64)| other.time(*stream) >= *time;
        !self.0.is_empty() && self.0.iter().all(is_known)
    }

    /// Adds a task to `stream`; returns its number.
    pub fn tick(&mut self, stream: u64) -> u64 {
        let time = self.0.entry(stream).or_insert(0);
        *time += 1;
        *time
    }
}

/// An access of a task to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The first byte.
    pub start: u64,
    /// The number of bytes.
    pub size: u64,
    /// True if it writes.
    pub writes: bool,
    /// True for memory of the host.
    pub is_host: bool,
    /// The stream and the number of the task.
    pub task: (u64, u64),
    /// The slot that has enqueued it.
    pub name: &'static str,
}

impl Access {
    /// Returns true if the two accesses give another result in another order.
    pub fn conflicts(&self, other: &Self) -> bool {
        let overlaps =
            self.start < other.start + other.size && other.start < self.start + self.size;
        overlaps && self.is_host == other.is_host && (self.writes || other.writes)
    }

    /// Returns true if the access has happened before all that has `clock`.
    pub fn is_before(&self, clock: &Clock) -> bool {
        clock.time(self.task.0) >= self.task.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(start: u64, writes: bool) -> Access {
        Access {
            start,
            size: 8,
            writes,
            is_host: false,
            task: (1, 1),
            name: "memcpy_htod",
        }
    }

    #[test]
    fn only_overlapping_accesses_with_a_write_conflict() {
        assert!(access(0, true).conflicts(&access(4, false)));
        assert!(!access(0, true).conflicts(&access(8, true)));
        assert!(!access(0, false).conflicts(&access(0, false)));
    }

    #[test]
    fn a_dependency_orders_the_tasks_ahead_of_it_only() {
        let (mut first, mut second) = (Clock::default(), Clock::default());
        let task = (1, first.tick(1));
        let early = Access {
            task,
            ..access(0, true)
        };
        second.join(&first);
        let late = Access {
            task: (1, first.tick(1)),
            ..access(0, true)
        };
        assert!(early.is_before(&second));
        assert!(!late.is_before(&second));
    }
}
