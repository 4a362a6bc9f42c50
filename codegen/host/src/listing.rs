//! Lists the kernels and ops that a plugin registers in each release.

use std::path::Path;

use crate::check::{KERNELS_CHECK, LOAD_CHECK};
use crate::child;
use crate::hung_calls::HungCalls;
use crate::registration::{DefinedOp, LackingOp, RegisteredKernel};
use crate::verification::{RunEnd, VerifyOptions, map_parallel};
use crate::{CheckOutcome, CheckStatus};

/// The kernels and ops that a plugin registers in one release.
#[derive(Debug, Clone)]
pub struct Registrations {
    /// The release.
    pub release: String,
    /// The device type of the plugin's platform, if it has one.
    pub device_type: Option<String>,
    /// The kernels in the order of registration.
    pub kernels: Vec<RegisteredKernel>,
    /// The ops that the plugin defines.
    pub ops: Vec<DefinedOp>,
    /// The ops for which the plugin registers no kernel in this release, and why, if it states them.
    pub lacking: Vec<LackingOp>,
    /// The reason for an empty list: the plugin registers no kernels, or fails.
    pub reason: Option<String>,
    /// True if the plugin does not load or fails before its kernels are registered.
    pub is_failure: bool,
    /// True if the plugin was not loaded because the time limit of the whole run had elapsed.
    pub is_past_run_limit: bool,
}

/// Registers the plugin in a child process for each release, as [`verify`](crate::verify) does, and returns its kernels.
pub fn list_registrations(
    releases: &[String],
    plugin: &Path,
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Vec<Registrations> {
    let hung_calls = HungCalls::default();
    let end = RunEnd::new(options);
    map_parallel(releases, options.jobs(), |release| {
        let run = |check| {
            let skipped = end.skipped_answer(check);
            skipped.unwrap_or_else(|| {
                child::run_in_child(check, plugin, release, options.limit(), &hung_calls)
            })
        };
        let mut answer = run(KERNELS_CHECK);
        let is_loaded = answer.is_loaded;
        if !is_loaded {
            // The check of loading has the reason.
            answer = run(LOAD_CHECK);
        }
        on_outcome(release, &answer.outcome);
        let is_past_run_limit = answer.outcome.is_past_run_limit();
        let is_failure =
            !is_loaded && !is_past_run_limit || answer.outcome.status == CheckStatus::Fail;
        let listed = answer.registered;
        Registrations {
            release: release.clone(),
            device_type: listed.device_type,
            kernels: listed.kernels,
            ops: listed.ops,
            lacking: listed.lacking,
            is_failure: !listed.is_listed && is_failure,
            is_past_run_limit,
            reason: (!listed.is_listed).then_some(answer.outcome.detail),
        }
    })
}
