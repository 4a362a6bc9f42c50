//! Matches the parameters of a shape function with the op.

use super::parse::ParsedOp;
use crate::kernel::{Function, Role, nearest};
use sp_ops::{Argument, ArgumentType, AttributeKind};
use syn::Type;

/// The value that a parameter of a shape function receives.
pub enum ShapeParameter {
    /// The shape of one input, counted from the first tensor or, after a list, from the last one.
    One(Position),
    /// The shapes of a list, which is between so many tensors.
    List { before: usize, after: usize },
    /// The value of a type attribute.
    Type(String),
    /// The context.
    Context,
}

/// The position of a tensor among all inputs.
#[derive(Clone, Copy)]
pub enum Position {
    /// Counted from the first.
    First(usize),
    /// Counted from the last, which is 1.
    Last(usize),
}

/// Matches the parameters, and appends what does not match to `errors`.
pub fn resolve(
    op: &ParsedOp,
    function: &Function,
    errors: &mut Vec<syn::Error>,
) -> Vec<(ShapeParameter, Type)> {
    for generic in &function.generics {
        let message = "a shape function has no type parameters: read a type attribute by a parameter of its name";
        errors.push(syn::Error::new(generic.span(), message));
    }
    let mut parameters = Vec::new();
    for it in &function.parameters {
        let found = match &it.role {
            Role::Context => Ok(ShapeParameter::Context),
            Role::State => Err("a shape function has no state".to_owned()),
            Role::Op(name) => resolve_name(op, name),
        };
        match found {
            Ok(found) => parameters.push((found, it.ty.clone())),
            Err(message) => errors.push(syn::Error::new(it.ident.span(), message)),
        }
    }
    parameters
}

fn resolve_name(op: &ParsedOp, name: &str) -> Result<ShapeParameter, String> {
    let definition = &op.definition;
    if let Some(index) = definition.inputs.iter().position(|it| it.name == name) {
        return resolve_input(&definition.inputs, index);
    }
    match definition.attribute(name) {
        Some(it) if it.ty.kind == AttributeKind::Type && !it.ty.is_list => {
            Ok(ShapeParameter::Type(name.to_owned()))
        }
        Some(it) => Err(format!(
            "a shape function cannot read `{name}` of type {}: the C API has a function for type attributes only",
            it.ty
        )),
        None if definition.output(name).is_some() => Err(format!(
            "`{name}` is an output: return its shape, several ones as a tuple in the order of the outputs"
        )),
        None => {
            let names = definition.inputs.iter().map(|it| it.name.as_str());
            let nearest = nearest(name, names.clone());
            let nearest = nearest.map_or_else(String::new, |it| format!(", did you mean `{it}`?"));
            let names: Vec<&str> = names.collect();
            Err(format!(
                "`{}` has no input `{name}`{nearest}; its inputs are ({})",
                definition.name,
                names.join(", ")
            ))
        }
    }
}

/// TensorFlow states the number of all input tensors only. So the tensors of two lists cannot be distinguished.
fn resolve_input(inputs: &[Argument], index: usize) -> Result<ShapeParameter, String> {
    let is_list = |it: &Argument| !matches!(it.ty, ArgumentType::Single(_));
    let lists: Vec<usize> = (0..inputs.len())
        .filter(|it| is_list(&inputs[*it]))
        .collect();
    let after = inputs.len() - index;
    match lists[..] {
        [first, .., last] if (first..=last).contains(&index) => Err(format!(
            "the C API has no lengths of lists in a shape function: of two lists, `{}` is not known",
            inputs[index].name
        )),
        [only] if only == index => Ok(ShapeParameter::List {
            before: index,
            after: after - 1,
        }),
        [first, ..] if index > first => Ok(ShapeParameter::One(Position::Last(after))),
        _ => Ok(ShapeParameter::One(Position::First(index))),
    }
}
