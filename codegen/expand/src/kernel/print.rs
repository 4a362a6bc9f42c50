//! Prints the registrations of a kernel: a static for each combination of types.

use super::arguments::Arguments;
use super::definition::{ArgumentDefinition, AttributeDefinition, Definition};
use super::element::{data_type_of, print_fixed};
use super::function::{Function, Parameter};
use super::resolve::{Meaning, Resolved, ResolvedTypes, types_message};
use super::value::{
    c_string, print_attribute, print_count, print_ignored_host, print_kind, print_marker,
    print_releases, print_state, print_stored, type_name, with_span,
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use sp_ops::{ArgumentType, ElementType, ReleaseSet};
use syn::Type;
use syn::spanned::Spanned;

/// Returns the name of the hidden function with the registrations of the kernel `name`.
pub fn table_name(name: &Ident) -> Ident {
    format_ident!("__kernels_of_{}", name, span = name.span())
}

/// Prints the hidden function; `body` is the list of registrations.
pub fn print_table(function: &Function, body: &TokenStream) -> TokenStream {
    let name = table_name(&function.item.sig.ident);
    let conditions = function
        .item
        .attrs
        .iter()
        .filter(|it| it.path().is_ident("cfg"));
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_snake_case)]
        pub fn #name() -> &'static [&'static ::sp_plugin::kernel::Kernel] {
            #body
        }
    }
}

/// A checked kernel, from which its registrations are printed.
pub struct Registrations<'a> {
    pub op: &'a Definition,
    pub arguments: &'a Arguments,
    pub function: &'a Function,
    pub resolved: &'a Resolved<'a>,
}

/// One choice of types, in the order of the listed type attributes.
type Choice<'a> = Vec<(&'a Type, &'a ReleaseSet)>;

