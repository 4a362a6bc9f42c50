//! The release of the running TensorFlow.

use sp_runtime::{Host, Releases};

/// Returns true if the running release is one of these. A release that is not known counts as the newest known one,
/// which open-ended runs contain.
pub(crate) fn is_running(releases: &[Releases]) -> bool {
    let host = Host::running();
    let is_one = |it: &Releases| match host.is_in(*it) {
        Some(answer) => answer,
        None => it.last.is_none(),
    };
    releases.iter().any(is_one)
}
