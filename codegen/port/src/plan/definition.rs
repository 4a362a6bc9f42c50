//! The definition of an op as `#[kernel(..)]` takes it: each argument and attribute once, over all releases.

use crate::plan::names::is_identifier;
use crate::rust_types::{ElementClass, class_of, is_element_name};
use sp_ops::{
    Argument, ArgumentType, Attribute, AttributeKind, DataType, Declared, ElementType, Op, OpDef,
    Release, ReleaseSet,
};

/// An op over all releases.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The inputs.
    pub inputs: Vec<ArgumentDefinition>,
    /// The outputs.
    pub outputs: Vec<ArgumentDefinition>,
    /// The attributes.
    pub attributes: Vec<AttributeDefinition>,
}

/// An argument over all releases.
#[derive(Debug, Clone)]
pub struct ArgumentDefinition {
    /// The newest declaration.
    pub argument: Argument,
    /// True if a release of the op lacks the argument.
    pub is_optional: bool,
}

/// An attribute over all releases.
#[derive(Debug, Clone)]
pub struct AttributeDefinition {
    /// The newest declaration.
    pub attribute: Attribute,
    /// True if a release of the op lacks the attribute, which has no default.
    pub is_optional: bool,
    /// True if all releases allow signed integers only.
    pub has_integers_only: bool,
}

impl Definition {
    /// Returns the definition of `op`.
    pub fn new(op: &Op) -> Self {
        let arguments = |declared: &[Declared<Argument>]| {
            let merged = merge(declared, |it| &it.name);
            let merged = merged
                .into_iter()
                .map(|(argument, releases)| ArgumentDefinition {
                    argument,
                    is_optional: releases != op.releases,
                });
            merged.collect()
        };
        let attributes = merge(&op.attributes, |it| &it.name).into_iter();
        let attributes = attributes.map(|(attribute, releases)| AttributeDefinition {
            is_optional: releases != op.releases && attribute.default.is_none(),
            has_integers_only: has_integers_only(op, &attribute.name),
            attribute,
        });
        Self {
            name: op.name.clone(),
            inputs: arguments(&op.inputs),
            outputs: arguments(&op.outputs),
            attributes: attributes.collect(),
        }
    }

    /// Returns the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&AttributeDefinition> {
        self.attributes.iter().find(|it| it.attribute.name == name)
    }
}

/// Returns the newest declaration of each name, with the releases of all.
fn merge<T: Clone>(declared: &[Declared<T>], name: impl Fn(&T) -> &str) -> Vec<(T, ReleaseSet)> {
    let mut merged: Vec<(T, ReleaseSet)> = Vec::new();
    for Declared { item, releases } in declared {
        match merged
            .iter_mut()
            .find(|(known, _)| name(known) == name(item))
        {
            Some((known, all)) => {
                *known = item.clone();
                *all = all.union(releases);
            }
            None => merged.push((item.clone(), releases.clone())),
        }
    }
    merged
}

fn has_integers_only(op: &Op, attribute: &str) -> bool {
    const INTEGERS: [DataType; 4] = [
        DataType::INT8,
        DataType::INT16,
        DataType::INT32,
        DataType::INT64,
    ];
    let allowed = op.allowed_types(attribute);
    allowed.is_some_and(|types| types.iter().all(|(ty, _)| INTEGERS.contains(ty)))
}

/// Returns the op of a definition that all releases have.
pub fn in_all_releases(definition: &OpDef) -> Op {
    fn declare<T: Clone>(items: &[T]) -> Vec<Declared<T>> {
        let releases = ReleaseSet::since(Release::FIRST_SUPPORTED);
        let declare = |item: &T| Declared {
            item: item.clone(),
            releases: releases.clone(),
        };
        items.iter().map(declare).collect()
    }
    Op {
        name: definition.name.clone(),
        releases: ReleaseSet::since(Release::FIRST_SUPPORTED),
        inputs: declare(&definition.inputs),
        outputs: declare(&definition.outputs),
        attributes: declare(&definition.attributes),
        flags: declare(&definition.flags),
    }
}

