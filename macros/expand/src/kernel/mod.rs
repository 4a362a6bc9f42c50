//! `#[kernel(Sum, T = [f32, f64])]` on the function that computes an op.
//!
//! The parameters of the function are the op's inputs, outputs and attributes, matched by name with the op table. A
//! parameter's type is never looked at: the expansion requires it to implement the trait of its role, for the type
//! that the op has there. The expansion is the function itself and a hidden function with the registrations: one for
//! each combination of the listed types. Registrations of the same instance of the function share the code that calls it.

mod arguments;
pub mod custom;
mod definition;
pub(crate) mod element;
mod function;
mod instance;
mod nearest;
mod optional;
mod parameter_type;
mod print;
mod registrations;
mod resolve;
mod signature;
mod value;

use arguments::Arguments;
use definition::Definition;
pub(crate) use function::{Function, Role};
pub(crate) use nearest::nearest;
use print::{print_table, table_name};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use registrations::{OwnOp, Registrations};
use resolve::resolve;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{ItemFn, Path, Token, parse_quote};
pub(crate) use value::c_string;

/// Expands the attribute. An expansion with errors contains the function and an empty list of registrations, so that
/// the author sees no other errors.
///
/// A name is an op of TensorFlow, a path an op that the plugin defines: the macro of that name has its definition.
///
/// # Errors
/// Returns an error if the item is not a function.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if let Some(call) = custom::forward(arguments.clone(), &item) {
        return Ok(call);
    }
    expand_item(item, |function, errors| {
        let arguments = parse_arguments(arguments, errors)?;
        let op = find(&arguments.op, errors)?;
        expand(&Definition::new(&op), None, &arguments, function, errors)
    })
}

fn parse_arguments(tokens: TokenStream, errors: &mut Vec<syn::Error>) -> Option<Arguments> {
    let arguments = syn::parse2(tokens);
    arguments.map_err(|error| errors.push(error)).ok()
}

fn find(op: &Ident, errors: &mut Vec<syn::Error>) -> Option<sp_ops::Op> {
    let name = op.to_string();
    let found = sp_ops::find(&name);
    if found.is_none() {
        let hint = nearest(&name, sp_ops::names()).map_or_else(
            || format!("; an op of the plugin is named by its path, as in `ops::{name}`"),
            |it| format!(", did you mean `{it}`?"),
        );
        let message = format!("TensorFlow has no op `{name}`{hint}");
        errors.push(syn::Error::new(op.span(), message));
    }
    found
}

/// Expands a function to itself, its registrations and the errors.
fn expand_item(
    item: TokenStream,
    expand: impl FnOnce(&mut Function, &mut Vec<syn::Error>) -> Option<TokenStream>,
) -> syn::Result<TokenStream> {
    let mut errors = Vec::new();
    let mut function = Function::new(syn::parse2::<ItemFn>(item)?, &mut errors);
    let registrations = expand(&mut function, &mut errors);
    let (item, errors) = (
        &function.item,
        errors.iter().map(syn::Error::to_compile_error),
    );
    let table = print_table(&function, &registrations.unwrap_or_else(|| quote!(&[])));
    Ok(quote! {
        #[allow(clippy::too_many_arguments)]
        #item
        #table
        #(#errors)*
    })
}

