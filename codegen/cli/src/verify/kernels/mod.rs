//! `sp-gen verify --kernels`: the kernels that a plugin registers in each release, and those that can never run.

pub mod json;
pub mod rules;
pub mod text;

use crate::diagnostic::Result;
use crate::verify::VerifyError;
use rules::KernelFinding;
use sp_host::{CheckOutcome, RegisteredKernel, Registrations, VerifyOptions, list_registrations};
use sp_ir::Release;
use std::collections::BTreeMap;
use std::path::Path;

/// The kernels of a plugin in some releases.
#[derive(Debug)]
pub struct KernelReport {
    /// The path of the plugin, as the user wrote it.
    pub plugin: String,
    /// The releases, the oldest first.
    pub releases: Vec<String>,
    /// The registrations of each release.
    pub registrations: Vec<Registrations>,
    /// The findings, each with its releases.
    pub findings: Vec<(KernelFinding, Vec<String>)>,
}

impl KernelReport {
    /// Returns the kernels in the order of registration, each with the releases that register it.
    pub fn kernels(&self) -> Vec<(&RegisteredKernel, Vec<&str>)> {
        let mut kernels: Vec<(&RegisteredKernel, Vec<&str>)> = Vec::new();
        for registrations in &self.registrations {
            for kernel in &registrations.kernels {
                let release = registrations.release.as_str();
                match kernels.iter_mut().find(|(known, _)| *known == kernel) {
                    // A kernel that is registered twice is a finding.
                    Some((_, releases)) if releases.last() == Some(&release) => {}
                    Some((_, releases)) => releases.push(release),
                    None => kernels.push((kernel, vec![release])),
                }
            }
        }
        kernels
    }

    /// Returns the ops without a kernel in some releases, by these releases and the reason, as the plugin states them.
    pub fn lacking(&self) -> BTreeMap<(Vec<&str>, &str), Vec<&str>> {
        let mut releases: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for it in &self.registrations {
            for lacking in &it.lacking {
                let of_op = releases.entry((&lacking.op, &lacking.reason)).or_default();
                of_op.push(&it.release);
            }
        }
        let mut ops: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for ((op, reason), releases) in releases {
            ops.entry((releases, reason)).or_default().push(op);
        }
        ops
    }

    /// Returns the reasons for which releases have no list, each with its releases.
    pub fn unlisted(&self) -> Vec<(&str, bool, Vec<&str>)> {
        let mut reasons: Vec<(&str, bool, Vec<&str>)> = Vec::new();
        for it in &self.registrations {
            let Some(reason) = it.reason.as_deref() else {
                continue;
            };
            match reasons.iter_mut().find(|(known, ..)| *known == reason) {
                Some((.., releases)) => releases.push(&it.release),
                None => reasons.push((reason, it.is_failure, vec![&it.release])),
            }
        }
        reasons
    }

    /// Returns true if a rule found something, or if the plugin failed in a release.
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty() || self.registrations.iter().any(|it| it.is_failure)
    }

    /// Returns the error of a report with releases that were not reached in the time limit of the run.
    pub fn incomplete(&self) -> Option<VerifyError> {
        let registrations = self.registrations.iter();
        let count = registrations.filter(|it| it.is_past_run_limit).count();
        (count > 0).then_some(VerifyError::RunLimit(count))
    }

    /// Returns the error of a report in which the plugin could be loaded in no release.
    pub fn nothing_checked(&self) -> Option<VerifyError> {
        let is_unlisted = self.registrations.iter().all(|it| it.reason.is_some());
        let mut failures = self.registrations.iter().filter(|it| it.is_failure);
        let reason = failures.next()?.reason.clone().filter(|_| is_unlisted)?;
        Some(VerifyError::NothingChecked(reason))
    }
}

/// Registers the kernels of `plugin` in `chosen` releases, or in all releases that have snapshots if it is empty.
///
/// # Errors
/// Returns an error if the plugin cannot be read, is for another machine or exports no entry point, or if there is no
/// such release.
pub fn list(
    plugin: &Path,
    chosen: &[Release],
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Result<KernelReport> {
    let (shown, path, _) = super::read_plugin(plugin)?;
    let folders = super::readable_folders()?;
    let releases = super::releases(&folders, chosen)?;
    let table = sp_data::ops::load(&folders)?;
    let registrations = list_registrations(&releases, &path, options, on_outcome);
    let mut findings: Vec<(KernelFinding, Vec<String>)> = Vec::new();
    for it in &registrations {
        for finding in rules::find_all(it, &table) {
            match findings.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, releases)) if releases.last() == Some(&it.release) => {}
                Some((_, releases)) => releases.push(it.release.clone()),
                None => findings.push((finding, vec![it.release.clone()])),
            }
        }
    }
    Ok(KernelReport {
        plugin: shown,
        releases,
        registrations,
        findings,
    })
}
