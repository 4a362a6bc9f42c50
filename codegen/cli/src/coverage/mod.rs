//! The ops of a program by the kernel that computed them: the library of the command `coverage`.
//!
//! They are those of a program, of the signatures of a SavedModel, or of a capture of `sp-gen layer` ([`read_capture`]). A text in
//! Python records a program that runs as it is ([`recorder`]): TensorFlow's own metadata has the device and the types of each node, its
//! profiler the calls and the time on the host, a plugin's profiler those on the device, a plugin of sp-gen the calls of each kernel with
//! its owner. [`rows`] joins them.

mod baseline;
mod call_report;
mod captured;
mod device_rows;
mod html;
mod input;
mod json;
mod owners;
mod process;
pub mod recorder;
mod row;
mod rows;
mod sites;
mod text;

pub use baseline::{Baseline, BaselineError, Regression};
pub use captured::{CapturedKernels, read_capture};
pub use html::print as print_html;
pub use input::{CoverageInput, InputError};
pub use json::print as print_json;
pub use process::Process;
pub use row::{Class, Row};
pub use text::{print as print_text, print_regressions};

use std::collections::BTreeSet;

/// The source of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSource {
    /// A program, or the signatures of a SavedModel.
    Program,
    /// A capture, which has the calls of the plugin's kernels only.
    Capture,
}

/// The ops of all processes of a program.
#[derive(Debug)]
pub struct CoverageReport {
    /// The source.
    pub source: ReportSource,
    /// The release of TensorFlow.
    pub release: String,
    /// The device types other than the CPU.
    pub device_types: BTreeSet<String>,
    /// The number of processes that used TensorFlow.
    pub processes: usize,
    /// The rows: first those that a kernel of the author could replace, the longest first.
    pub rows: Vec<Row>,
    /// The processes that could not be recorded, with the reason, and what a capture lacks.
    pub failures: Vec<String>,
}

impl CoverageReport {
    /// Joins the records of processes.
    pub fn new(processes: &[Process]) -> Self {
        let devices = processes.iter().flat_map(Process::device_types);
        let failures = processes.iter().filter_map(Process::failure);
        let release = processes.iter().find_map(|it| it.release.clone());
        Self {
            source: ReportSource::Program,
            release: release.unwrap_or_default(),
            device_types: devices.map(str::to_owned).collect(),
            processes: processes.len(),
            rows: rows::merged(processes.iter().map(rows::of_process)),
            failures: failures.collect(),
        }
    }

    /// Returns true if the source has the ops of a class. A capture has those of the plugin's kernels only.
    pub fn has(&self, class: Class) -> bool {
        self.source == ReportSource::Program || class.is_of_plugin()
    }

    /// Returns the time in nanoseconds of the ops that a kernel of the author computes or could compute.
    pub fn nanoseconds(&self) -> u64 {
        let rows = self.rows.iter().filter(|it| it.class.has_share());
        rows.map(|it| it.nanoseconds).sum()
    }

    /// Returns the part of that time in percent, or a dash for other classes.
    pub fn share(&self, class: Class, nanoseconds: u64) -> String {
        match (class.has_share(), self.nanoseconds()) {
            (false, _) => "-".into(),
            (true, 0) => "0.0%".into(),
            (true, all) => format!("{:.1}%", 100.0 * nanoseconds as f64 / all as f64),
        }
    }

    /// Returns the calls and nanoseconds of a class.
    pub fn sums(&self, class: Class) -> (u64, u64) {
        let rows = self.rows.iter().filter(|it| it.class == class);
        rows.fold((0, 0), |sum, it| (sum.0 + it.calls, sum.1 + it.nanoseconds))
    }

    /// Returns the rows that a kernel of the author could replace.
    pub fn candidates(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|it| it.class.is_candidate())
    }
}

#[cfg(test)]
mod tests;
