//! Prints an op: its definition as TensorFlow's text, the caller of its shape function, and the macro for its kernels.

use super::parse::ParsedOp;
use super::shapes::{Position, ShapeParameter};
use crate::kernel::{Function, c_string};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use sp_ops::{AllowedValues, Argument, ArgumentType, Attribute, DataType, Flag, Value};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

/// An op, from which its items are printed.
pub struct Printed<'a> {
    pub op: &'a ParsedOp,
    pub function: &'a Function,
    pub parameters: &'a [(ShapeParameter, Type)],
    /// False if there are errors: the shape function is not called then.
    pub is_valid: bool,
}

impl Printed<'_> {
    /// Prints the op as a type, and the macro of the same name.
    pub fn print(&self) -> TokenStream {
        let (name, visibility) = (&self.op.name, &self.function.item.vis);
        let is_documentation =
            |it: &&syn::Attribute| it.path().is_ident("doc") || it.path().is_ident("cfg");
        let attributes = self.function.item.attrs.iter().filter(is_documentation);
        let conditions: Vec<_> = self
            .function
            .item
            .attrs
            .iter()
            .filter(|it| it.path().is_ident("cfg"))
            .collect();
        let (definition, infer) = (self.print_definition(), self.print_infer());
        let table = self.op.table();
        let kernel_macro = format_ident!("__kernel_of_{}", name, span = name.span());
        // A macro by example cannot be more visible than the crate without `#[macro_export]`.
        let macro_visibility = match visibility {
            syn::Visibility::Public(_) => quote!(pub(crate)),
            other => quote!(#other),
        };
        quote! {
            #(#attributes)*
            #visibility enum #name {}

            #(#conditions)*
            // SAFETY: both are printed from one definition.
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
            unsafe impl ::sp_plugin::__private::DefinedOp for #name {
                const DEFINITION: &'static ::sp_plugin::__private::OpDefinition = &#definition;
                const TEXT: &'static str = #table;

                #infer
            }

            #(#conditions)*
            macro_rules! #kernel_macro {
                ($($kernel:tt)*) => { ::sp_plugin::__private::kernel_of_op! { #table $($kernel)* } };
            }
            #(#conditions)*
            #[allow(unused_imports)]
            #macro_visibility use #kernel_macro as #name;
        }
    }

    fn print_definition(&self) -> TokenStream {
        let definition = &self.op.definition;
        let name = c_string(&definition.name);
        let inputs = definition
            .inputs
            .iter()
            .map(|it| c_string(&argument_text(it)));
        let outputs = definition
            .outputs
            .iter()
            .map(|it| c_string(&argument_text(it)));
        let attributes = definition
            .attributes
            .iter()
            .map(|it| c_string(&attribute_text(it)));
        let has = |flag| definition.flags.contains(&flag);
        let flags = [
            Flag::Stateful,
            Flag::Commutative,
            Flag::Aggregate,
            Flag::AllowsUninitializedInput,
        ]
        .map(has);
        let deprecation = match (&self.op.deprecation, definition.deprecated()) {
            (Some(reason), Some(version)) => {
                let reason = c_string(&reason.value());
                quote!(::core::option::Option::Some((#version, #reason)))
            }
            _ => quote!(::core::option::Option::None),
        };
        quote! {
            ::sp_plugin::__private::OpDefinition::new::<Self>(
                #name,
                [&[#(#inputs),*], &[#(#outputs),*], &[#(#attributes),*]],
                [#(#flags),*],
                #deprecation,
            )
        }
    }

    fn print_infer(&self) -> TokenStream {
        let body = match self.is_valid {
            true => self.print_call(),
            false => quote!(::core::result::Result::Ok(::std::vec::Vec::new())),
        };
        quote! {
            #[allow(unused_variables)]
            fn infer(
                context: &::sp_plugin::op::ShapeContext<'_>,
            ) -> ::sp_plugin::Result<::std::vec::Vec<::std::vec::Vec<::sp_plugin::op::Shape>>> {
                #body
            }
        }
    }

    fn print_call(&self) -> TokenStream {
        let function = &self.function.item.sig.ident;
        let names: Vec<_> = (0..self.parameters.len())
            .map(|it| format_ident!("parameter_{it}"))
            .collect();
        let values = self
            .parameters
            .iter()
            .zip(&names)
            .map(|((parameter, ty), name)| {
                let (value, span) = (print_parameter(parameter), ty.span());
                let found = match parameter {
                    ShapeParameter::Context => {
                        let context = format_ident!("context");
                        return quote_spanned!(span=> let #name: #ty = #context;);
                    }
                    ShapeParameter::One(_) => quote!(::sp_plugin::op::Shape),
                    ShapeParameter::List { .. } => quote!(::std::vec::Vec<::sp_plugin::op::Shape>),
                    ShapeParameter::Type(_) => quote!(::sp_plugin::kernel::DataType),
                };
                // The annotation puts a mismatch at the author's type.
                quote_spanned!(span=> let #name: #ty = { let found: #found = #value; found };)
            });
        let outputs = &self.op.definition.outputs;
        let shapes: Vec<_> = (0..outputs.len())
            .map(|it| format_ident!("output_{it}"))
            .collect();
        let types = outputs.iter().map(|it| match it.ty {
            ArgumentType::Single(_) => quote!(::sp_plugin::op::Shape),
            _ => quote!(::std::vec::Vec<::sp_plugin::op::Shape>),
        });
        let lists = outputs.iter().zip(&shapes).map(|(it, shape)| match it.ty {
            ArgumentType::Single(_) => quote!(::std::vec![#shape]),
            _ => quote!(#shape),
        });
        let (pattern, ty) = match shapes.len() {
            1 => (quote!(#(#shapes)*), quote!(#(#types)*)),
            _ => (quote!((#(#shapes),*)), quote!((#(#types),*))),
        };
        let span = match &self.function.item.sig.output {
            ReturnType::Type(_, ty) => ty.span(),
            ReturnType::Default => function.span(),
        };
        let inferred = format_ident!("inferred");
        let call = quote_spanned! {span=>
            let #inferred: ::sp_plugin::Result<#ty> = #function(#(#names),*);
        };
        quote! {
            #(#values)*
            #call
            let #pattern = #inferred?;
            ::core::result::Result::Ok(::std::vec![#(#lists),*])
        }
    }
}

fn print_parameter(parameter: &ShapeParameter) -> TokenStream {
    match parameter {
        ShapeParameter::One(Position::First(index)) => quote!(context.input(#index)?),
        ShapeParameter::One(Position::Last(index)) => quote!(context.input_from_last(#index)?),
        ShapeParameter::List { before, after } => quote!(context.input_list(#before, #after)?),
        ShapeParameter::Type(name) => {
            let name = c_string(name);
            quote!(context.type_attribute(#name)?)
        }
        ShapeParameter::Context => TokenStream::new(),
    }
}

/// Returns an argument as TensorFlow writes it. A list of types is the name of its attribute there.
fn argument_text(argument: &Argument) -> String {
    match &argument.ty {
        ArgumentType::List(attribute) => format!("{}: {attribute}", argument.name),
        _ => argument.to_string(),
    }
}

/// Returns an attribute as TensorFlow writes it: `T: {float, double} = DT_FLOAT`.
fn attribute_text(attribute: &Attribute) -> String {
    let item = match &attribute.allowed {
        AllowedValues::Any => attribute.ty.kind.name().to_owned(),
        AllowedValues::Types(types) => in_braces(types.iter().map(DataType::to_string)),
        AllowedValues::Strings(strings) => in_braces(strings.iter().map(|it| format!("'{it}'"))),
    };
    let mut text = match attribute.ty.is_list {
        true => format!("{}: list({item})", attribute.name),
        false => format!("{}: {item}", attribute.name),
    };
    if let Some(minimum) = attribute.minimum {
        text += &format!(" >= {minimum}");
    }
    if let Some(default) = &attribute.default {
        text += &format!(" = {}", value_text(default));
    }
    text
}

fn in_braces(items: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Type(it) => format!("DT_{}", it.to_string().to_uppercase()),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(value_text).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
