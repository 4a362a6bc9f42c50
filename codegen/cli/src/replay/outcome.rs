//! The outcome of one call.

use serde::{Deserialize, Serialize};

/// The result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All that was captured is equal.
    Equal,
    /// An output, a variable or the kernel's own failure is another one.
    Different,
    /// The call failed, crashed or did not return.
    Failed,
    /// The call has nothing that can be compared.
    NotCompared,
}

impl Verdict {
    /// Returns true for a call that is a finding.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Different | Self::Failed)
    }
}

/// A call of the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutcome {
    /// Its number in the file, from 1 on.
    pub call: u64,
    /// The op type.
    pub op: String,
    /// The name of the node.
    pub node: String,
    /// Types and shapes of the inputs.
    pub inputs: String,
    /// The result.
    pub verdict: Verdict,
    /// The difference or failure, or the reason why nothing was compared.
    pub detail: String,
    /// Time of the kernel when it was captured.
    pub captured_nanoseconds: u64,
    /// Time of the kernel now; 0 if it was not called.
    pub replayed_nanoseconds: u64,
}

/// A line that a child process writes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Line {
    /// A call begins.
    Begin(CallOutcome),
    /// A call has ended.
    End(CallOutcome),
    /// All calls have ended.
    Done,
}