/// Returns the body of the hidden function, or `None` if there are errors.
fn expand(
    op: &Definition,
    own: Option<OwnOp<'_>>,
    arguments: &Arguments,
    function: &mut Function,
    errors: &mut Vec<syn::Error>,
) -> Option<TokenStream> {
    let text = signature::document(op);
    let mut attributes = function.item.attrs.iter();
    if attributes.any(|it| it.path().is_ident("doc")) {
        function.item.attrs.push(parse_quote!(#[doc = ""]));
    }
    function.item.attrs.push(parse_quote!(#[doc = #text]));
    let function = &*function;
    let resolved = &resolve(op, arguments, function, errors);
    errors.is_empty().then(|| {
        Registrations {
            op,
            own,
            arguments,
            function,
            resolved,
        }
        .print()
    })
}

/// Expands `kernels![sum, reduce::mean]` to the registrations of these kernels, in order.
///
/// # Errors
/// Returns an error if the input is not a list of paths.
pub fn table(input: TokenStream) -> syn::Result<TokenStream> {
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(input)?;
    let tables = paths.into_iter().map(|mut path| {
        if let Some(last) = path.segments.last_mut() {
            last.ident = table_name(&last.ident);
        }
        quote!(#path())
    });
    Ok(quote!(::sp_plugin::__private::concat(&[#(#tables),*])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_text(arguments: TokenStream, item: TokenStream) -> String {
        attribute(arguments, item).unwrap().to_string()
    }

    #[test]
    fn registers_each_combination_of_types() {
        let text = expand_text(
            quote! { Cast, SrcT: S = [f32, i64], DstT: D = [f32, Bool, u8] },
            quote! { fn cast<S: Element, D: Element>(x: In<'_, S>, y: Out<'_, D>) -> Result<()> { todo() } },
        );
        assert_eq!(text.matches("Kernel :: new").count(), 6);
        assert!(!text.contains("compile_error"), "{text}");
    }

    #[test]
    fn registers_types_of_any_without_type_parameter() {
        let text = expand_text(
            quote! { Identity, T: any = [f32, i64] },
            quote! { fn identity(input: AnyIn<'_>, output: AnyOut<'_>) -> Result<()> { todo() } },
        );
        assert_eq!(text.matches("Kernel :: new").count(), 2);
        assert!(
            text.contains("< f32 as :: sp_plugin :: kernel :: ListedType > :: Any"),
            "{text}"
        );
    }

    #[test]
    fn registrations_of_one_instance_share_its_functions() {
        let text = expand_text(
            quote! { GatherV2, Tparams = [..], Tindices: I = [i32, i64] },
            quote! {
                fn gather<I: Element>(
                    params: BytesIn<'_>,
                    indices: In<'_, I>,
                    axis: HostIn<'_, Integer>,
                    output: BytesOut<'_>,
                    batch_dims: i64,
                ) -> Result<()> { todo() }
            },
        );
        assert_eq!(text.matches("Kernel :: new").count(), 30, "{text}");
        assert_eq!(text.matches("fn __compute_").count(), 2, "{text}");
        assert_eq!(text.matches("fn __prepare_").count(), 1, "{text}");
        assert_eq!(text.matches("(__prepare_0 , __compute_1)").count(), 15);
    }

    #[test]
    fn state_of_a_type_parameter_is_prepared_for_each_type() {
        let text = expand_text(
            quote! { LeakyRelu, T = [f32, f64] },
            quote! {
                fn f<T: Element>(features: In<'_, T>, activations: Out<'_, T>, #[state] slope: &Slope<T>)
                    -> Result<()> { todo() }
            },
        );
        assert!(text.contains("(__prepare_0 , __compute_0)"), "{text}");
        assert!(text.contains("(__prepare_1 , __compute_1)"), "{text}");
    }

    #[test]
    fn registers_every_type_that_the_op_allows() {
        let expand_types = |op: TokenStream| {
            expand_text(
                quote! { #op, T = [..] },
                quote! { fn f(x: BytesIn<'_>, y: BytesOut<'_>) -> Result<()> { todo() } },
            )
        };
        // Two floats, two of 16 bits, two complex types.
        let text = expand_types(quote!(Sqrt));
        assert_eq!(text.matches("Kernel :: new").count(), 6, "{text}");
        assert!(text.contains(":: core :: primitive :: f64"), "{text}");
        let text = expand_types(quote!(OnesLike));
        assert_eq!(text.matches("Kernel :: new").count(), 15, "{text}");
        assert!(text.contains(":: sp_plugin :: Bool"), "{text}");
    }

    #[test]
    fn type_that_not_all_releases_allow_is_restricted_to_the_others() {
        let text = expand_text(
            quote! { MatMul, T = [u8] },
            quote! { fn f(a: In<'_, u8>, b: In<'_, u8>, product: Out<'_, u8>) -> Result<()> { todo() } },
        );
        let releases = "Releases :: from (__expansion :: Release :: new (2 , 12))";
        assert!(
            text.contains(&format!("type_releases : & [__expansion :: {releases}]")),
            "{text}"
        );
    }

    #[test]
    fn expansion_with_errors_has_function_and_empty_table() {
        let text = expand_text(
            quote! { Relu, U = [f32], ignore = [x] },
            quote! { fn relu(#[op("feature")] x: In<'_, f32>) -> Result<()> { todo() } },
        );
        assert!(text.contains("fn relu (x : In < '_ , f32 >)"), "{text}");
        assert!(text.contains("fn __kernels_of_relu"), "{text}");
        for message in ["no type attribute", "no `feature`", "no input `x`"] {
            assert!(text.contains(message), "{message}: {text}");
        }
        assert_eq!(text.matches("compile_error").count(), 3);
    }

    #[test]
    fn parameter_with_a_stated_role_may_be_a_pattern() {
        let expand_state = |state: TokenStream| {
            expand_text(
                quote! { LeakyRelu, T = [f32] },
                quote! { fn f(#state: &Slope, features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> { todo() } },
            )
        };
        let text = expand_state(quote!(
            #[state]
            Slope(alpha)
        ));
        assert!(text.contains("fn f (Slope (alpha) : & Slope"), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
        assert!(expand_state(quote!(Slope(alpha))).contains("expected a name"));
    }

    #[test]
    fn rejects_two_parameters_for_one_argument() {
        let text = expand_text(
            quote! { Relu, T = [f32] },
            quote! { fn relu(features: In<'_, f32>, activations: Out<'_, f32>, #[op("activations")] y: Out<'_, f32>) {} },
        );
        assert!(
            text.contains("`activations` is a parameter twice"),
            "{text}"
        );
    }

    #[test]
    fn table_calls_hidden_functions_of_paths() {
        let text = table(quote! { relu, nn::bias_add }).unwrap().to_string();
        assert!(text.contains("__kernels_of_relu ()"), "{text}");
        assert!(text.contains("nn :: __kernels_of_bias_add ()"), "{text}");
    }
}