impl Registrations<'_> {
    /// Prints the body of the hidden function.
    pub fn print(&self) -> TokenStream {
        let (op, options) = (self.print_op(), self.print_options());
        let checks = self.print_checks();
        let kernels = choices(&self.resolved.types);
        let kernels = kernels.iter().map(|it| self.print_kernel(it));
        quote! {
            use ::sp_plugin::kernel::expansion as __expansion;
            static __OP: __expansion::OpSpec = #op;
            static __OPTIONS: __expansion::Options = #options;
            #(#checks)*
            static __KERNELS: &[&::sp_plugin::kernel::Kernel] = &[#(#kernels),*];
            __KERNELS
        }
    }

    fn print_op(&self) -> TokenStream {
        let (name, releases) = (c_string(&self.op.name), print_releases(&self.op.releases));
        let attributes = self.op.attributes.iter().map(print_attribute);
        quote! {
            __expansion::OpSpec { name: #name, releases: #releases, attributes: &[#(#attributes),*] }
        }
    }

    fn print_options(&self) -> TokenStream {
        let Arguments {
            device,
            priority,
            label,
            releases,
            needs,
            ..
        } = self.arguments;
        let priority = priority
            .as_ref()
            .map_or_else(|| quote!(0), |it| quote!(#it));
        let label = match label {
            Some(label) => {
                let label = c_string(&label.value());
                quote!(::core::option::Option::Some(#label))
            }
            None => quote!(::core::option::Option::None),
        };
        let releases = match releases {
            Some(span) => span.to_tokens(&quote!(__expansion)),
            None => quote!(__expansion::Releases::ALL),
        };
        let device = match device {
            Some(device) => {
                quote!(::core::option::Option::Some(::core::any::TypeId::of::<#device>))
            }
            None => quote!(::core::option::Option::None),
        };
        quote! {
            __expansion::Options {
                priority: #priority,
                label: #label,
                releases: #releases,
                needs: &[#(&#needs),*],
                device: #device,
            }
        }
    }

    /// Prints the checks of what a macro cannot see.
    fn print_checks(&self) -> Vec<TokenStream> {
        let parameters = self.function.parameters.iter().zip(&self.resolved.meanings);
        let parameters = parameters.filter_map(|(parameter, meaning)| match meaning {
            Meaning::State => Some(self.print_state_check(&parameter.ty)),
            Meaning::Attribute(it) if !it.strings.is_empty() => {
                Some(self.print_value_check(parameter, it))
            }
            _ => None,
        });
        let unknown = self.resolved.types.iter().flat_map(|list| {
            let unknown = list
                .types
                .iter()
                .filter(|(ty, _)| data_type_of(ty).is_none());
            unknown.filter_map(|(ty, _)| self.print_type_check(list.attribute, ty))
        });
        parameters.chain(unknown).collect()
    }

    fn print_state_check(&self, ty: &Type) -> TokenStream {
        let known = self.op.attributes.iter().map(|it| {
            let (name, kind) = (&it.name, print_kind(it.ty));
            quote!((#name, #kind))
        });
        let names: Vec<String> = self
            .op
            .attributes
            .iter()
            .map(|it| format!("{}: {}", it.name, type_name(it.ty)))
            .collect();
        let message = format!(
            "a field of the state is no attribute of `{}`, which has {}",
            self.op.name,
            names.join(", ")
        );
        quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(
                __expansion::has_attributes(
                    <<<#ty as ::sp_plugin::kernel::StateParameter<'_>>::State as ::sp_plugin::kernel::Prepare>::Attributes
                        as ::sp_plugin::kernel::Attributes>::FIELDS,
                    &[#(#known),*],
                ),
                #message
            );
        }
    }

    fn print_value_check(
        &self,
        parameter: &Parameter,
        attribute: &AttributeDefinition,
    ) -> TokenStream {
        let (stored, strings) = (print_stored(&parameter.ty, attribute), &attribute.strings);
        let message = format!(
            "a variant has no value that `{}` allows: {} is one of {}",
            self.op.name,
            attribute.name,
            strings.join(", ")
        );
        quote_spanned! {parameter.ty.span()=>
            const _: () = ::core::assert!(
                __expansion::has_allowed_values(
                    <#stored as ::sp_plugin::kernel::FromAttribute>::VALUES,
                    &[#(#strings),*],
                ),
                #message
            );
        }
    }

    fn print_type_check(&self, attribute: &AttributeDefinition, ty: &Type) -> Option<TokenStream> {
        let allowed = attribute.types.as_ref()?.iter().map(|(it, _)| it.number());
        let message = types_message(self.op, attribute, &quote!(#ty).to_string());
        Some(quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(
                __expansion::is_allowed(<#ty as ::sp_plugin::Element>::DTYPE, &[#(#allowed),*]),
                #message
            );
        })
    }

    /// Prints a block whose value is the kernel for one choice of types.
    fn print_kernel(&self, choice: &Choice<'_>) -> TokenStream {
        let aliases = self
            .function
            .generics
            .iter()
            .enumerate()
            .filter_map(|(index, generic)| {
                let ty = self.chosen(choice, |it| it.parameter == Some(index))?;
                Some(quote!(#[allow(dead_code)] type #generic = #ty;))
            });
        let constraints = self.resolved.types.iter().zip(choice).map(print_constraint);
        let inputs = self.print_arguments(choice, &self.op.inputs, true);
        let outputs = self.print_arguments(choice, &self.op.outputs, false);
        let (prepare, compute) = (self.print_prepare(), self.print_compute(choice));
        quote! {{
            #(#aliases)*
            struct __Kernel;
            // SAFETY: the op table has the definition, each parameter's type is checked against the constraints, and
            // `HOST` of the parameter's type marks it.
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
            static __KERNEL: ::sp_plugin::kernel::Kernel = unsafe {
                ::sp_plugin::kernel::Kernel::new::<__Kernel>(
                    &__OP,
                    &[#(#constraints),*],
                    [&[#(#inputs),*], &[#(#outputs),*]],
                    &__OPTIONS,
                )
            };
            impl __expansion::Compute for __Kernel {
                fn kernel() -> &'static ::sp_plugin::kernel::Kernel {
                    &__KERNEL
                }
                #prepare
                #compute
            }
            &__KERNEL
        }}
    }

    fn print_prepare(&self) -> TokenStream {
        let values = self.stored_parameters().map(|(parameter, meaning)| match meaning {
            Meaning::Attribute(attribute) => {
                let (stored, name) = (print_stored(&parameter.ty, attribute), c_string(&attribute.name));
                quote_spanned!(parameter.ty.span()=> construction.attribute::<#stored>(#name)?)
            }
            _ => {
                let state = print_state(&parameter.ty);
                quote_spanned!(parameter.ty.span()=> __expansion::prepare::<#state>(construction)?)
            }
        });
        quote! {
            #[allow(unused_variables)]
            fn prepare(
                construction: &::sp_plugin::kernel::Construction<'_>,
            ) -> ::sp_plugin::Result<__expansion::State> {
                ::core::result::Result::Ok(::std::boxed::Box::new((#(#values,)*)))
            }
        }
    }

    fn print_compute(&self, choice: &Choice<'_>) -> TokenStream {
        let types = self
            .stored_parameters()
            .map(|(parameter, meaning)| match meaning {
                Meaning::Attribute(attribute) => print_stored(&parameter.ty, attribute),
                _ => print_state(&parameter.ty),
            });
        let (name, generics) = (&self.function.item.sig.ident, &self.function.generics);
        let turbofish = (!generics.is_empty()).then(|| quote!(::<#(#generics),*>));
        let mut field = 0;
        let parameters = self.function.parameters.iter().zip(&self.resolved.meanings);
        let values: Vec<TokenStream> = parameters
            .map(|(it, meaning)| self.print_parameter(choice, it, *meaning, &mut field))
            .collect();
        quote! {
            #[allow(unused_variables)]
            fn compute(call: &__expansion::Call<'_>) -> ::sp_plugin::Result<()> {
                let state: &(#(#types,)*) = call.state()?;
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
        let mut next_field = || {
            let index = syn::Index::from(*field);
            *field += 1;
            index
        };
        match meaning {
            Meaning::Input(index) => {
                let element = self.print_element(choice, &self.op.inputs[index]);
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::FromInput<'_, #element>>::from_input(call.input(#index))?)
            }
            Meaning::Output(index) => {
                let element = self.print_element(choice, &self.op.outputs[index]);
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::FromOutput<'_, #element>>::from_output(call.output(#index)))
            }
            Meaning::Attribute(attribute) => {
                let (kind, index) = (with_span(print_marker(attribute.ty), span), next_field());
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::AttributeParameter<'_, #kind>>::from_stored(&state.#index))
            }
            Meaning::State => {
                let index = next_field();
                quote_spanned!(span=> <#ty as ::sp_plugin::kernel::StateParameter<'_>>::from_state(&state.#index))
            }
            Meaning::Context => match ty {
                Type::Reference(it) => {
                    let context = &it.elem;
                    quote_spanned!(span=> &<#context>::from_call(call)?)
                }
                _ => quote_spanned!(span=> <#ty>::from_call(call)?),
            },
        }
    }

    /// Returns the parameters whose values are in the kernel's instance.
    fn stored_parameters(&self) -> impl Iterator<Item = (&Parameter, Meaning<'_>)> {
        let parameters = self
            .function
            .parameters
            .iter()
            .zip(self.resolved.meanings.iter().copied());
        parameters.filter(|(_, meaning)| matches!(meaning, Meaning::Attribute(_) | Meaning::State))
    }

    fn print_arguments(
        &self,
        choice: &Choice<'_>,
        arguments: &[ArgumentDefinition],
        is_input: bool,
    ) -> Vec<TokenStream> {
        let parameter = |index: usize| {
            let mut parameters = self.function.parameters.iter().zip(&self.resolved.meanings);
            let found = parameters.find(|(_, meaning)| match meaning {
                Meaning::Input(it) => is_input && *it == index,
                Meaning::Output(it) => !is_input && *it == index,
                _ => false,
            });
            found.map(|(parameter, _)| &parameter.ty)
        };
        let role = match is_input {
            true => quote!(FromInput),
            false => quote!(FromOutput),
        };
        let print = |(index, it): (usize, &ArgumentDefinition)| {
            let (host, access) = match parameter(index) {
                Some(ty) => {
                    let element = self.print_element(choice, it);
                    let role = quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::#role<'_, #element>>);
                    (quote!(#role::HOST), quote!(#role::HAS_HOST_ACCESS))
                }
                None => (print_ignored_host(it), quote!(false)),
            };
            let (name, count) = (c_string(&it.argument.name), print_count(&it.argument.ty));
            let releases = print_releases(&it.releases);
            quote! {
                __expansion::ArgumentSpec {
                    name: #name,
                    is_host: #host,
                    has_host_access: #access,
                    count: #count,
                    releases: #releases,
                }
            }
        };
        arguments.iter().enumerate().map(print).collect()
    }

    /// Prints the type of an argument for one choice of types.
    fn print_element(&self, choice: &Choice<'_>, argument: &ArgumentDefinition) -> TokenStream {
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

/// Returns every combination of one type from each list.
fn choices<'a>(lists: &'a [ResolvedTypes<'_>]) -> Vec<Choice<'a>> {
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

fn print_constraint(
    (list, (ty, releases)): (&ResolvedTypes<'_>, &(&Type, &ReleaseSet)),
) -> TokenStream {
    let (name, releases) = (c_string(&list.attribute.name), print_releases(releases));
    let attribute_releases = print_releases(&list.attribute.releases);
    quote! {
        __expansion::Constraint {
            attribute: #name,
            dtype: <#ty as ::sp_plugin::Element>::DTYPE,
            attribute_releases: #attribute_releases,
            type_releases: #releases,
        }
    }
}
