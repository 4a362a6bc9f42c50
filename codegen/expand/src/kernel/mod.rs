//! `#[kernel(Sum, T = [f32, f64])]` on the function that computes an op.
//!
//! The parameters of the function are the op's inputs, outputs and attributes, matched by name with the op table. A
//! parameter's type is never looked at: the expansion requires it to implement the trait of its role, for the type
//! that the op has there. The expansion is the function itself and a hidden function with the registrations: one for
//! each combination of the listed types.

mod arguments;
mod definition;
mod element;
mod function;
mod nearest;
mod print;
mod resolve;
mod signature;
mod value;

use arguments::Arguments;
use definition::Definition;
use function::Function;
use nearest::nearest;
use print::{Registrations, print_table, table_name};
use proc_macro2::TokenStream;
use quote::quote;
use resolve::resolve;
use syn::punctuated::Punctuated;
use syn::{ItemFn, Path, Token, parse_quote};

/// Expands the attribute. An expansion with errors contains the function and an empty list of registrations, so that
/// the author sees no other errors.
///
/// # Errors
/// Returns an error if the item is not a function.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Vec::new();
    let mut function = Function::new(syn::parse2::<ItemFn>(item)?, &mut errors);
    let registrations = expand(arguments, &mut function, &mut errors);
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
    arguments: TokenStream,
    function: &mut Function,
    errors: &mut Vec<syn::Error>,
) -> Option<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)
        .map_err(|error| errors.push(error))
        .ok()?;
    let name = arguments.op.to_string();
    let Some(op) = sp_ops::find(&name) else {
        let nearest = nearest(&name, sp_ops::names())
            .map_or_else(String::new, |it| format!(", did you mean `{it}`?"));
        let message = format!("TensorFlow has no op `{name}`{nearest}");
        errors.push(syn::Error::new(arguments.op.span(), message));
        return None;
    };
    let op = Definition::new(&op);
    let text = signature::document(&op);
    if function
        .item
        .attrs
        .iter()
        .any(|it| it.path().is_ident("doc"))
    {
        function.item.attrs.push(parse_quote!(#[doc = ""]));
    }
    function.item.attrs.push(parse_quote!(#[doc = #text]));
    let (function, op) = (&*function, &op);
    let resolved = resolve(op, &arguments, function, errors);
    let (arguments, resolved) = (&arguments, &resolved);
    errors.is_empty().then(|| {
        Registrations {
            op,
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
    use syn::parse::Parser;
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(input)?;
    let tables = paths.into_iter().map(|mut path| {
        if let Some(last) = path.segments.last_mut() {
            last.ident = table_name(&last.ident);
        }
        quote!(#path())
    });
    Ok(quote! {{
        let tables: &[&[&'static ::sp_plugin::kernel::Kernel]] = &[#(#tables),*];
        tables.concat()
    }})
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
        assert!(text.contains("marker :: AnyType"), "{text}");
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
