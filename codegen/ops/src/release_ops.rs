//! The ops of one release.

use crate::definition::OpDef;
use crate::validate::{InvalidOp, validate};
use sp_ir::Release;
use std::collections::BTreeMap;

/// The ops of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseOps {
    /// The exact version.
    pub version: Release,
    /// The ops by name.
    pub ops: BTreeMap<String, OpDef>,
}

impl ReleaseOps {
    /// Returns the ops of a version.
    ///
    /// # Errors
    /// Returns an error for an op that the table cannot contain, and for two ops of the same name.
    pub fn new(version: Release, ops: impl IntoIterator<Item = OpDef>) -> Result<Self, InvalidOp> {
        let mut by_name = BTreeMap::new();
        for op in ops {
            validate(&op)?;
            if let Some(op) = by_name.insert(op.name.clone(), op) {
                return Err(InvalidOp::new(&op.name, "it is defined twice"));
            }
        }
        Ok(Self {
            version,
            ops: by_name,
        })
    }
}
