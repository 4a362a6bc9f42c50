//! The attributes of each op of VHLO 1.0 to 1.20. A program has their values only, in the order of their names.

use std::collections::HashMap;

/// Names of ops, a colon, and the names of their attributes.
const TABLE: &str = include_str!("attributes.txt");

/// The names of the attributes of each op that has any.
pub(crate) struct AttributeNames(HashMap<&'static str, &'static str>);

impl AttributeNames {
    pub fn new() -> Self {
        let rows = TABLE.lines().filter_map(|row| row.split_once(": "));
        Self(
            rows.flat_map(|(ops, names)| ops.split(' ').map(move |op| (op, names)))
                .collect(),
        )
    }

    /// Returns the names of an op's attributes, or `None` if the op is unknown.
    pub fn find(&self, op: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
        Some(self.0.get(op)?.split(' '))
    }
}
