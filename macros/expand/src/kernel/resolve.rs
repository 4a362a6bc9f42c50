//! Matches attribute and function with the op, and collects everything that does not match.

use super::arguments::{Arguments, TypeList};
use super::definition::{AttributeDefinition, Definition};
use super::element::{data_type_of, rust_name};
use super::function::{Function, Parameter, Role};
use super::nearest::nearest;
use super::parameter_type::mismatch;
use super::signature;
use proc_macro2::Ident;
use sp_ops::ReleaseSet;
use std::collections::BTreeSet;
use syn::Type;

/// A kernel that matches its op.
pub struct Resolved<'a> {
    /// The listed type attributes.
    pub types: Vec<ResolvedTypes<'a>>,
    /// The meaning of each parameter.
    pub meanings: Vec<Meaning<'a>>,
}

/// A listed type attribute.
pub struct ResolvedTypes<'a> {
    /// The attribute.
    pub attribute: &'a AttributeDefinition,
    /// The position of the type parameter that the types replace.
    pub parameter: Option<usize>,
    /// True for `any`.
    pub is_any: bool,
    /// The types, each with the releases that allow it.
    pub types: Vec<(&'a Type, ReleaseSet)>,
}

/// The meaning of a parameter.
#[derive(Clone, Copy)]
pub enum Meaning<'a> {
    /// The input at this position.
    Input(usize),
    /// The output at this position.
    Output(usize),
    /// An attribute.
    Attribute(&'a AttributeDefinition),
    /// The state.
    State,
    /// The context.
    Context,
}

/// Matches a kernel with its op, and appends everything that does not match to `errors`.
pub fn resolve<'a>(
    op: &'a Definition,
    arguments: &'a Arguments,
    function: &'a Function,
    errors: &mut Vec<syn::Error>,
) -> Resolved<'a> {
    let types = arguments
        .types
        .iter()
        .filter_map(|it| resolve_types(op, it, function, errors))
        .collect();
    let meanings = function.parameters.iter().filter_map(|it| match &it.role {
        Role::State => Some(Meaning::State),
        Role::Context => Some(Meaning::Context),
        Role::Op(name) => resolve_name(op, name, it, errors),
    });
    let resolved = Resolved {
        meanings: meanings.collect(),
        types,
    };
    check_generics(op, function, &resolved, errors);
    check_ignored(op, arguments, errors);
    check_distinct(function, errors);
    // A misspelt parameter is reported once.
    if resolved.meanings.len() == function.parameters.len() {
        check_complete(op, arguments, function, &resolved, errors);
    }
    resolved
}

fn resolve_types<'a>(
    op: &'a Definition,
    list: &'a TypeList,
    function: &Function,
    errors: &mut Vec<syn::Error>,
) -> Option<ResolvedTypes<'a>> {
    let name = list.attribute.to_string();
    let attributes = || {
        op.attributes
            .iter()
            .filter(|it| it.is_type())
            .map(|it| it.name.as_str())
    };
    let Some(attribute) = op.attribute(&name).filter(|it| it.is_type()) else {
        let known: Vec<&str> = attributes().collect();
        let message = format!(
            "`{}` has no type attribute `{name}`{}; it has {}",
            op.name,
            suggestion(&name, attributes()),
            or_none(&known)
        );
        errors.push(syn::Error::new(list.attribute.span(), message));
        return None;
    };
    let bound = list.parameter.as_ref().unwrap_or(&list.attribute);
    let parameter = function.generics.iter().position(|it| it == bound);
    if let (Some(bound), None) = (&list.parameter, parameter) {
        errors.push(syn::Error::new(
            bound.span(),
            format!("the function has no type parameter `{bound}`"),
        ));
    }
    let is_listed = |ty: &&Type| !list.is_all || attribute.allows(ty);
    let types = list.types.iter().filter(is_listed);
    let types = types.map(|ty| (ty, allowing_releases(op, attribute, ty, errors)));
    Some(ResolvedTypes {
        attribute,
        parameter: parameter.filter(|_| !list.is_any),
        is_any: list.is_any,
        types: types.collect(),
    })
}

/// Returns the releases whose op allows the type. A type with a name that is not known is checked by its constant.
fn allowing_releases(
    op: &Definition,
    attribute: &AttributeDefinition,
    ty: &Type,
    errors: &mut Vec<syn::Error>,
) -> ReleaseSet {
    let (Some(allowed), Some(data_type)) = (&attribute.types, data_type_of(ty)) else {
        return attribute.releases.clone();
    };
    if let Some((_, releases)) = allowed.iter().find(|(it, _)| *it == data_type) {
        return releases.clone();
    }
    errors.push(syn::Error::new_spanned(
        ty,
        types_message(op, attribute, &rust_name(data_type)),
    ));
    ReleaseSet::default()
}

/// Returns the message for a type that no release allows.
pub fn types_message(op: &Definition, attribute: &AttributeDefinition, found: &str) -> String {
    let allowed = attribute
        .types
        .iter()
        .flatten()
        .map(|(it, _)| rust_name(*it));
    let allowed: Vec<String> = allowed.collect();
    format!(
        "`{}` has no kernels for `{found}`: {} is one of {}",
        op.name,
        attribute.name,
        allowed.join(", ")
    )
}

