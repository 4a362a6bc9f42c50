//! Prints the functions that TensorFlow's calls reach: a pair for each instance of the author's function, which all
//! registrations of this instance share. They are the larger part of a kernel's code.

use super::function::{Function, Parameter};
use super::registrations::{Choice, Registrations};
use super::resolve::{Meaning, Resolved};
use super::value::{c_string, print_marker, print_state, print_stored, with_span};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// An instance of the author's function.
pub struct Instance<'a> {
    index: usize,
    /// The first choice of types that has the instance.
    choice: &'a Choice<'a>,
    /// The index of the instance whose `prepare` function this one has.
    prepare: usize,
}

impl Instance<'_> {
    fn prepare(&self) -> Ident {
        format_ident!("__prepare_{}", self.prepare)
    }

    fn compute(&self) -> Ident {
        format_ident!("__compute_{}", self.index)
    }

    /// Prints the functions of a kernel with this instance.
    pub fn functions(&self) -> TokenStream {
        let (prepare, compute) = (self.prepare(), self.compute());
        quote!((#prepare, #compute))
    }
}

/// Returns the instances, and for each choice the index of its instance.
///
/// Two choices have the same instance if they differ only in attributes that replace no type parameter. A parameter that
/// serves several types of such an attribute is fetched by the same code for all of them: `FromInput` requires it.
pub fn find_instances<'a>(
    function: &Function,
    resolved: &Resolved<'_>,
    choices: &'a [Choice<'a>],
) -> (Vec<Instance<'a>>, Vec<usize>) {
    // The types are those of the lists, so each has one address.
    let key = |choice: &Choice<'a>| -> Vec<*const Type> {
        let types = resolved.types.iter().zip(choice);
        let bound = types.filter(|(list, _)| list.parameter.is_some());
        bound.map(|(_, (ty, _))| std::ptr::from_ref(*ty)).collect()
    };
    let has_generic_state = has_generic_state(function, resolved);
    let (mut instances, mut keys, mut instance_of) = (Vec::new(), Vec::new(), Vec::new());
    for choice in choices {
        let key = key(choice);
        let known = keys.iter().position(|it| *it == key);
        instance_of.push(known.unwrap_or(keys.len()));
        if known.is_none() {
            let index = keys.len();
            let prepare = if has_generic_state { index } else { 0 };
            instances.push(Instance {
                index,
                choice,
                prepare,
            });
            keys.push(key);
        }
    }
    (instances, instance_of)
}

/// Returns true if the type of an attribute or a state depends on a type parameter.
fn has_generic_state(function: &Function, resolved: &Resolved<'_>) -> bool {
    let parameters = function.parameters.iter().zip(&resolved.meanings);
    let mut stored =
        parameters.filter(|(_, it)| matches!(it, Meaning::Attribute(_) | Meaning::State));
    stored.any(|(it, _)| has_ident(it.ty.to_token_stream(), &function.generics))
}

fn has_ident(tokens: TokenStream, idents: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(it) => idents.contains(&it),
        TokenTree::Group(it) => has_ident(it.stream(), idents),
        _ => false,
    })
}

/// Returns a local variable of the expansion. Its span is never an author's, so that each use refers to the same one.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

impl Registrations<'_> {
    /// Prints the functions of an instance.
    pub fn print_instance(&self, instance: &Instance<'_>) -> TokenStream {
        let is_first = instance.index == instance.prepare;
        let prepare = is_first.then(|| self.print_prepare(instance));
        let compute = self.print_compute(instance);
        quote!(#prepare #compute)
    }

    fn print_prepare(&self, instance: &Instance<'_>) -> TokenStream {
        let (name, aliases) = (instance.prepare(), self.print_aliases(instance.choice));
        let construction = local("construction");
        let values = self.stored_parameters().map(|(parameter, meaning)| match meaning {
            Meaning::Attribute(attribute) => {
                let (stored, name) = (print_stored(&parameter.ty, attribute), c_string(&attribute.name));
                quote_spanned!(parameter.ty.span()=> #construction.attribute::<#stored>(#name)?)
            }
            _ => {
                let state = print_state(&parameter.ty);
                quote_spanned!(parameter.ty.span()=> __expansion::prepare::<#state>(#construction)?)
            }
        });
        quote! {
            #[allow(unused_variables)]
            fn #name(
                #construction: &::sp_plugin::__private::Construction<'_>,
            ) -> ::sp_plugin::Result<__expansion::State> {
                #aliases
                ::core::result::Result::Ok(::std::boxed::Box::new((#(#values,)*)))
            }
        }
    }

    fn print_compute(&self, instance: &Instance<'_>) -> TokenStream {
        let (function, choice) = (instance.compute(), instance.choice);
        let aliases = self.print_aliases(choice);
        // Inferred from their uses: an error about a type is then at the parameter only.
        let types: Vec<TokenStream> = self.stored_parameters().map(|_| quote!(_)).collect();
        let (name, generics) = (&self.function.item.sig.ident, &self.function.generics);
        let (call, state) = (local("call"), local("state"));
        let state =
            (!types.is_empty()).then(|| quote!(let #state: &(#(#types,)*) = #call.state()?;));
        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
        let mut field = 0;
        let parameters = self.function.parameters.iter().zip(&self.resolved.meanings);
        let values: Vec<TokenStream> = parameters
            .map(|(it, meaning)| self.print_parameter(choice, it, *meaning, &mut field))
            .collect();
        quote! {
            #[allow(unused_variables)]
            fn #function(#call: &__expansion::Call<'_>) -> ::sp_plugin::Result<()> {
                #aliases
                #state
                #name #turbofish (#(#values),*)
            }
        }
    }

    fn print_parameter(
        &self,
        choice: &Choice<'_>,
        parameter: &Parameter,
        meaning: Meaning<'_>,
        field: &mut usize,
    ) -> TokenStream {
        let (ty, span) = (&parameter.ty, parameter.ty.span());
        let (call, state) = (local("call"), local("state"));
        // The parentheses give the field the span, by which the compiler reports an error about the type once.
        let mut next_field = || {
            let index = syn::Index::from(*field);
            *field += 1;
            index
        };
        match meaning {
            Meaning::Input(index) => {
                let element = self.print_element(choice, &self.op.inputs[index]);
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::FromInput<'_, #element>>::from_input(#call.input(#index))?)
            }
            Meaning::Output(index) => {
                let element = self.print_element(choice, &self.op.outputs[index]);
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::FromOutput<'_, #element>>::from_output(#call.output(#index)))
            }
            Meaning::Attribute(attribute) => {
                let (kind, index) = (with_span(print_marker(attribute.ty), span), next_field());
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::AttributeParameter<'_, #kind>>::from_stored(&(#state.#index)))
            }
            Meaning::State => {
                let index = next_field();
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::StateParameter<'_>>::from_state(&(#state.#index)))
            }
            Meaning::Context => match ty {
                Type::Reference(it) => {
                    let context = &it.elem;
                    quote_spanned!(span=> &<#context as ::sp_plugin::kernel::ContextParameter<'_>>::from_call(#call)?)
                }
                _ => {
                    quote_spanned!(span=> <#ty as ::sp_plugin::kernel::ContextParameter<'_>>::from_call(#call)?)
                }
            },
        }
    }
}
