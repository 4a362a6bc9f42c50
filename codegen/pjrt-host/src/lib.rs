//! A test host for PJRT plugins: it loads a plugin as a release of JAX or TensorFlow does, and checks what the plugin does. A plugin in any
//! language works, since the host calls by the layouts of the IR ([`sp_ir::Api`]), and has no struct of one version.
//!
//! [`verify`] runs every check in a child process, through [`sp_host::child_checks`]. The program's `main` first calls [`child_main`]:
//!
//! ```no_run
//! // The snapshot of the API `pjrt` in a release of TensorFlow.
//! fn read(release: &str) -> Option<sp_ir::Api> {
//! #   None
//! }
//!
//! sp_pjrt_host::child_main(read);
//! let plugin = std::path::Path::new("libmyplugin.so");
//! for row in sp_pjrt_host::run_all_checks("jaxlib:0.10", plugin) {
//!     println!("{row}");
//! }
//! ```
//!
//! The modules have no cycles:
//!
//! ```text
//! check -> program -> session -> buffer -> plugin -> args, call, memory, demand -> layout, hosts
//! ```

mod args;
mod buffer;
mod call;
mod check;
mod demand;
mod hosts;
mod layout;
mod memory;
mod plugin;
mod program;
mod session;
mod table;

use std::path::Path;

use sp_host::child_checks::{self, CheckResult, ProcessEnd, Stop, Task};
use sp_host::{CheckOutcome, CheckStatus, VerifyOptions};
use sp_ir::Api;

pub use check::{CHECKS, PjrtCheck};
pub use hosts::{HOSTS, PjrtHost};
pub use plugin::ENTRY_POINT;
pub use table::read_table;

/// Returns true if this process is a child that was started for a check of this crate.
pub fn is_child() -> bool {
    child_checks::task().is_some_and(|task| PjrtHost::find(&task.release).is_some())
}

/// In a child of [`verify`], runs the check of its task and ends the process; otherwise does nothing. `read` returns the snapshot of the
/// API `pjrt` in a release of TensorFlow.
pub fn child_main(read: impl FnOnce(&str) -> Option<Api>) {
    let Some(task) = child_checks::task() else {
        return;
    };
    let Some(host) = PjrtHost::find(&task.release) else {
        return;
    };
    let end = match task.check.as_str() {
        check::EXIT_CHECK => ProcessEnd::Destructors,
        _ => ProcessEnd::Immediate,
    };
    child_checks::perform_until(end, || run_task(host, &task, read(host.layouts)));
}

fn run_task(host: &'static PjrtHost, task: &Task, api: Option<Api>) -> CheckResult {
    let absent = || {
        Stop::Fail(format!(
            "the snapshot of pjrt in {} is absent",
            host.layouts
        ))
    };
    let api = api.ok_or_else(absent)?;
    let demand = demand::HostDemand::new(host);
    let session = session::Session {
        host,
        demand: &demand,
        api: &api,
        path: &task.plugin,
    };
    if task.check == table::TASK {
        return table::describe(&session);
    }
    let check = CHECKS.iter().find(|check| check.id == task.check);
    let check = check.ok_or_else(|| Stop::Fail(format!("there is no check {}", task.check)))?;
    (check.run)(&session)
}

/// Runs every check on `plugin` as each of `hosts`, and calls `on_outcome` with each outcome as it arrives. The returned ones are in order.
pub fn verify(
    hosts: &[&'static PjrtHost],
    plugin: &Path,
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Vec<(String, CheckOutcome)> {
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let mut rows = child_checks::verify_checks(&checks, &names, plugin, options, on_outcome);
    if options.require_device {
        rows.iter_mut().for_each(|(_, row)| require_device(row));
    }
    rows
}

/// Makes a skipped check of the client a failure.
fn require_device(row: &mut CheckOutcome) {
    if row.check == check::CLIENT_CHECK && row.status == CheckStatus::Skip {
        row.status = CheckStatus::Fail;
        row.detail = format!("a device is required, but there is none: {}", row.detail);
    }
}

/// Runs every check on `plugin` as `host` does, such as `jaxlib:0.10`.
pub fn run_all_checks(host: &str, plugin: &Path) -> Vec<CheckOutcome> {
    let hosts = PjrtHost::find(host);
    let rows = verify(
        hosts.as_slice(),
        plugin,
        &VerifyOptions::default(),
        |_, _| (),
    );
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Runs one check on `plugin` as `host` does.
pub fn run_check(check: &str, host: &str, plugin: &Path) -> CheckOutcome {
    let options = VerifyOptions::default();
    let names = [host.to_owned()];
    let rows = child_checks::verify_checks(&[check], &names, plugin, &options, |_, _| ());
    let row = rows.into_iter().next();
    row.map(|(_, row)| row)
        .expect("one check of one host has one row")
}
