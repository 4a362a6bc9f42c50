//! An op over all releases.

use crate::DataType;
use crate::attribute::{AllowedValues, Attribute};
use crate::definition::{Argument, Flag, OpDef};
use sp_ir::{Release, ReleaseSet};
use std::collections::BTreeMap;

/// An op over all releases. An argument or attribute that changed has an item for each of its declarations, oldest
/// first.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    /// The name.
    pub name: String,
    /// The releases that have the op.
    pub releases: ReleaseSet,
    /// The inputs in order.
    pub inputs: Vec<Declared<Argument>>,
    /// The outputs in order.
    pub outputs: Vec<Declared<Argument>>,
    /// The attributes in TensorFlow's order.
    pub attributes: Vec<Declared<Attribute>>,
    /// The flags.
    pub flags: Vec<Declared<Flag>>,
}

/// An item of an op, and the releases that declare it like this.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared<T> {
    /// The argument, attribute or flag.
    pub item: T,
    /// The releases.
    pub releases: ReleaseSet,
}

impl Op {
    /// Returns the definition in a release, or `None` if the release does not have the op. A release that is newer than
    /// all known ones counts as the newest of these.
    pub fn in_release(&self, release: Release) -> Option<OpDef> {
        self.releases.contains(release).then(|| OpDef {
            name: self.name.clone(),
            inputs: in_release(&self.inputs, release),
            outputs: in_release(&self.outputs, release),
            attributes: in_release(&self.attributes, release),
            flags: in_release(&self.flags, release),
        })
    }

    /// Returns the declarations of the attribute `name`, oldest first.
    pub fn attribute_declarations<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Declared<Attribute>> {
        self.attributes
            .iter()
            .filter(move |it| it.item.name == name)
    }

    /// Returns the types that a type attribute, or the items of a list of types, may have, sorted, each with the releases
    /// that allow it. Returns `None` if there is no such attribute, or if a release allows all types.
    pub fn allowed_types(&self, attribute: &str) -> Option<Vec<(DataType, ReleaseSet)>> {
        let mut allowed: BTreeMap<DataType, ReleaseSet> = BTreeMap::new();
        for declared in self.attribute_declarations(attribute) {
            let AllowedValues::Types(types) = &declared.item.allowed else {
                return None;
            };
            for data_type in types {
                let releases = allowed.entry(*data_type).or_default();
                *releases = releases.union(&declared.releases);
            }
        }
        (!allowed.is_empty()).then(|| allowed.into_iter().collect())
    }
}

fn in_release<T: Clone>(declared: &[Declared<T>], release: Release) -> Vec<T> {
    let declared = declared.iter().filter(|it| it.releases.contains(release));
    declared.map(|it| it.item.clone()).collect()
}
