//! The signature of an op: as parameters of a kernel, for messages, and as documentation.

use super::definition::{ArgumentDefinition, AttributeDefinition, Definition};
use super::element::rust_name;
use sp_ops::{ArgumentType, AttributeKind, DataType, ElementType};
use std::fmt::Write;

/// Returns the parameters of a kernel of the op, as one can paste them.
pub fn parameters(op: &Definition) -> String {
    let inputs = op
        .inputs
        .iter()
        .map(|it| parameter(op, it, ["In", "HostIn", "InList"]));
    let outputs = op
        .outputs
        .iter()
        .map(|it| parameter(op, it, ["Out", "HostOut", "OutList"]));
    let attributes = op.attributes.iter().filter(|it| !is_implied(op, it));
    let attributes = attributes.map(|it| format!("{}: {}", it.name, attribute_type(it)));
    let all: Vec<String> = inputs.chain(outputs).chain(attributes).collect();
    all.join(", ")
}

/// Returns true for an attribute that is the type or the number of an argument's tensors.
fn is_implied(op: &Definition, attribute: &AttributeDefinition) -> bool {
    let uses = |it: &ArgumentDefinition| match &it.argument.ty {
        ArgumentType::Repeated { count, .. } => *count == attribute.name,
        ArgumentType::List(types) => *types == attribute.name,
        ArgumentType::Single(_) => false,
    };
    attribute.is_type() || op.inputs.iter().chain(&op.outputs).any(uses)
}

fn parameter(
    op: &Definition,
    argument: &ArgumentDefinition,
    [single, host, list]: [&str; 3],
) -> String {
    let (name, any) = (
        &argument.argument.name,
        if single == "In" {
            "AnyInList"
        } else {
            "AnyOutList"
        },
    );
    let ty = match &argument.argument.ty {
        ArgumentType::Single(ElementType::Fixed(DataType::RESOURCE)) => {
            "ResourceHandle<'_>".to_owned()
        }
        ArgumentType::Single(ElementType::Fixed(DataType::STRING)) => format!("{host}<'_, Text>"),
        ArgumentType::Single(ElementType::Attribute(it)) if is_index(op, it, single) => {
            format!("{host}<'_, Integer>")
        }
        ArgumentType::Single(element) => format!("{single}<'_, {}>", element_name(element)),
        ArgumentType::Repeated { element, .. } => format!("{list}<'_, {}>", element_name(element)),
        ArgumentType::List(_) => format!("{any}<'_>"),
    };
    format!("{name}: {ty}")
}

fn is_index(op: &Definition, attribute: &str, single: &str) -> bool {
    let is_index = op
        .attribute(attribute)
        .is_some_and(AttributeDefinition::allows_integers_only);
    is_index && single == "In"
}

fn element_name(element: &ElementType) -> String {
    match element {
        ElementType::Fixed(data_type) => rust_name(*data_type),
        ElementType::Attribute(name) => name.clone(),
    }
}

fn attribute_type(attribute: &AttributeDefinition) -> String {
    let item = match attribute.ty.kind {
        AttributeKind::Int => "i64",
        AttributeKind::Float => "f32",
        AttributeKind::Bool => "bool",
        AttributeKind::String if attribute.ty.is_list => "String",
        AttributeKind::String => "&str",
        AttributeKind::Type => "DataType",
        AttributeKind::Shape if attribute.ty.is_list => "PartialShape",
        AttributeKind::Shape => "&PartialShape",
        AttributeKind::Tensor if attribute.ty.is_list => "TensorValue",
        AttributeKind::Tensor => "&TensorValue",
        AttributeKind::Function if attribute.ty.is_list => "FunctionName",
        AttributeKind::Function => "&FunctionName",
    };
    match attribute.ty.is_list {
        true => format!("&[{item}]"),
        false => item.to_owned(),
    }
}

/// Returns the documentation of the op.
pub fn document(op: &Definition) -> String {
    let mut text = format!("# The op {}\n\n", op.name);
    for (role, arguments) in [("input", &op.inputs), ("output", &op.outputs)] {
        for it in arguments {
            // Writing to a String does not fail.
            let _ = writeln!(text, "- {role} `{}`", it.argument);
        }
    }
    for it in &op.attributes {
        let _ = writeln!(text, "- attribute {}", document_attribute(it));
    }
    text
}

fn document_attribute(attribute: &AttributeDefinition) -> String {
    let list = if attribute.ty.is_list { "list of " } else { "" };
    let mut text = format!("`{}`: {list}{}", attribute.name, attribute.ty.kind.name());
    let types = attribute
        .types
        .iter()
        .flatten()
        .map(|(it, _)| it.to_string());
    let values: Vec<String> = types.chain(attribute.strings.iter().cloned()).collect();
    if !values.is_empty() {
        text += &format!(", one of {}", values.join(", "));
    }
    if let Some(default) = &attribute.default {
        text += &format!("; default `{default}`");
    }
    match attribute.releases.first() {
        Some(first) if first > sp_ir::Release::FIRST_SUPPORTED => format!("{text}; since {first}"),
        _ => text,
    }
}
