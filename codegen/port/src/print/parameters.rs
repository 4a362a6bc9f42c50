//! The parameters of a kernel: the op's inputs and outputs, then its attributes.

use super::imports::Imports;
use super::types::{TypePrinter, TypeUse, attribute_type};
use crate::plan::{
    ArgumentDefinition, AttributeDefinition, PlannedKernel, is_snake_case, snake_case,
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_ops::{ArgumentType, ElementType};

/// The parameters of a kernel.
pub struct Parameters {
    /// The lists of types.
    pub types: Vec<TypeUse>,
    /// The parameters: `features: In<'_, f32>`.
    pub declarations: Vec<TokenStream>,
    /// The names.
    pub names: Vec<Ident>,
    /// The inputs that no parameter can have.
    pub ignored: Vec<Ident>,
    /// Properties of arguments that no parameter can express.
    pub notes: Vec<String>,
}

impl Parameters {
    /// Returns the parameters of a kernel.
    pub fn new(kernel: &PlannedKernel, device: Option<&Ident>, imports: &mut Imports) -> Self {
        let mut types: Vec<TypeUse> = kernel.types.iter().map(TypeUse::new).collect();
        let mut parameters = Self {
            types: Vec::new(),
            declarations: Vec::new(),
            names: Vec::new(),
            ignored: Vec::new(),
            notes: Vec::new(),
        };
        parameters.add_arguments(
            kernel,
            &mut TypePrinter {
                types: &mut types,
                definition: &kernel.definition,
                device,
                imports,
            },
        );
        parameters.types = types;
        parameters.add_attributes(kernel, imports);
        parameters.add_context(device, imports);
        parameters.note_host_memory(kernel);
        parameters
    }

    fn add_arguments(&mut self, kernel: &PlannedKernel, printer: &mut TypePrinter<'_>) {
        let is_host = |it: &ArgumentDefinition| kernel.host_memory.contains(&it.argument.name);
        for input in &kernel.definition.inputs {
            let ty = printer.input(&input.argument, is_host(input));
            self.add_input(input, ty);
        }
        for output in &kernel.definition.outputs {
            let ty = printer.output(&output.argument, is_host(output));
            self.add(&output.argument.name, &ty);
        }
    }

    fn add_input(&mut self, input: &ArgumentDefinition, ty: Option<TokenStream>) {
        let argument = &input.argument;
        match ty {
            Some(ty) if input.is_optional => self.add(&argument.name, &quote!(Option<#ty>)),
            Some(ty) => self.add(&argument.name, &ty),
            None => {
                self.ignored.push(sp_expand::ident(&argument.name));
                self.notes
                    .push(format!("No parameter can have the input `{argument}`."));
            }
        }
    }

    fn add_attributes(&mut self, kernel: &PlannedKernel, imports: &mut Imports) {
        let attributes = kernel.definition.attributes.iter();
        for attribute in attributes.filter(|it| !is_implied(kernel, it)) {
            let ty = attribute_type(attribute.attribute.ty, imports);
            let ty = match attribute.is_optional {
                true => quote!(Option<#ty>),
                false => ty,
            };
            self.add(&attribute.attribute.name, &ty);
        }
    }

    fn add_context(&mut self, device: Option<&Ident>, imports: &mut Imports) {
        let Some(device) = device else { return };
        imports.kernel("Context");
        let is_taken = self.names.iter().any(|it| it == "context");
        let ident = format_ident!("{}", if is_taken { "call_context" } else { "context" });
        self.declarations
            .push(quote!(#[context] #ident: &Context<'_, #device>));
        self.names.push(ident);
    }

    /// Adds a parameter. A name that is none in Rust is stated by an attribute.
    fn add(&mut self, name: &str, ty: &TokenStream) {
        let ident = sp_expand::ident(&snake_case(name));
        self.declarations.push(match is_parameter_name(name) {
            true => quote!(#ident: #ty),
            false => quote!(#[op(#name)] #ident: #ty),
        });
        self.names.push(ident);
    }

    /// Notes arguments in host memory that the op does not have, and those that no parameter places there.
    fn note_host_memory(&mut self, kernel: &PlannedKernel) {
        let definition = &kernel.definition;
        for name in &kernel.host_memory {
            let mut arguments = definition.inputs.iter().chain(&definition.outputs);
            let found = arguments.find(|it| it.argument.name == *name);
            let note = match found.map(|it| &it.argument.ty) {
                None => {
                    format!("The op has no argument `{name}`, which the class has in host memory.")
                }
                Some(ArgumentType::List(_)) => {
                    format!("No parameter places the list `{name}` in host memory.")
                }
                Some(_) => continue,
            };
            self.notes.push(note);
        }
    }
}

/// Prints the statement that discards values, so that the compiler does not warn of unused parameters.
pub fn discard(names: &[Ident]) -> TokenStream {
    match names {
        [] => TokenStream::new(),
        [name] => quote!(let _ = #name;),
        names => quote!(let _ = (#(#names),*);),
    }
}

/// Returns true if a parameter of this name stands for the argument of this name.
pub fn is_parameter_name(name: &str) -> bool {
    // A keyword that cannot be raw, such as `self`, gets an underscore.
    let ident = sp_expand::ident(name).to_string();
    is_snake_case(name) && name == snake_case(name) && ident.trim_start_matches("r#") == name
}

/// Returns true for an attribute that the types or the number of an argument's tensors imply.
fn is_implied(kernel: &PlannedKernel, attribute: &AttributeDefinition) -> bool {
    let name = &attribute.attribute.name;
    let is_element = |it: &ElementType| matches!(it, ElementType::Attribute(it) if it == name);
    let uses = |it: &ArgumentDefinition| match &it.argument.ty {
        ArgumentType::Single(element) => is_element(element),
        ArgumentType::Repeated { count, element } => count == name || is_element(element),
        ArgumentType::List(types) => types == name,
    };
    let is_listed = kernel.types.iter().any(|(it, _)| it == name);
    let definition = &kernel.definition;
    is_listed
        || definition
            .inputs
            .iter()
            .chain(&definition.outputs)
            .any(uses)
}
