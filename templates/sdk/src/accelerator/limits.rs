//! The environment variables of the layer.

use std::sync::LazyLock;
use std::time::Duration;

/// Returns the time after which work that has not completed is an error: `SP_QUEUE_TIMEOUT`, in seconds.
pub(super) fn timeout() -> Option<Duration> {
    static TIMEOUT: LazyLock<Option<Duration>> = LazyLock::new(|| {
        let value = std::env::var("SP_QUEUE_TIMEOUT").ok()?;
        let seconds = value
            .parse()
            .ok()
            .and_then(|it| Duration::try_from_secs_f64(it).ok());
        if seconds.is_none_or(|it| it.is_zero()) {
            sp_runtime::report!(
                Warn,
                "SP_QUEUE_TIMEOUT={value} is invalid: expected a number of seconds; there is no limit"
            );
            return None;
        }
        seconds
    });
    *TIMEOUT
}
