//! Checks of an op definition that comes from outside of the table.

use crate::DataType;
use crate::attribute::{AllowedValues, Attribute};
use crate::cursor::is_word_char;
use crate::definition::{Argument, ArgumentType, ElementType, OpDef};
use crate::kind::{AttributeKind, AttributeType};
use crate::value::Value;
use std::collections::BTreeSet;
use std::fmt;

/// An op definition is not one that TensorFlow accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidOp {
    /// The name of the op.
    pub op: String,
    /// The reason.
    pub reason: String,
}

impl InvalidOp {
    pub(crate) fn new(op: &str, reason: impl Into<String>) -> Self {
        Self {
            op: op.chars().take(100).collect(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for InvalidOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op `{}`: {}", self.op.escape_debug(), self.reason)
    }
}

impl std::error::Error for InvalidOp {}

/// Returns an error for a definition whose names or references are not those of an op.
pub(crate) fn validate(op: &OpDef) -> Result<(), InvalidOp> {
    find_defect(op).map_or(Ok(()), |reason| Err(InvalidOp::new(&op.name, reason)))
}

fn find_defect(op: &OpDef) -> Option<String> {
    let names = |arguments: &[Argument]| -> Vec<String> {
        arguments.iter().map(|it| it.name.clone()).collect()
    };
    let attributes: Vec<String> = op.attributes.iter().map(|it| it.name.clone()).collect();
    let data_type = attributes
        .iter()
        .find(|name| DataType::from_name(name).is_some());
    if let Some(name) = data_type {
        return Some(format!("attribute `{name}` has the name of a type"));
    }
    find_invalid_name(std::slice::from_ref(&op.name))
        .or_else(|| find_invalid_name(&attributes))
        .or_else(|| find_invalid_name(&names(&op.inputs)))
        .or_else(|| find_invalid_name(&names(&op.outputs)))
        .or_else(|| op.attributes.iter().find_map(attribute_defect))
        .or_else(|| {
            let mut arguments = op.inputs.iter().chain(&op.outputs);
            arguments.find_map(|argument| argument_defect(argument, op))
        })
}

/// Returns the defect of a list of names: one that is no word, or that occurs twice.
fn find_invalid_name(names: &[String]) -> Option<String> {
    let is_word = |name: &str| !name.is_empty() && name.chars().all(is_word_char);
    let mut seen = BTreeSet::new();
    names.iter().find_map(|name| match is_word(name) {
        false => Some(format!("`{}` is not a name", name.escape_debug())),
        true => (!seen.insert(name)).then(|| format!("`{name}` occurs twice")),
    })
}

fn attribute_defect(attribute: &Attribute) -> Option<String> {
    let kind = attribute.ty.kind;
    let allows = match attribute.allowed {
        AllowedValues::Any => true,
        AllowedValues::Types(_) => kind == AttributeKind::Type,
        AllowedValues::Strings(_) => kind == AttributeKind::String,
    };
    let default = attribute.default.as_ref();
    let is_valid = allows && default.is_none_or(|value| has_type(value, attribute.ty));
    let reason = || {
        format!(
            "values of attribute `{}` are not of its type",
            attribute.name
        )
    };
    (!is_valid).then(reason)
}

fn has_type(value: &Value, ty: AttributeType) -> bool {
    match (value, ty.is_list) {
        (Value::List(items), true) => items.iter().all(|item| item.kind() == Some(ty.kind)),
        (value, is_list) => !is_list && value.kind() == Some(ty.kind),
    }
}

fn argument_defect(argument: &Argument, op: &OpDef) -> Option<String> {
    let element = |element: &ElementType| match element {
        ElementType::Fixed(_) => None,
        ElementType::Attribute(name) => Some((name.clone(), "type")),
    };
    let referenced = match &argument.ty {
        ArgumentType::Single(ty) => vec![element(ty)],
        ArgumentType::Repeated { count, element: ty } => {
            vec![Some((count.clone(), "int")), element(ty)]
        }
        ArgumentType::List(name) => vec![Some((name.clone(), "list(type)"))],
    };
    let is_absent = |(name, ty): &(String, &str)| {
        op.attribute(name)
            .is_none_or(|attribute| attribute.ty.to_string() != *ty)
    };
    let absent = referenced.into_iter().flatten().find(is_absent);
    absent.map(|(name, ty)| {
        let name = name.escape_debug();
        format!(
            "argument `{}` needs an attribute `{name}` of type {ty}",
            argument.name
        )
    })
}
