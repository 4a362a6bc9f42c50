//! Outcomes of checks, and how they are printed.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;

use crate::Error;
use crate::text::{TEXT_LIMIT, clip, escape_control};

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStatus {
    /// The plugin satisfies the check.
    Pass,
    /// It does not satisfy it.
    Fail,
    /// The check does not apply to this plugin, could not run, or repeats the failure of another check.
    Skip,
}

impl fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Skip => "skip",
        })
    }
}

/// One row of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutcome {
    /// The check's id; stable, for programs to read.
    pub check: String,
    /// The status.
    pub status: CheckStatus,
    /// Observation, or the reason of a failure or skip. It has no control characters.
    pub detail: String,
    /// Number of bytes of the plugin's output that were dropped.
    pub dropped_bytes: u64,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {:<24} {}", self.status, self.check, self.detail)?;
        match self.dropped_bytes {
            0 => Ok(()),
            bytes => write!(f, " ({bytes} bytes of output dropped)"),
        }
    }
}

/// Result of a check: an observation, or the reason to stop.
pub type CheckResult = Result<String, Stop>;

/// The reason for which a check stopped.
#[derive(Debug, Clone)]
pub enum Stop {
    /// The plugin does not satisfy the check.
    Fail(String),
    /// The check does not apply to this plugin, or could not run.
    Skip(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Declined(text) => Self::Skip(text),
            other => Self::Fail(other.to_string()),
        }
    }
}

/// The start of the reason for a skip because the time limit of the whole run has elapsed.
pub(crate) const PAST_RUN_LIMIT: &str = "not run: the time limit of the whole run";

impl CheckOutcome {
    /// Returns true if the check was not run because the time limit of the whole run had elapsed.
    pub fn is_past_run_limit(&self) -> bool {
        self.status == CheckStatus::Skip && self.detail.starts_with(PAST_RUN_LIMIT)
    }

    pub(crate) fn new(check: &str, seen: CheckResult) -> Self {
        let (status, detail) = match seen {
            Ok(detail) => (CheckStatus::Pass, detail),
            Err(Stop::Fail(detail)) => (CheckStatus::Fail, detail),
            Err(Stop::Skip(detail)) => (CheckStatus::Skip, detail),
        };
        Self {
            check: check.to_owned(),
            status,
            detail: clip(&escape_control(&detail), TEXT_LIMIT),
            dropped_bytes: 0,
        }
    }
}

/// The details of failed checks. A check that fails with the same detail as an earlier one has the same cause,
/// such as a crash in a function that both call, and is skipped.
#[derive(Debug, Default)]
pub(crate) struct FailureCauses(BTreeMap<String, String>);

impl FailureCauses {
    /// Returns the outcome to report, given the earlier ones.
    pub fn attribute(&mut self, outcome: CheckOutcome) -> CheckOutcome {
        if outcome.status != CheckStatus::Fail {
            return outcome;
        }
        match self.0.get(&outcome.detail) {
            Some(first) => {
                let detail = format!("same failure as {first}");
                CheckOutcome {
                    status: CheckStatus::Skip,
                    detail,
                    ..outcome
                }
            }
            None => {
                let (check, detail) = (outcome.check.clone(), outcome.detail.clone());
                self.0.insert(detail, check);
                outcome
            }
        }
    }
}

/// Returns the summary line: `N passed, N failed, N skipped`.
pub fn summary(outcomes: &[CheckOutcome]) -> String {
    let count = |status| {
        outcomes
            .iter()
            .filter(|outcome| outcome.status == status)
            .count()
    };
    let (passed, failed) = (count(CheckStatus::Pass), count(CheckStatus::Fail));
    format!(
        "{passed} passed, {failed} failed, {} skipped",
        count(CheckStatus::Skip)
    )
}

/// Returns success unless a check failed.
pub fn exit_code(outcomes: &[CheckOutcome]) -> ExitCode {
    match outcomes
        .iter()
        .any(|outcome| outcome.status == CheckStatus::Fail)
    {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_row_and_summary() {
        let rows = [
            CheckOutcome::new("streams", Ok("4 streams".into())),
            CheckOutcome::new("timers", Err(Stop::Skip("no timer functions".into()))),
        ];
        let expected = "pass  streams                  4 streams";
        assert_eq!(rows[0].to_string(), expected);
        assert_eq!(summary(&rows), "1 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn skips_failure_with_same_detail() {
        let mut causes = FailureCauses::default();
        let mut fail = |check: &str, detail: &str| {
            causes.attribute(CheckOutcome::new(check, Err(Stop::Fail(detail.into()))))
        };
        assert_eq!(fail("allocate", "crashed").status, CheckStatus::Fail);
        let second = fail("copies_sync", "crashed");
        assert_eq!(second.status, CheckStatus::Skip);
        assert_eq!(second.detail, "same failure as allocate");
        assert_eq!(fail("synchronization", "hung").status, CheckStatus::Fail);
    }

    #[test]
    fn declining_plugin_is_skipped() {
        let stop = Stop::from(Error::Declined("0 devices".into()));
        let expected = CheckStatus::Skip;
        assert_eq!(CheckOutcome::new("streams", Err(stop)).status, expected);
    }
}
