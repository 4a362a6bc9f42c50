//! The ops of several releases, from which the table is written.

use crate::line::format_op;
use crate::merge::merge;
use crate::release_ops::ReleaseOps;
use crate::table::{RELEASE, Table};
use sp_ir::{Release, ReleaseSet};
use std::collections::{BTreeMap, BTreeSet};

const HEADING: &str = "\
# TensorFlow's op definitions, without their documentation. Written by `sp-gen import tensorflow --ops`.
# A line is for all releases that have the op, or for those after `@`. The crate sp-ops reads it.
";

/// The ops of several releases.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registry {
    releases: BTreeMap<Release, ReleaseOps>,
}

impl Registry {
    /// Returns the ops of all releases of a table.
    pub fn from_table(table: &Table<'_>) -> Self {
        let mut releases: BTreeMap<Release, ReleaseOps> = BTreeMap::new();
        for version in table.versions() {
            let ops = BTreeMap::new();
            releases.insert(version.key(), ReleaseOps { version, ops });
        }
        for op in table.ops() {
            for (release, ops) in &mut releases {
                if let Some(definition) = op.in_release(*release) {
                    ops.ops.insert(op.name.clone(), definition);
                }
            }
        }
        Self { releases }
    }

    /// Inserts the ops of a release, replacing its earlier ones.
    pub fn insert(&mut self, ops: ReleaseOps) {
        self.releases.insert(ops.version.key(), ops);
    }

    /// Adds the releases of `other` that are absent.
    pub fn add_absent(&mut self, other: Self) {
        for (release, ops) in other.releases {
            self.releases.entry(release).or_insert(ops);
        }
    }

    /// Returns the ops of each release, oldest first.
    pub fn releases(&self) -> &BTreeMap<Release, ReleaseOps> {
        &self.releases
    }

    /// Returns the table as text. Equal registries have equal texts.
    pub fn to_text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (release, ops) in &self.releases {
            text += &format!("{RELEASE}{release} {}\n", ops.version);
        }
        text.push('\n');
        let known: Vec<Release> = self.releases.keys().copied().collect();
        let all = known.first().copied().map(ReleaseSet::since);
        let all = all.unwrap_or_default();
        for name in self.names() {
            let newest_first = self.releases.iter().rev();
            let definitions =
                newest_first.filter_map(|(key, ops)| Some((*key, ops.ops.get(name)?)));
            let op = merge(name, &definitions.collect::<Vec<_>>(), &known);
            text += &format_op(&op, &all);
        }
        text
    }

    fn names(&self) -> BTreeSet<&str> {
        let names = self.releases.values().flat_map(|it| it.ops.keys());
        names.map(String::as_str).collect()
    }
}
