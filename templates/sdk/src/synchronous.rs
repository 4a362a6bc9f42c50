//! `SP_SYNC=1`: each kernel waits for its work. A failure is then the error of its own op.

use std::sync::LazyLock;

/// Returns true if each kernel waits for its work.
pub(crate) fn is_synchronous() -> bool {
    static SYNC: LazyLock<bool> = LazyLock::new(|| sp_runtime::variable::is_on("SP_SYNC", false));
    *SYNC
}
