//! Prints an op: its shape function with its definition.

use super::Input;
use super::doc::{plain, position, print_lines};
use super::imports::Imports;
use super::shape_function::{ShapeFunction, result_type};
use super::signatures::Signatures;
use crate::plan::PlannedOp;
use crate::registration::OpRegistration;
use crate::rust_types::rust_name;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, DataType, ElementType, Flag, Value,
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
    imports.root("Result");
    imports.op("op");
    let signature = signatures.add(&signature(op));
    let doc = print_lines(&lines(op, input));
    let result = result_type(&op.definition, imports);
    let ShapeFunction { parameters, body } = ShapeFunction::new(op, imports);
    Some(quote! {
        #doc
        #[op(#signature)]
        pub fn #function(#(#parameters),*) -> Result<#result> {
            #body
        }
    })
}

/// Returns the parts of the definition: the signature, the attributes, the properties.
fn signature(op: &OpRegistration) -> Vec<TokenStream> {
    let definition = &op.definition;
    let name = any_ident(&definition.name);
    let inputs = definition.inputs.iter().map(print_argument);
    let outputs = definition.outputs.iter().map(print_argument);
    let flags = definition.flags.iter();
    let mut parts = vec![quote!(#name(#(#inputs),*) -> (#(#outputs),*))];
    parts.extend(definition.attributes.iter().map(print_attribute));
    parts.extend(flags.filter_map(|it| print_flag(*it, &op.deprecation)));
    parts
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
