//! One side of a diff: all that a release, an include root or a file declares, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::Api;

/// The libraries that export a function, by the function's name.
pub type Exports = BTreeMap<String, BTreeSet<String>>;

/// What one side declares and exports.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// What it is called in a report: `2.5`, or a path as it was given.
    pub label: String,
    /// Its APIs, sorted by name.
    pub apis: Vec<Api>,
    /// What its libraries export, where they were read. An empty set is a function of none.
    pub exports: Option<Exports>,
    /// The one target that it was read for; none where its APIs say how others differ, as snapshots
    /// do.
    pub target: Option<String>,
}
