//! Checks that another crate defines, each in a child process as those of this crate: a crash or a hang is that check's
//! failure. The crate's `main` calls [`task`], and [`perform_until`] if there is one.

use crate::channel::{self, kind};

pub use crate::check::expect_no_growth;
pub use crate::child::{ProcessEnd, Task, limit, perform_until, task};
pub use crate::dl::{OpenLibrary, SymbolScope};
pub use crate::fault::{report as report_note, set_current_call};
pub use crate::outcome::{CheckResult, Stop};
pub use crate::verification::verify_checks;

/// Reports to the parent that the plugin's library is loaded. Checks of a plugin whose first check does not report it are
/// skipped.
pub fn report_loaded() {
    channel::send(kind::LOADED, "");
}
