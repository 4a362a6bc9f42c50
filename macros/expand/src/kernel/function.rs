//! The function under the attribute: its parameters with their helper attributes, and its type parameters.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, GenericParam, ItemFn, LitStr, Pat, Type};

/// The function under the attribute.
pub struct Function {
    /// The function without helper attributes.
    pub item: ItemFn,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type parameters in order.
    pub generics: Vec<Ident>,
}

/// A parameter.
pub struct Parameter {
    /// The identifier, for messages; a placeholder if the parameter is a pattern.
    pub ident: Ident,
    /// The type.
    pub ty: Type,
    /// The role.
    pub role: Role,
}

/// The role of a parameter, as its helper attributes state it.
pub enum Role {
    /// An argument or attribute of the op, by this name.
    Op(String),
    /// The state: `#[state]`.
    State,
    /// The context: `#[context]`.
    Context,
}

impl Function {
    /// Splits a function, and appends what is wrong with it to `errors`.
    pub fn new(mut item: ItemFn, errors: &mut Vec<syn::Error>) -> Self {
        let mut parameters = Vec::new();
        for input in &mut item.sig.inputs {
            match parse_parameter(input) {
                Ok(parameter) => parameters.push(parameter),
                Err(error) => errors.push(error),
            }
        }
        let mut generics = Vec::new();
        for generic in &item.sig.generics.params {
            match generic {
                GenericParam::Type(it) => generics.push(it.ident.clone()),
                GenericParam::Lifetime(_) => {}
                GenericParam::Const(it) => errors.push(syn::Error::new(
                    it.ident.span(),
                    "a constant parameter: TensorFlow selects functions by types only",
                )),
            }
        }
        Self {
            item,
            parameters,
            generics,
        }
    }
}

/// Parses a parameter, and removes its helper attributes.
fn parse_parameter(input: &mut FnArg) -> syn::Result<Parameter> {
    let FnArg::Typed(typed) = input else {
        return Err(syn::Error::new_spanned(
            input,
            "expected a function without `self`",
        ));
    };
    let (helpers, others) = std::mem::take(&mut typed.attrs)
        .into_iter()
        .partition(is_helper);
    typed.attrs = others;
    let ident = match &*typed.pat {
        Pat::Ident(pattern) => pattern.ident.clone(),
        // A role that an attribute states needs no name, so a state may be destructured.
        pattern if !helpers.is_empty() => Ident::new("pattern", pattern.span()),
        pattern => {
            return Err(syn::Error::new_spanned(
                pattern,
                "expected a name: parameters are matched with the op by name",
            ));
        }
    };
    let role = parse_role(&ident, &helpers)?;
    Ok(Parameter {
        ident,
        ty: (*typed.ty).clone(),
        role,
    })
}

fn is_helper(attribute: &Attribute) -> bool {
    ["op", "state", "context"]
        .iter()
        .any(|it| attribute.path().is_ident(it))
}

fn parse_role(ident: &Ident, helpers: &[Attribute]) -> syn::Result<Role> {
    match helpers {
        [] => Ok(Role::Op(
            ident.unraw().to_string().trim_start_matches('_').to_owned(),
        )),
        [it] if it.path().is_ident("state") => Ok(Role::State),
        [it] if it.path().is_ident("context") => Ok(Role::Context),
        [it] => Ok(Role::Op(it.parse_args::<LitStr>()?.value())),
        [_, second, ..] => Err(syn::Error::new_spanned(second, "a parameter has one role")),
    }
}