/// Returns true for an attribute whose types a kernel lists, and false for a list of types, which it cannot restrict.
///
/// # Errors
/// Returns an error if the op has no such attribute of types.
pub fn is_type_attribute(op: &Op, name: &str) -> Result<bool, String> {
    let declared = op.attribute_declarations(name).last();
    let ty = declared
        .map(|it| it.item.ty)
        .filter(|it| it.kind == AttributeKind::Type);
    ty.map(|it| !it.is_list)
        .ok_or_else(|| format!("the op has no type attribute `{name}`"))
}

/// Returns the types for which a kernel in Rust can be registered.
///
/// # Errors
/// Returns an error if there is none.
pub fn registrable_types(
    op: &Op,
    attribute: &str,
    types: &[DataType],
) -> Result<Vec<DataType>, String> {
    let allowed = op.allowed_types(attribute);
    let is_allowed = |ty: &&DataType| match &allowed {
        Some(allowed) => allowed.iter().any(|(known, _)| known == *ty),
        None => true,
    };
    let mut found: Vec<DataType> = types.iter().filter(is_allowed).copied().collect();
    if found.is_empty() {
        return Err(format!(
            "the op does not allow these types of `{attribute}`"
        ));
    }
    found.retain(|it| it.number() <= LAST_REGISTRABLE.number());
    match found.is_empty() {
        true => Err("TensorFlow registers no kernel of a plugin for these types".to_owned()),
        false => Ok(found),
    }
}

/// Checks that a parameter can have each reference that it has to have: one to a tensor of a type in Rust.
///
/// # Errors
/// Returns an error that names another output.
pub fn check_references(op: &Op, types: &[(&str, Vec<DataType>)]) -> Result<(), String> {
    let is_element = |ty: &DataType| class_of(*ty) == ElementClass::Element;
    let is_possible = |argument: &Argument| match &argument.ty {
        ArgumentType::Single(ElementType::Fixed(ty)) => is_element(ty),
        ArgumentType::Single(ElementType::Attribute(name)) => types
            .iter()
            .any(|(known, types)| known == name && types.iter().all(is_element)),
        _ => false,
    };
    // `ignore` leaves out an input, but has no keywords.
    let inputs = op.inputs.iter().filter(|it| !is_identifier(&it.item.name));
    let mut references = inputs.chain(&op.outputs).filter(|it| it.item.is_ref);
    match references.find(|it| !is_possible(&it.item)) {
        Some(declared) => Err(format!("no parameter can have `{}`", declared.item)),
        None => Ok(()),
    }
}

/// The types after it, floats of 8 bits and integers of 4 bits, are not accepted in a plugin's registration.
const LAST_REGISTRABLE: DataType = DataType::UINT64;

/// Returns the reason why a definition cannot be written in Rust, or `None` if it can.
pub fn find_obstacle(definition: &OpDef) -> Option<String> {
    let name = &definition.name;
    if sp_ops::find(name).is_some() {
        return Some("TensorFlow defines this op".to_owned());
    }
    let is_camel_case = name.starts_with(|it: char| it.is_ascii_uppercase()) && !name.contains('_');
    if !is_camel_case || !is_identifier(name) {
        return Some("an op of a plugin has a name in CamelCase".to_owned());
    }
    let arguments = || definition.inputs.iter().chain(&definition.outputs);
    let is_lower = |it: &&Argument| !it.name.starts_with(|it: char| it.is_ascii_lowercase());
    if let Some(argument) = arguments().find(is_lower) {
        return Some(format!(
            "the name of `{argument}` does not begin with a small letter"
        ));
    }
    let is_other = |it: &&Attribute| {
        !it.name.starts_with(|it: char| it.is_ascii_alphabetic()) || is_type_name(&it.name)
    };
    if let Some(attribute) = definition.attributes.iter().find(is_other) {
        return Some(format!(
            "`{}` is no name of an attribute in Rust",
            attribute.name
        ));
    }
    find_repeated(definition)
}

/// Returns true for the name of an element type in Rust.
fn is_type_name(name: &str) -> bool {
    is_element_name(name) || DataType::from_name(name).is_some()
}

fn find_repeated(definition: &OpDef) -> Option<String> {
    let arguments = definition.inputs.iter().chain(&definition.outputs);
    let names = arguments.map(|it| &it.name);
    let names = names.chain(definition.attributes.iter().map(|it| &it.name));
    let mut seen = std::collections::BTreeSet::new();
    let mut names = names.filter(|it| !seen.insert(it.as_str()));
    names
        .next()
        .map(|name| format!("it has two items of the name `{name}`"))
}
