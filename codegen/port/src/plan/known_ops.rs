//! The ops that a kernel in Rust can name: TensorFlow's, and those of the sources.

use super::PlannedOp;
use super::definition::in_all_releases;
use super::names::is_identifier;
use crate::registration::OpRegistration;
use sp_ops::Op;
use std::collections::BTreeMap;

/// The ops of the sources, and TensorFlow's.
pub struct KnownOps {
    own: BTreeMap<String, Op>,
    /// The reasons why ops of the sources have no definition in Rust.
    rejected: BTreeMap<String, String>,
}

impl KnownOps {
    /// Returns the ops of the sources.
    pub fn new(registrations: &[OpRegistration], planned: &[PlannedOp]) -> Self {
        let (mut own, mut rejected) = (BTreeMap::new(), BTreeMap::new());
        for op in planned {
            let definition = &registrations[op.registration].definition;
            let name = definition.name.clone();
            match &op.function {
                Ok(_) => drop(own.insert(name, in_all_releases(definition))),
                Err(reason) => drop(rejected.insert(name, reason.clone())),
            }
        }
        Self { own, rejected }
    }

    /// Returns an op, and true if the sources define it.
    ///
    /// # Errors
    /// Returns the reason why a kernel cannot name it.
    pub fn find(&self, name: &str) -> Result<(Op, bool), String> {
        if let Some(op) = sp_ops::find(name) {
            return match is_identifier(name) {
                true => Ok((op, false)),
                false => Err("the op's name is no identifier in Rust".to_owned()),
            };
        }
        if let Some(op) = self.own.get(name) {
            return Ok((op.clone(), true));
        }
        Err(match self.rejected.get(name) {
            Some(reason) => format!("the op has no definition in Rust: {reason}"),
            None => "neither TensorFlow nor these sources define the op: name the source with its \
                     `REGISTER_OP` too"
                .to_owned(),
        })
    }
}
