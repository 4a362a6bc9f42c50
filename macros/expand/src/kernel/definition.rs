//! An op as a kernel sees it: each argument and attribute once, over all releases.

use super::element::data_type_of;
use sp_ops::{
    AllowedValues, Argument, Attribute, AttributeType, DataType, Declared, Op, ReleaseSet, Value,
};
use syn::Type;

/// An op over all releases.
pub struct Definition {
    /// The name.
    pub name: String,
    /// The releases that have the op.
    pub releases: ReleaseSet,
    /// The inputs in order.
    pub inputs: Vec<ArgumentDefinition>,
    /// The outputs in order.
    pub outputs: Vec<ArgumentDefinition>,
    /// The attributes in order.
    pub attributes: Vec<AttributeDefinition>,
}

/// An argument over all releases.
pub struct ArgumentDefinition {
    /// The newest declaration.
    pub argument: Argument,
    /// The releases that have the argument.
    pub releases: ReleaseSet,
}

/// An attribute over all releases.
pub struct AttributeDefinition {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: AttributeType,
    /// The newest default.
    pub default: Option<Value>,
    /// The types that a release allows; `None` if one allows all.
    pub types: Option<Vec<(DataType, ReleaseSet)>>,
    /// The strings that a release allows; empty if it allows all.
    pub strings: Vec<String>,
    /// The releases that have the attribute.
    pub releases: ReleaseSet,
}

impl Definition {
    /// Returns the definition of `op`.
    pub fn new(op: &Op) -> Self {
        Self {
            name: op.name.clone(),
            releases: op.releases.clone(),
            inputs: merge_arguments(&op.inputs),
            outputs: merge_arguments(&op.outputs),
            attributes: merge_attributes(op),
        }
    }

    /// Returns the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&AttributeDefinition> {
        self.attributes.iter().find(|it| it.name == name)
    }

    /// Returns the names of all arguments and attributes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let arguments = self
            .inputs
            .iter()
            .chain(&self.outputs)
            .map(|it| it.argument.name.as_str());
        arguments.chain(self.attributes.iter().map(|it| it.name.as_str()))
    }
}

impl AttributeDefinition {
    /// Returns true if the attribute is the type of arguments.
    pub fn is_type(&self) -> bool {
        self.ty.kind == sp_ops::AttributeKind::Type && !self.ty.is_list
    }

    /// Returns true if a release allows the type.
    pub fn allows(&self, ty: &Type) -> bool {
        let data_type = data_type_of(ty);
        let mut allowed = self.types.iter().flatten();
        self.types.is_none() || allowed.any(|(it, _)| Some(*it) == data_type)
    }

    /// Returns true if the attribute allows signed integers only.
    pub fn allows_integers_only(&self) -> bool {
        let integers = [
            DataType::INT8,
            DataType::INT16,
            DataType::INT32,
            DataType::INT64,
        ];
        let is_integer = |(it, _): &(DataType, _)| integers.contains(it);
        self.types
            .as_ref()
            .is_some_and(|types| types.iter().all(is_integer))
    }
}

fn merge_arguments(declared: &[Declared<Argument>]) -> Vec<ArgumentDefinition> {
    let mut merged: Vec<ArgumentDefinition> = Vec::new();
    for Declared { item, releases } in declared {
        match merged.iter_mut().find(|it| it.argument.name == item.name) {
            Some(earlier) => {
                earlier.argument = item.clone();
                earlier.releases = earlier.releases.union(releases);
            }
            None => merged.push(ArgumentDefinition {
                argument: item.clone(),
                releases: releases.clone(),
            }),
        }
    }
    merged
}

fn merge_attributes(op: &Op) -> Vec<AttributeDefinition> {
    let mut merged: Vec<AttributeDefinition> = Vec::new();
    for Declared { item, releases } in &op.attributes {
        match merged.iter_mut().find(|it| it.name == item.name) {
            Some(earlier) => {
                earlier.default = item.default.clone();
                earlier.strings.extend(strings(item));
                earlier.releases = earlier.releases.union(releases);
            }
            None => merged.push(AttributeDefinition {
                name: item.name.clone(),
                ty: item.ty,
                default: item.default.clone(),
                types: op.allowed_types(&item.name),
                strings: strings(item),
                releases: releases.clone(),
            }),
        }
    }
    merged
}

fn strings(attribute: &Attribute) -> Vec<String> {
    match &attribute.allowed {
        AllowedValues::Strings(strings) => strings.clone(),
        _ => Vec::new(),
    }
}
