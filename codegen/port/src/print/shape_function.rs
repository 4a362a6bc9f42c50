//! The shape function of an op. One of TensorFlow that is an expression in Rust is that expression; others return
//! unknown shapes.

use super::imports::Imports;
use super::parameters::{discard, is_parameter_name};
use crate::plan::snake_case;
use crate::registration::OpRegistration;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use sp_ops::{Argument, ArgumentType, OpDef};

/// The parameters and the body of a shape function.
pub struct ShapeFunction {
    /// The parameters.
    pub parameters: Vec<TokenStream>,
    /// The body.
    pub body: TokenStream,
}

/// The parameter for an input.
struct Parameter {
    ident: Ident,
    is_list: bool,
    declaration: TokenStream,
}

impl ShapeFunction {
    /// Returns the shape function of an op.
    pub fn new(op: &OpRegistration, imports: &mut Imports) -> Self {
        let definition = &op.definition;
        let name = op.shape_function.as_deref().unwrap_or_default();
        let inputs = parameters(definition);
        let is_single = matches!(&definition.outputs[..], [it] if !is_list(it));
        match (name.rsplit("::").next(), inputs.first()) {
            (Some("UnchangedShape"), Some(first)) if is_single && !first.is_list => {
                imports.op("Shape");
                let ident = &first.ident;
                Self {
                    body: quote!(Ok(#ident)),
                    parameters: vec![first.declaration.clone()],
                }
            }
            (Some("ScalarShape"), _) if is_single => Self {
                parameters: Vec::new(),
                body: quote!(Ok(Shape::scalar())),
            },
            _ => Self::unknown(definition, inputs, imports),
        }
    }

    /// Returns the shape function that returns unknown shapes.
    fn unknown(definition: &OpDef, inputs: Vec<Parameter>, imports: &mut Imports) -> Self {
        if !inputs.is_empty() {
            imports.op("Shape");
        }
        let names: Vec<Ident> = inputs.iter().map(|it| it.ident.clone()).collect();
        let unused = discard(&names);
        let shapes = definition.outputs.iter().map(|it| match is_list(it) {
            true => quote!(Vec::new()),
            false => quote!(Shape::unknown()),
        });
        let shapes = tuple(shapes.collect());
        Self {
            parameters: inputs.into_iter().map(|it| it.declaration).collect(),
            body: quote!(#unused Ok(#shapes)),
        }
    }
}

/// Returns the parameters for the inputs. Of two lists the C API has no lengths, so the inputs from the first to the last
/// one have none.
fn parameters(definition: &OpDef) -> Vec<Parameter> {
    let inputs = || definition.inputs.iter().enumerate();
    let lists = inputs().filter(|(_, it)| is_list(it));
    let lists: Vec<usize> = lists.map(|(index, _)| index).collect();
    let is_known = |index: usize| match lists[..] {
        [first, .., last] => index < first || index > last,
        _ => true,
    };
    let known = inputs().filter(|(index, _)| is_known(*index));
    known.map(|(_, it)| parameter(it)).collect()
}

fn parameter(input: &Argument) -> Parameter {
    let name = &input.name;
    let ident = sp_expand::ident(&snake_case(name));
    let ty = shape_type(input);
    let declaration = match is_parameter_name(name) {
        true => quote!(#ident: #ty),
        false => quote!(#[op(#name)] #ident: #ty),
    };
    Parameter {
        ident,
        is_list: is_list(input),
        declaration,
    }
}

/// Prints the result's type: a shape for each output, or a tuple of them.
pub fn result_type(definition: &OpDef, imports: &mut Imports) -> TokenStream {
    if !definition.outputs.is_empty() {
        imports.op("Shape");
    }
    tuple(definition.outputs.iter().map(shape_type).collect())
}

fn shape_type(argument: &Argument) -> TokenStream {
    match is_list(argument) {
        true => quote!(Vec<Shape>),
        false => quote!(Shape),
    }
}

fn is_list(argument: &Argument) -> bool {
    !matches!(argument.ty, ArgumentType::Single(_))
}

/// Prints one item as it is, and others as a tuple.
fn tuple(items: Vec<TokenStream>) -> TokenStream {
    match &items[..] {
        [item] => item.clone(),
        items => quote!((#(#items),*)),
    }
}
