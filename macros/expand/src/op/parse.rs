//! The arguments of `#[op(..)]`: a signature, then attributes as TensorFlow writes them, then properties.

use super::attribute_syntax::parse_attribute;
use crate::kernel::element::data_type_of_name;
use proc_macro2::Ident;
use sp_ops::{Argument, ArgumentType, ElementType, Flag, OpDef, Release, ReleaseOps};
use std::collections::BTreeSet;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, parenthesized};

/// The ops that sp-cpu defines. Each plugin with the SDK expects these definitions.
const SDK_OPS: [&str; 4] = [
    "SpElementwise",
    "SpElementwiseResults",
    "SpRandomBinomial",
    "SpReserveNumbers",
];

/// An op as the author wrote it.
pub struct ParsedOp {
    /// The name.
    pub name: Ident,
    /// The definition.
    pub definition: OpDef,
    /// The reason in `deprecated(VERSION, REASON)`.
    pub deprecation: Option<LitStr>,
    /// The identifiers of inputs, outputs and attributes, in the order of the definition.
    spans: Vec<Ident>,
}

impl ParsedOp {
    /// Appends what TensorFlow would reject when the op is registered, where an error ends the process.
    pub fn check(&self, errors: &mut Vec<syn::Error>) {
        let name = self.name.to_string();
        if !name.starts_with(|it: char| it.is_ascii_uppercase()) || name.contains('_') {
            let message = format!("`{name}` is no name of an op: write it in CamelCase");
            errors.push(syn::Error::new(self.name.span(), message));
        }
        if sp_ops::find(&name).is_some() {
            let message = format!("TensorFlow has an op `{name}` of its own: choose another name");
            errors.push(syn::Error::new(self.name.span(), message));
        }
        if SDK_OPS.contains(&&*name) && std::env::var("CARGO_PKG_NAME").as_deref() != Ok("sp-cpu") {
            let message = format!("the SDK has an op `{name}` of its own: choose another name");
            errors.push(syn::Error::new(self.name.span(), message));
        }
        let (arguments, attributes) = self.spans.split_at(self.argument_count());
        check_names(
            arguments,
            |it| it.is_ascii_lowercase(),
            "a lower-case letter",
            errors,
        );
        check_names(
            attributes,
            |it| it.is_ascii_alphabetic(),
            "a letter",
            errors,
        );
        for it in attributes {
            if data_type_of_name(&it.to_string()).is_some() {
                let message = format!("`{it}` is the name of an element type");
                errors.push(syn::Error::new(it.span(), message));
            }
        }
        self.check_references(errors);
    }

    fn argument_count(&self) -> usize {
        self.definition.inputs.len() + self.definition.outputs.len()
    }

    fn check_references(&self, errors: &mut Vec<syn::Error>) {
        let arguments = self
            .definition
            .inputs
            .iter()
            .chain(&self.definition.outputs);
        for (argument, ident) in arguments.zip(&self.spans) {
            let mut absent = |name: &str, ty: &str| {
                let found = self.definition.attribute(name);
                if found.is_none_or(|it| it.ty.to_string() != ty) {
                    let message = format!(
                        "`{argument}` needs an attribute `{name}` of type {ty}, as in `{name}: {}`",
                        if ty == "int" { "int >= 1" } else { ty }
                    );
                    errors.push(syn::Error::new(ident.span(), message));
                }
            };
            let element = match &argument.ty {
                ArgumentType::Single(element) => element,
                ArgumentType::Repeated { count, element } => {
                    absent(count, "int");
                    element
                }
                ArgumentType::List(_) => continue,
            };
            if let ElementType::Attribute(name) = element {
                absent(name, "type");
            }
        }
    }

    /// Returns the definition as a table of one op.
    pub fn table(&self) -> String {
        let mut registry = sp_ops::Registry::default();
        let version = Release::FIRST_SUPPORTED;
        if let Ok(ops) = ReleaseOps::new(version, [self.definition.clone()]) {
            registry.insert(ops);
        }
        let text = registry.to_text();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// Checks the first characters of names, and that they differ.
fn check_names(
    names: &[Ident],
    is_first: impl Fn(&char) -> bool,
    first: &str,
    errors: &mut Vec<syn::Error>,
) {
    let mut seen = BTreeSet::new();
    for it in names {
        let name = it.unraw().to_string();
        if !name.chars().next().is_some_and(|it| is_first(&it)) {
            let message = format!("`{name}` is no name here: it begins with {first}");
            errors.push(syn::Error::new(it.span(), message));
        }
        if !seen.insert(name) {
            errors.push(syn::Error::new(it.span(), format!("`{it}` occurs twice")));
        }
    }
}

impl Parse for ParsedOp {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse().map_err(|error| {
            let example =
                "begin with a signature, as in `#[op(Scale(x: T) -> (y: T), T: {f32, f64})]`";
            syn::Error::new(error.span(), example)
        })?;
        let mut op = Self {
            definition: OpDef {
                name: name.to_string(),
                ..OpDef::default()
            },
            name,
            deprecation: None,
            spans: Vec::new(),
        };
        op.definition.inputs = op.parse_arguments(input)?;
        if input.parse::<Option<Token![->]>>()?.is_some() {
            op.definition.outputs = op.parse_arguments(input)?;
        }
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            op.parse_item(input)?;
        }
        if !input.is_empty() {
            return Err(input.error("expected `,`"));
        }
        op.resolve_lists();
        Ok(op)
    }
}

