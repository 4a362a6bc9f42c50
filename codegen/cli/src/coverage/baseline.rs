//! The comparison with the report of an earlier run.

use super::json::SCHEMA;
use super::{Class, CoverageReport};
use serde::{Deserialize, Serialize};
use sp_system::{errors, input};
use std::collections::HashMap;
use std::io;
use std::path::Path;

use miette::Diagnostic;
use thiserror::Error;

/// The most bytes of a report.
const MAX_REPORT: u64 = 64 << 20;

errors! {
    /// A baseline that cannot be read.
    #[derive(Debug, Error, Diagnostic)]
    pub enum BaselineError in coverage {
        /// The file cannot be read.
        Unreadable { path: String, reason: io::Error } = unreadable_baseline: ("{path}: {reason}"),
            help("name a file that `sp-gen coverage --format json` has printed");

        /// The file is not a report.
        Invalid { path: String, reason: String } = invalid_baseline: ("{path} is not a report of coverage: {reason}"),
            help("name a file that `sp-gen coverage --format json` has printed");
    }
}

#[derive(Deserialize)]
struct BaselineJson {
    schema: u32,
    #[serde(default)]
    unknown_classes: Vec<Class>,
    rows: Vec<BaselineRow>,
}

#[derive(Deserialize)]
struct BaselineRow {
    op: String,
    types: String,
    class: Class,
}

/// The classes of an earlier run, by op and types.
#[derive(Debug)]
pub struct Baseline {
    classes: HashMap<(String, String), Class>,
    /// The classes that it does not have, since it is the report of a capture.
    unknown: Vec<Class>,
}

/// An op that is computed by a worse kernel than before.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Regression {
    /// The op.
    pub op: String,
    /// Its types.
    pub types: String,
    /// The kernel before, or `None` if the op did not run with these types.
    pub before: Option<Class>,
    /// The kernel now.
    pub now: Class,
}

impl Baseline {
    /// Reads a report that the command printed as JSON.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not such a report.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let name = || path.display().to_string();
        let bytes = input::read(path, MAX_REPORT).map_err(|reason| BaselineError::Unreadable {
            path: name(),
            reason,
        })?;
        let invalid = |reason: String| BaselineError::Invalid {
            path: name(),
            reason,
        };
        let json: BaselineJson =
            serde_json::from_slice(&bytes).map_err(|it| invalid(it.to_string()))?;
        if json.schema != SCHEMA {
            return Err(invalid(format!(
                "schema {}, expected {SCHEMA}",
                json.schema
            )));
        }
        let mut classes = HashMap::new();
        for row in json.rows {
            let worst = classes.entry((row.op, row.types)).or_insert(row.class);
            *worst = row.class.max(*worst);
        }
        Ok(Self {
            classes,
            unknown: json.unknown_classes,
        })
    }

    /// Returns the class up to which a row is none of the regressions.
    fn limit(&self, row: &super::Row) -> Class {
        // These types may have run before with a kernel of an unknown class.
        let unknown = || self.unknown.contains(&row.class).then_some(row.class);
        let known = self.own(row).or_else(unknown).or_else(|| self.of_op(row));
        known.unwrap_or(Class::Reference)
    }

    /// Returns the class of the row's op and types.
    fn own(&self, row: &super::Row) -> Option<Class> {
        let key = (row.op.clone(), row.types.clone());
        self.classes.get(&key).copied()
    }

    /// Returns the worst class of the row's op: kernels of one op may state other types.
    fn of_op(&self, row: &super::Row) -> Option<Class> {
        let rows = self.classes.iter().filter(|((op, _), _)| *op == row.op);
        rows.map(|(_, class)| *class).max()
    }

    /// Returns the ops that are computed by a worse kernel than in the baseline. A new op counts if no kernel on the device computes
    /// it, or one with staging copies.
    pub fn regressions(&self, report: &CoverageReport) -> Vec<Regression> {
        let rows = report.rows.iter().filter(|row| row.class > self.limit(row));
        let regression = |row: &super::Row| Regression {
            op: row.op.clone(),
            types: row.types.clone(),
            before: self.own(row),
            now: row.class,
        };
        rows.map(regression).collect()
    }
}
