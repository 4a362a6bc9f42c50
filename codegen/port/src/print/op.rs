//! Prints an op: its shape function with its definition.

use super::Input;
use super::doc::{plain, position, print_lines};
use super::elements::rust_name;
use super::imports::Imports;
use super::parameters::is_parameter_name;
use super::signatures::Signatures;
use crate::plan::{PlannedOp, snake_case};
use crate::registration::OpRegistration;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, DataType, ElementType, Flag, OpDef, Value,
};

/// Prints the function of an op, or `None` if it has none.
pub fn print(
    planned: &PlannedOp,
    input: &Input<'_>,
    imports: &mut Imports,
    signatures: &mut Signatures,
) -> Option<TokenStream> {
    let function = format_ident!("{}", planned.function.as_ref().ok()?);
    let op = &input.registrations.ops[planned.registration];
    let definition = &op.definition;
    imports.root("Result");
    imports.op("op");
    let name = format_ident!("{}", definition.name);
    let inputs = definition.inputs.iter().map(print_argument);
    let outputs = definition.outputs.iter().map(print_argument);
    let attributes = definition.attributes.iter().map(print_attribute);
    let flags = definition
        .flags
        .iter()
        .filter_map(|it| print_flag(*it, &op.deprecation));
    let mut parts = vec![quote!(#name(#(#inputs),*) -> (#(#outputs),*))];
    parts.extend(attributes.chain(flags));
    let signature = signatures.add(&parts);
    let doc = print_lines(&lines(op, input));
    let shapes = ShapeFunction::new(op, imports);
    let (parameters, body, result) = (
        &shapes.parameters,
        &shapes.body,
        shape_result(definition, imports),
    );
    Some(quote! {
        #doc
        #[op(#signature)]
        pub fn #function(#(#parameters),*) -> Result<#result> {
            #body
        }
    })
}

fn lines(op: &OpRegistration, input: &Input<'_>) -> Vec<String> {
    let shapes = match &op.shape_function {
        Some(function) if function.is_empty() => {
            " Its shape function in C++ is written in place.".to_owned()
        }
        Some(function) => format!(" Its shape function in C++ is `{function}`."),
        None => String::new(),
    };
    let at = position(input, op.position);
    let mut lines = vec![format!("{} of {at}.{shapes}", op.definition.name)];
    for (attribute, default) in &op.omitted_defaults {
        lines.push(format!(
            "In C++ `{attribute}` has the default `{default}`, which `op` cannot express."
        ));
    }
    lines
}

fn print_argument(argument: &Argument) -> TokenStream {
    let name = any_ident(&argument.name);
    let ty = match &argument.ty {
        ArgumentType::Single(element) => print_element(element),
        ArgumentType::Repeated { count, element } => {
            let (count, element) = (any_ident(count), print_element(element));
            quote!(#count * #element)
        }
        ArgumentType::List(types) => {
            let types = any_ident(types);
            quote!(#types)
        }
    };
    match argument.is_ref {
        true => quote!(#name: Ref(#ty)),
        false => quote!(#name: #ty),
    }
}

fn print_element(element: &ElementType) -> TokenStream {
    match element {
        ElementType::Fixed(ty) => print_type(*ty),
        ElementType::Attribute(name) => {
            let name = any_ident(name);
            quote!(#name)
        }
    }
}

/// Prints the name of a type in Rust, or in TensorFlow if it has none in Rust.
fn print_type(ty: DataType) -> TokenStream {
    let name = rust_name(ty).map_or_else(|| ty.to_string(), str::to_owned);
    let name = any_ident(&name);
    quote!(#name)
}

fn print_attribute(attribute: &Attribute) -> TokenStream {
    let name = any_ident(&attribute.name);
    let ty = match &attribute.allowed {
        AllowedValues::Any => {
            let kind = any_ident(attribute.ty.kind.name());
            quote!(#kind)
        }
        AllowedValues::Types(types) => {
            let types = types.iter().map(|it| print_type(*it));
            quote!({#(#types),*})
        }
        AllowedValues::Strings(strings) => quote!({#(#strings),*}),
    };
    let ty = if attribute.ty.is_list {
        quote!(list(#ty))
    } else {
        ty
    };
    let minimum = attribute.minimum.map(|it| {
        let it = Literal::i64_unsuffixed(it);
        quote!(>= #it)
    });
    let default = attribute.default.as_ref().map(|it| {
        let it = print_value(it);
        quote!(= #it)
    });
    quote!(#name: #ty #minimum #default)
}

fn print_value(value: &Value) -> TokenStream {
    match value {
        Value::String(it) => quote!(#it),
        Value::Int(it) => {
            let it = Literal::i64_unsuffixed(*it);
            quote!(#it)
        }
        Value::Float(it) => {
            let it = Literal::f32_unsuffixed(*it);
            quote!(#it)
        }
        Value::Bool(it) => quote!(#it),
        Value::Type(it) => print_type(*it),
        Value::List(items) => {
            let items = items.iter().map(print_value);
            quote!([#(#items),*])
        }
        Value::Shape(_) | Value::Tensor(_) | Value::Function(_) => TokenStream::new(),
    }
}

fn print_flag(flag: Flag, reason: &str) -> Option<TokenStream> {
    Some(match flag {
        Flag::Deprecated(version) => {
            let (version, reason) = (Literal::i32_unsuffixed(version), plain(reason));
            quote!(deprecated(#version, #reason))
        }
        Flag::DistributedCommunication => return None,
        flag => {
            let name = format_ident!("{}", flag.name());
            quote!(#name)
        }
    })
}

/// Returns an identifier that may be a keyword: `op` accepts `type`, but not `r#type`.
fn any_ident(name: &str) -> Ident {
    format_ident!("{name}")
}

/// The parameters and the body of a shape function.
struct ShapeFunction {
    parameters: Vec<TokenStream>,
    body: TokenStream,
}

impl ShapeFunction {
    /// A shape function of TensorFlow that is one expression in Rust is that expression; others return unknown shapes.
    fn new(op: &OpRegistration, imports: &mut Imports) -> Self {
        let definition = &op.definition;
        let name = op.shape_function.as_deref().unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or_default();
        let inputs = shape_inputs(definition);
        let is_single =
            |it: &[Argument]| matches!(it, [it] if matches!(it.ty, ArgumentType::Single(_)));
        if is_single(&definition.outputs) {
            match (name, inputs.first()) {
                ("UnchangedShape", Some((ident, false, declaration))) => {
                    imports.op("Shape");
                    return Self {
                        parameters: vec![declaration.clone()],
                        body: quote!(Ok(#ident)),
                    };
                }
                ("ScalarShape", _) => {
                    return Self {
                        parameters: Vec::new(),
                        body: quote!(Ok(Shape::scalar())),
                    };
                }
                _ => {}
            }
        }
        if !inputs.is_empty() {
            imports.op("Shape");
        }
        let names: Vec<&Ident> = inputs.iter().map(|(ident, ..)| ident).collect();
        let unused = match &names[..] {
            [] => TokenStream::new(),
            [name] => quote!(let _ = #name;),
            names => quote!(let _ = (#(#names),*);),
        };
        let shapes = definition.outputs.iter().map(|it| match it.ty {
            ArgumentType::Single(_) => quote!(Shape::unknown()),
            _ => quote!(Vec::new()),
        });
        let shapes: Vec<TokenStream> = shapes.collect();
        let shapes = match &shapes[..] {
            [shape] => shape.clone(),
            shapes => quote!((#(#shapes),*)),
        };
        Self {
            parameters: inputs
                .iter()
                .map(|(.., declaration)| declaration.clone())
                .collect(),
            body: quote!(#unused Ok(#shapes)),
        }
    }
}

/// Returns the inputs that a shape function can have as parameters: of two lists the C API has no lengths. The second
/// item is true for a list.
fn shape_inputs(definition: &OpDef) -> Vec<(Ident, bool, TokenStream)> {
    let is_list = |it: &Argument| !matches!(it.ty, ArgumentType::Single(_));
    let lists = definition
        .inputs
        .iter()
        .enumerate()
        .filter(|(_, it)| is_list(it));
    let lists: Vec<usize> = lists.map(|(index, _)| index).collect();
    let is_known = |index: usize| match lists[..] {
        [first, .., last] => index < first || index > last,
        _ => true,
    };
    let inputs = definition
        .inputs
        .iter()
        .enumerate()
        .filter(|(index, _)| is_known(*index));
    let inputs = inputs.map(|(_, it)| {
        let name = &it.name;
        let ident = sp_expand::ident(&snake_case(name));
        let ty = if is_list(it) {
            quote!(Vec<Shape>)
        } else {
            quote!(Shape)
        };
        let declaration = match is_parameter_name(name) {
            true => quote!(#ident: #ty),
            false => quote!(#[op(#name)] #ident: #ty),
        };
        (ident, is_list(it), declaration)
    });
    inputs.collect()
}

/// Prints the result's type: a shape for each output, or a tuple of them.
fn shape_result(definition: &OpDef, imports: &mut Imports) -> TokenStream {
    let types = definition.outputs.iter().map(|it| match it.ty {
        ArgumentType::Single(_) => quote!(Shape),
        _ => quote!(Vec<Shape>),
    });
    let types: Vec<TokenStream> = types.collect();
    if !types.is_empty() {
        imports.op("Shape");
    }
    match &types[..] {
        [ty] => ty.clone(),
        types => quote!((#(#types),*)),
    }
}
