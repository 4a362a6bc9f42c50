//! Prints the line of a kernel in the library's section: the functions of the host without which it is not registered.

use super::definition::ArgumentDefinition;
use super::registrations::{Choice, Registrations};
use super::resolve::Meaning;
use super::value::{is_in_every_host, print_state, print_stored};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

impl Registrations<'_> {
    /// Prints the static `__OPTIONAL`. Parameters of the first and the last choice of types stand for all: lists of types
    /// have strings, whose functions not every host has, at an end.
    pub fn print_optional(&self, choices: &[Choice<'_>]) -> TokenStream {
        let ends = [
            choices.first(),
            choices.last().filter(|_| choices.len() > 1),
        ];
        let parameters = ends
            .into_iter()
            .flatten()
            .map(|it| self.print_functions(it));
        let needs = self
            .arguments
            .needs
            .iter()
            .filter_map(|it| it.segments.last());
        let needs = needs.map(|it| it.ident.to_string());
        let op = &self.op.name;
        quote! {
            ::sp_plugin::optional_functions!(__OPTIONAL, #op, &[
                #(#parameters,)*
                __expansion::FunctionNames::Names(&[#(#needs),*]),
            ]);
        }
    }

    /// Prints the functions of all parameters for one choice of types.
    fn print_functions(&self, choice: &Choice<'_>) -> TokenStream {
        let aliases = self.print_aliases(choice);
        let parameters = self.function.parameters.iter().zip(&self.resolved.meanings);
        let functions = parameters.filter_map(|(parameter, meaning)| {
            let ty = &parameter.ty;
            match *meaning {
                Meaning::Input(it) => {
                    Some(self.print_argument_functions(choice, ty, &self.op.inputs[it], true))
                }
                Meaning::Output(it) => {
                    Some(self.print_argument_functions(choice, ty, &self.op.outputs[it], false))
                }
                Meaning::Attribute(it) if !is_in_every_host(it.ty.kind) => {
                    let stored = print_stored(ty, it);
                    Some(quote_spanned!(ty.span()=> <#stored as ::sp_plugin::__private::FromAttribute>::FUNCTIONS))
                }
                Meaning::State => {
                    let state = print_state(ty);
                    Some(quote_spanned! {ty.span()=>
                        <<#state as ::sp_plugin::kernel::Prepare>::Attributes
                            as ::sp_plugin::kernel::Attributes>::FUNCTIONS
                    })
                }
                _ => None,
            }
        });
        quote!({ #aliases __expansion::FunctionNames::Parts(&[#(#functions),*]) })
    }

    fn print_argument_functions(
        &self,
        choice: &Choice<'_>,
        ty: &Type,
        argument: &ArgumentDefinition,
        is_input: bool,
    ) -> TokenStream {
        let element = self.print_element(choice, argument);
        match is_input {
            true => {
                quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::FromInput<'_, #element>>::FUNCTIONS)
            }
            false => {
                quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::FromOutput<'_, #element>>::FUNCTIONS)
            }
        }
    }
}
