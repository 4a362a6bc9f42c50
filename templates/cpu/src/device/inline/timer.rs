//! A stopwatch on a stream.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A timer of the reference device.
#[derive(Debug, Default)]
pub struct Timer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    started: Option<Instant>,
    elapsed: Duration,
}

impl Timer {
    /// Starts the timer, again if it was started.
    pub fn start(&self) {
        self.with(|state| state.started = Some(Instant::now()));
    }

    /// Stops the timer, if it was started.
    pub fn stop(&self) {
        self.with(|state| {
            if let Some(started) = state.started {
                state.elapsed = started.elapsed();
            }
        });
    }

    /// Returns the time from the last start to the stop after it.
    pub fn elapsed(&self) -> Duration {
        self.with(|state| state.elapsed)
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_between_start_and_stop() {
        let timer = Timer::default();
        timer.stop();
        assert_eq!(timer.elapsed(), Duration::ZERO);
        timer.start();
        std::thread::sleep(Duration::from_millis(2));
        timer.stop();
        assert!(timer.elapsed() >= Duration::from_millis(2));
    }
}
