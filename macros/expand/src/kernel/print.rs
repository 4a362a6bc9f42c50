//! Prints the registrations of a kernel: an item of a static array for each combination of types.

use super::arguments::Arguments;
use super::definition::{ArgumentDefinition, AttributeDefinition};
use super::element::data_type_of;
use super::function::{Function, Parameter};
use super::instance::{Instance, find_instances};
use super::registrations::{Choice, OwnOp, Registrations, choices};
use super::resolve::{Meaning, ResolvedTypes, types_message};
use super::value::{
    c_string, is_in_every_host, print_attribute, print_count, print_ignored_host, print_kind,
    print_releases, print_state, print_stored, type_name,
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use sp_ops::ReleaseSet;
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
        pub fn #name() -> &'static [::sp_plugin::kernel::Kernel] {
            #body
        }
    }
}

impl Registrations<'_> {
    /// Prints the body of the hidden function.
    pub fn print(&self) -> TokenStream {
        let (op, options) = (self.print_op(), self.print_options());
        let checks = self.print_checks();
        let choices = choices(&self.resolved.types);
        let (instances, instance_of) = find_instances(self.function, self.resolved, &choices);
        let optional = self.print_optional(&choices);
        let functions = instances.iter().map(|it| self.print_instance(it));
        let registered = choices.iter().zip(instance_of).enumerate();
        let kernels = registered.map(|(index, (choice, instance))| {
            self.print_kernel(index, choice, &instances[instance])
        });
        let count = choices.len();
        quote! {
            use ::sp_plugin::__private as __expansion;
            static __OP: __expansion::OpSpec = #op;
            #optional
            static __OPTIONS: __expansion::Options = #options;
            #(#checks)*
            #(#functions)*
            struct __Table;
            impl __expansion::KernelTable for __Table {
                fn kernels() -> &'static [::sp_plugin::kernel::Kernel] {
                    &__KERNELS
                }
            }
            // SAFETY: the op table has the definition, each parameter's type is checked against the constraints, and
            // its `SPEC` marks host memory.
            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
            static __KERNELS: [::sp_plugin::kernel::Kernel; #count] = unsafe { [#(#kernels),*] };
            &__KERNELS
        }
    }

    fn print_op(&self) -> TokenStream {
        let (name, releases) = (c_string(&self.op.name), print_releases(&self.op.releases));
        let attributes = self.op.attributes.iter().map(print_attribute);
        let definition = match self.own {
            Some(OwnOp { path, .. }) => quote! {
                ::core::option::Option::Some(<#path as ::sp_plugin::__private::DefinedOp>::DEFINITION)
            },
            None => quote!(::core::option::Option::None),
        };
        quote! {
            __expansion::OpSpec {
                name: #name,
                releases: #releases,
                attributes: &[#(#attributes),*],
                definition: #definition,
            }
        }
    }

    fn print_options(&self) -> TokenStream {
        let Arguments {
            device,
            priority,
            label,
            releases,
            needs,
            configure,
            is_asynchronous,
            ..
        } = self.arguments;
        let some = quote!(::core::option::Option::Some);
        let priority = priority.as_ref().map(|it| quote!(priority: #it,));
        let label = label.as_ref().map(|it| {
            let label = c_string(&it.value());
            quote!(label: #some(#label),)
        });
        let releases = releases.as_ref().map(|it| {
            let releases = it.to_tokens(&quote!(__expansion));
            quote!(releases: #releases,)
        });
        let configure = configure
            .as_ref()
            .map(|path| quote_spanned!(path.span()=> configure: #some(#path),));
        let asynchronous = is_asynchronous.then(|| quote!(is_asynchronous: true,));
        let device = device
            .as_ref()
            .map(|it| quote!(device: #some(::core::any::TypeId::of::<#it>),));
        let checks = self
            .stored_parameters()
            .filter_map(print_availability_check);
        quote! {
            __expansion::Options {
                needs: &[#(&#needs),*],
                attribute_checks: &[#(#checks),*],
                optional: &__OPTIONAL,
                #priority #label #releases #configure #asynchronous #device
                ..__expansion::Options::new(::core::env!("CARGO_CRATE_NAME"))
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
        let own = self.own.map(print_definition_check);
        parameters.chain(unknown).chain(own).collect()
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
                    <#stored as ::sp_plugin::__private::FromAttribute>::VALUES,
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
                __expansion::is_allowed(<#ty as ::sp_plugin::kernel::ListedType>::DTYPE, &[#(#allowed),*]),
                #message
            );
        })
    }

    /// Prints the kernel for one choice of types, which is at `index` in the array.
    fn print_kernel(
        &self,
        index: usize,
        choice: &Choice<'_>,
        instance: &Instance<'_>,
    ) -> TokenStream {
        let aliases = self.print_aliases(choice);
        let constraints = self.resolved.types.iter().zip(choice).map(print_constraint);
        let inputs = self.print_arguments(choice, &self.op.inputs, true);
        let outputs = self.print_arguments(choice, &self.op.outputs, false);
        let functions = instance.functions();
        quote! {{
            #aliases
            ::sp_plugin::kernel::Kernel::new::<__Table, #index>(
                &__OP,
                &[#(#constraints),*],
                [&[#(#inputs),*], &[#(#outputs),*]],
                &__OPTIONS,
                #functions,
            )
        }}
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
            let parameter = match parameter(index) {
                Some(ty) => {
                    let element = self.print_element(choice, it);
                    quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::#role<'_, #element>>::SPEC)
                }
                None => {
                    let is_host = print_ignored_host(it);
                    quote!(__expansion::ParameterSpec::ignored(#is_host))
                }
            };
            let (name, count) = (c_string(&it.argument.name), print_count(&it.argument.ty));
            let releases = print_releases(&it.releases);
            quote! {
                __expansion::ArgumentSpec {
                    name: #name,
                    parameter: #parameter,
                    count: #count,
                    releases: #releases,
                }
            }
        };
        arguments.iter().enumerate().map(print).collect()
    }
}

/// Prints the check that the path's type, which is registered, is the op of the path's macro, by which parameters are checked.
fn print_definition_check(OwnOp { path, definition }: OwnOp<'_>) -> TokenStream {
    quote_spanned! {path.span()=>
        const _: () = ::core::assert!(
            __expansion::is_equal(<#path as ::sp_plugin::__private::DefinedOp>::TEXT, #definition),
            "the type and the macro of this name are of different ops"
        );
    }
}

/// Prints the function that checks that the host can read an attribute; `None` if every host can.
fn print_availability_check(
    (parameter, meaning): (&Parameter, Meaning<'_>),
) -> Option<TokenStream> {
    let (ty, span) = (&parameter.ty, parameter.ty.span());
    match meaning {
        Meaning::Attribute(it) if is_in_every_host(it.ty.kind) => None,
        Meaning::Attribute(it) => {
            let stored = print_stored(ty, it);
            Some(
                quote_spanned!(span=> <#stored as ::sp_plugin::__private::FromAttribute>::check_available),
            )
        }
        _ => {
            let state = print_state(ty);
            Some(quote_spanned!(span=> __expansion::check_state_available::<#state>))
        }
    }
}

fn print_constraint(
    (list, (ty, releases)): (&ResolvedTypes<'_>, &(&Type, &ReleaseSet)),
) -> TokenStream {
    let (name, releases) = (c_string(&list.attribute.name), print_releases(releases));
    let attribute_releases = print_releases(&list.attribute.releases);
    quote! {
        __expansion::Constraint {
            attribute: #name,
            dtype: <#ty as ::sp_plugin::kernel::ListedType>::DTYPE,
            attribute_releases: #attribute_releases,
            type_releases: #releases,
        }
    }
}