impl ParsedOp {
    /// Parses `(x: T, y: N * i32)`.
    fn parse_arguments(&mut self, input: ParseStream<'_>) -> syn::Result<Vec<Argument>> {
        let inner;
        parenthesized!(inner in input);
        let arguments = Punctuated::<SpannedArgument, Token![,]>::parse_terminated(&inner)?;
        let arguments = arguments.into_iter().map(|it| {
            self.spans.push(it.ident);
            it.argument
        });
        Ok(arguments.collect())
    }

    /// Parses an attribute, `alpha: float = 0.0`, or a property, `stateful`.
    fn parse_item(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let ident = Ident::parse_any(input)?;
        if input.parse::<Option<Token![:]>>()?.is_some() {
            let attribute = parse_attribute(ident.unraw().to_string(), input)?;
            self.definition.attributes.push(attribute);
            self.spans.push(ident);
            return Ok(());
        }
        let flag = match ident.to_string().as_str() {
            "stateful" => Flag::Stateful,
            "commutative" => Flag::Commutative,
            "aggregate" => Flag::Aggregate,
            "allows_uninitialized_input" => Flag::AllowsUninitializedInput,
            "deprecated" => self.parse_deprecation(input)?,
            name => {
                let message = format!(
                    "`{name}` is no property of an op: expected stateful, commutative, aggregate, \
                     allows_uninitialized_input, deprecated(VERSION, \"REASON\"), or an attribute, `{name}: TYPE`"
                );
                return Err(syn::Error::new(ident.span(), message));
            }
        };
        self.definition.flags.push(flag);
        Ok(())
    }

    /// Parses `(26, "reason")`.
    fn parse_deprecation(&mut self, input: ParseStream<'_>) -> syn::Result<Flag> {
        let inner;
        parenthesized!(inner in input);
        let version = inner.parse::<syn::LitInt>()?.base10_parse()?;
        inner.parse::<Token![,]>()?;
        self.deprecation = Some(inner.parse()?);
        Ok(Flag::Deprecated(version))
    }

    /// Makes an argument whose type is a list of types such a list.
    fn resolve_lists(&mut self) {
        let OpDef {
            inputs,
            outputs,
            attributes,
            ..
        } = &mut self.definition;
        let is_list = |name: &str| {
            let mut attributes = attributes.iter();
            attributes.any(|it| it.name == name && it.ty.to_string() == "list(type)")
        };
        for argument in inputs.iter_mut().chain(outputs) {
            if let ArgumentType::Single(ElementType::Attribute(name)) = &argument.ty
                && is_list(name)
            {
                argument.ty = ArgumentType::List(name.clone());
            }
        }
    }
}

/// An argument and its identifier.
struct SpannedArgument {
    ident: Ident,
    argument: Argument,
}

impl Parse for SpannedArgument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ident = Ident::parse_any(input)?;
        input.parse::<Token![:]>()?;
        let is_ref = input.fork().call(Ident::parse_any)? == "Ref";
        let ty = match is_ref {
            true => {
                Ident::parse_any(input)?;
                let inner;
                parenthesized!(inner in input);
                parse_argument_type(&inner)?
            }
            false => parse_argument_type(input)?,
        };
        let name = ident.unraw().to_string();
        let argument = Argument { name, ty, is_ref };
        Ok(Self { ident, argument })
    }
}

/// Parses `T`, `f32` or `N * T`.
fn parse_argument_type(input: ParseStream<'_>) -> syn::Result<ArgumentType> {
    let first = Ident::parse_any(input)?;
    if input.parse::<Option<Token![*]>>()?.is_none() {
        return Ok(ArgumentType::Single(element_type(&first)));
    }
    let element = element_type(&Ident::parse_any(input)?);
    let count = first.to_string();
    Ok(ArgumentType::Repeated { count, element })
}

fn element_type(name: &Ident) -> ElementType {
    let name = name.unraw().to_string();
    match data_type_of_name(&name) {
        Some(data_type) => ElementType::Fixed(data_type),
        None => ElementType::Attribute(name),
    }
}