fn resolve_name<'a>(
    op: &'a Definition,
    name: &str,
    parameter: &Parameter,
    errors: &mut Vec<syn::Error>,
) -> Option<Meaning<'a>> {
    let input = op
        .inputs
        .iter()
        .position(|it| it.argument.name == name)
        .map(Meaning::Input);
    let output = || {
        op.outputs
            .iter()
            .position(|it| it.argument.name == name)
            .map(Meaning::Output)
    };
    let attribute = || op.attribute(name).map(Meaning::Attribute);
    let found = input.or_else(output).or_else(attribute);
    if found.is_none() {
        let message = format!(
            "`{}` has no `{name}`{}; a kernel of it may have the parameters ({})",
            op.name,
            suggestion(name, op.names()),
            signature::parameters(op)
        );
        errors.push(syn::Error::new(parameter.ident.span(), message));
    }
    if let Some(Meaning::Attribute(attribute)) = &found
        && let Some(message) = mismatch(&op.name, attribute, &parameter.ty)
    {
        errors.push(syn::Error::new_spanned(&parameter.ty, message));
    }
    found
}

fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |it| format!(", did you mean `{it}`?"))
}

fn or_none(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// Checks that one type attribute binds each type parameter.
fn check_generics(
    op: &Definition,
    function: &Function,
    resolved: &Resolved<'_>,
    errors: &mut Vec<syn::Error>,
) {
    for (index, generic) in function.generics.iter().enumerate() {
        let binding = resolved
            .types
            .iter()
            .filter(|it| it.parameter == Some(index))
            .count();
        let message = match binding {
            1 => continue,
            0 => format!(
                "the type parameter `{generic}` is not bound: list its types in the attribute, as in `{}`",
                example(op, generic)
            ),
            _ => format!("the type parameter `{generic}` is bound twice"),
        };
        errors.push(syn::Error::new(generic.span(), message));
    }
}

fn example(op: &Definition, generic: &Ident) -> String {
    let mut attributes = op.attributes.iter().filter(|it| it.is_type());
    match attributes.clone().find(|it| generic == &it.name) {
        Some(it) => format!("{} = [f32]", it.name),
        None => {
            let first = attributes.next().map_or("T", |it| it.name.as_str());
            format!("{first}: {generic} = [f32]")
        }
    }
}

/// Checks that no two parameters are the same argument or attribute.
fn check_distinct(function: &Function, errors: &mut Vec<syn::Error>) {
    let mut names = BTreeSet::new();
    for it in &function.parameters {
        if let Role::Op(name) = &it.role
            && !names.insert(name)
        {
            let message = format!("`{name}` is a parameter twice");
            errors.push(syn::Error::new(it.ident.span(), message));
        }
    }
}

/// Checks that the op has each ignored input.
fn check_ignored(op: &Definition, arguments: &Arguments, errors: &mut Vec<syn::Error>) {
    for name in &arguments.ignore {
        if !op.inputs.iter().any(|it| name == &it.argument.name) {
            let inputs = op.inputs.iter().map(|it| it.argument.name.as_str());
            let message = format!(
                "`{}` has no input `{name}`{}",
                op.name,
                suggestion(&name.to_string(), inputs)
            );
            errors.push(syn::Error::new(name.span(), message));
        }
    }
}

/// Checks that each input is a parameter or ignored, and that each output is a parameter.
fn check_complete(
    op: &Definition,
    arguments: &Arguments,
    function: &Function,
    resolved: &Resolved<'_>,
    errors: &mut Vec<syn::Error>,
) {
    let span = function.item.sig.ident.span();
    let is_input = |index: usize| {
        resolved
            .meanings
            .iter()
            .any(|it| matches!(it, Meaning::Input(it) if *it == index))
    };
    let is_output = |index: usize| {
        resolved
            .meanings
            .iter()
            .any(|it| matches!(it, Meaning::Output(it) if *it == index))
    };
    for (index, it) in op
        .outputs
        .iter()
        .enumerate()
        .filter(|(index, _)| !is_output(*index))
    {
        let message = format!(
            "output {index} of `{}` is not set: `{}` is no parameter",
            op.name, it.argument
        );
        errors.push(syn::Error::new(span, message));
    }
    let ignored = |name: &str| arguments.ignore.iter().any(|it| it == name);
    let unread = op
        .inputs
        .iter()
        .enumerate()
        .filter(|(index, it)| !is_input(*index) && !ignored(&it.argument.name));
    let unread: Vec<&str> = unread.map(|(_, it)| it.argument.name.as_str()).collect();
    if !unread.is_empty() {
        let names = unread.join(", ");
        let message = format!(
            "inputs of `{}` are not read: add parameters for them, or `ignore = [{names}]`",
            op.name
        );
        errors.push(syn::Error::new(span, message));
    }
}
