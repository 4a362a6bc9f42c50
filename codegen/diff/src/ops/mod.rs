//! Differences between the op definitions of two releases, and their effect on a plugin that registers kernels.

mod catalog;
mod compare;
mod handlers;
#[cfg(test)]
mod tests;

pub use catalog::{OpChange, RULES};
pub use compare::compare;

use crate::finding::{Diff, Finding};
use handlers::JudgedOp;
use sp_ops::ReleaseOps;
use std::collections::BTreeSet;

/// The API of findings about ops.
pub const API: &str = "op_registry";

/// The op definitions of a release, and its name in reports.
#[derive(Debug, Clone, Copy)]
pub struct OpSide<'a> {
    /// The name: `2.12`.
    pub label: &'a str,
    /// The definitions.
    pub ops: &'a ReleaseOps,
}

/// Input or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// An input.
    Input,
    /// An output.
    Output,
}

impl ArgumentKind {
    /// Returns `input` or `output`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// Compares the op definitions of two releases. `target` is the platform of the libraries that registered them.
pub fn diff(old: OpSide<'_>, new: OpSide<'_>, target: &str) -> Diff {
    let names = old.ops.ops.keys().chain(new.ops.ops.keys());
    let names: BTreeSet<&String> = names.collect();
    let mut findings = Vec::new();
    for name in names {
        let changes = compare(old.ops.ops.get(name), new.ops.ops.get(name));
        findings.extend(changes.iter().filter_map(|change| judge(name, change)));
    }
    Diff::new(old.label, new.label, target, findings)
}

fn judge(op: &str, change: &OpChange) -> Option<Finding> {
    let (rule, item) = (change.rule()?, op.into());
    change.finding(&JudgedOp { rule, item })
}
