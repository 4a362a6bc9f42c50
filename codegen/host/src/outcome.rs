//! What a check came to, and how a list of them is printed.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;

use crate::Error;
use crate::text::{TEXT_LIMIT, clip, escape_control};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The plugin does what is asked.
    Pass,
    /// It does not.
    Fail,
    /// The question does not arise for this plugin.
    Skip,
}

impl fmt::Display for Verdict {
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
pub struct Outcome {
    /// The check's id; stable, for programs to read.
    pub check: String,
    /// The end of the process.
    pub status: Verdict,
    /// Observation, or the reason of a failure or skip. It has no control characters.
    pub detail: String,
    /// Bytes of the plugin's output that were not kept.
    pub dropped_bytes: u64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {:<24} {}", self.status, self.check, self.detail)?;
        match self.dropped_bytes {
            0 => Ok(()),
            bytes => write!(f, " ({bytes} bytes of output dropped)"),
        }
    }
}

/// What a check gives: what was seen, or why it stopped.
pub(crate) type Seen = Result<String, Stop>;

/// Why a check stopped.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    Fail(String),
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

impl Outcome {
    pub(crate) fn new(check: &str, seen: Seen) -> Self {
        let (status, detail) = match seen {
            Ok(detail) => (Verdict::Pass, detail),
            Err(Stop::Fail(detail)) => (Verdict::Fail, detail),
            Err(Stop::Skip(detail)) => (Verdict::Skip, detail),
        };
        Self {
            check: check.to_owned(),
            status,
            detail: clip(&escape_control(&detail), TEXT_LIMIT),
            dropped_bytes: 0,
        }
    }
}

/// Sees to it that one cause is one failure: what fails with the very words of an earlier check, such
/// as a crash in a function that both call, was stopped by the same and is skipped.
#[derive(Debug, Default)]
pub(crate) struct Causes(BTreeMap<String, String>);

impl Causes {
    /// The outcome as it is reported, given those that were handed in before.
    pub fn attribute(&mut self, outcome: Outcome) -> Outcome {
        if outcome.status != Verdict::Fail {
            return outcome;
        }
        match self.0.get(&outcome.detail) {
            Some(first) => {
                let detail = format!("stopped as {first} was");
                Outcome {
                    status: Verdict::Skip,
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

/// The closing line: `N passed, N failed, N skipped`.
pub fn summary(outcomes: &[Outcome]) -> String {
    let count = |status| {
        outcomes
            .iter()
            .filter(|outcome| outcome.status == status)
            .count()
    };
    let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
    format!(
        "{passed} passed, {failed} failed, {} skipped",
        count(Verdict::Skip)
    )
}

/// Success, unless something failed.
pub fn exit_code(outcomes: &[Outcome]) -> ExitCode {
    match outcomes
        .iter()
        .any(|outcome| outcome.status == Verdict::Fail)
    {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_and_the_closing_line() {
        let rows = [
            Outcome::new("streams", Ok("4 streams".into())),
            Outcome::new("timers", Err(Stop::Skip("no timer functions".into()))),
        ];
        assert_eq!(
            rows[0].to_string(),
            "pass  streams                  4 streams"
        );
        assert_eq!(summary(&rows), "1 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn one_cause_is_one_failure() {
        let mut causes = Causes::default();
        let mut fail = |check: &str, detail: &str| {
            causes.attribute(Outcome::new(check, Err(Stop::Fail(detail.into()))))
        };
        assert_eq!(fail("allocate", "crashed").status, Verdict::Fail);
        let second = fail("copies_sync", "crashed");
        assert_eq!(second.status, Verdict::Skip);
        assert_eq!(second.detail, "stopped as allocate was");
        assert_eq!(fail("waits", "hung").status, Verdict::Fail);
    }

    #[test]
    fn a_plugin_that_declines_is_skipped() {
        let stop = Stop::from(Error::Declined("0 devices".into()));
        assert_eq!(Outcome::new("streams", Err(stop)).status, Verdict::Skip);
    }
}
