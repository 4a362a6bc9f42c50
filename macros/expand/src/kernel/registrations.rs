//! A checked kernel, and the types for which it is registered.

use super::arguments::Arguments;
use super::definition::{ArgumentDefinition, AttributeDefinition, Definition};
use super::element::print_fixed;
use super::function::{Function, Parameter};
use super::resolve::{Meaning, Resolved, ResolvedTypes};
use proc_macro2::TokenStream;
use quote::quote;
use sp_ops::{ArgumentType, ElementType, ReleaseSet};
use syn::{LitStr, Path, Type};

/// A checked kernel, from which its registrations are printed.
pub struct Registrations<'a> {
    pub op: &'a Definition,
    /// The op, if the plugin defines it.
    pub own: Option<OwnOp<'a>>,
    pub arguments: &'a Arguments,
    pub function: &'a Function,
    pub resolved: &'a Resolved<'a>,
}

/// An op that the plugin defines.
#[derive(Clone, Copy)]
pub struct OwnOp<'a> {
    /// The path of the op's type, which its macro has too.
    pub path: &'a Path,
    /// The definition that the macro passes on.
    pub definition: &'a LitStr,
}

/// One choice of types, in the order of the listed type attributes.
pub type Choice<'a> = Vec<(&'a Type, &'a ReleaseSet)>;

/// Returns every combination of one type from each list.
pub fn choices<'a>(lists: &'a [ResolvedTypes<'_>]) -> Vec<Choice<'a>> {
    lists.iter().fold(vec![Vec::new()], |rows, list| {
        let extend = |row: &Choice<'a>| {
            let row = row.clone();
            list.types
                .iter()
                .map(move |(ty, releases)| [&row[..], &[(*ty, releases)]].concat())
        };
        rows.iter().flat_map(extend).collect()
    })
}

impl Registrations<'_> {
    /// Prints the function's type parameters as aliases of the chosen types.
    pub fn print_aliases(&self, choice: &Choice<'_>) -> TokenStream {
        let generics = self.function.generics.iter().enumerate();
        let aliases = generics.filter_map(|(index, generic)| {
            let ty = self.chosen(choice, |it| it.parameter == Some(index))?;
            Some(quote!(#[allow(dead_code)] type #generic = #ty;))
        });
        quote!(#(#aliases)*)
    }

    /// Returns the parameters whose values are in the kernel's instance.
    pub fn stored_parameters(&self) -> impl Iterator<Item = (&Parameter, Meaning<'_>)> {
        let parameters = self
            .function
            .parameters
            .iter()
            .zip(self.resolved.meanings.iter().copied());
        parameters.filter(|(_, meaning)| matches!(meaning, Meaning::Attribute(_) | Meaning::State))
    }

    /// Prints the type of an argument for one choice of types.
    pub fn print_element(&self, choice: &Choice<'_>, argument: &ArgumentDefinition) -> TokenStream {
        let marker = quote!(::sp_plugin::kernel::marker);
        let element = |element: &ElementType| match element {
            ElementType::Fixed(data_type) => print_fixed(*data_type),
            ElementType::Attribute(name) => self.print_attribute_type(choice, name),
        };
        let printed = match &argument.argument.ty {
            ArgumentType::Single(it) => element(it),
            ArgumentType::Repeated { element: it, .. } => {
                let element = element(it);
                quote!(#marker::List<#element>)
            }
            ArgumentType::List(_) => quote!(#marker::AnyList),
        };
        match argument.argument.is_ref {
            true => quote!(#marker::Ref<#printed>),
            false => printed,
        }
    }

    fn print_attribute_type(&self, choice: &Choice<'_>, name: &str) -> TokenStream {
        let marker = quote!(::sp_plugin::kernel::marker);
        if let Some(ty) = self.chosen(choice, |it| it.attribute.name == name && !it.is_any) {
            return quote!(#ty);
        }
        if let Some(ty) = self.chosen(choice, |it| it.attribute.name == name) {
            return quote!(<#ty as ::sp_plugin::kernel::ListedType>::Any);
        }
        match self
            .op
            .attribute(name)
            .is_some_and(AttributeDefinition::allows_integers_only)
        {
            true => quote!(#marker::Integers),
            false => quote!(#marker::AnyType),
        }
    }

    /// Returns the type that was chosen for the first listed attribute with this property.
    fn chosen<'b>(
        &self,
        choice: &Choice<'b>,
        is_wanted: impl Fn(&ResolvedTypes<'_>) -> bool,
    ) -> Option<&'b Type> {
        let index = self.resolved.types.iter().position(is_wanted)?;
        choice.get(index).map(|(ty, _)| *ty)
    }
}
