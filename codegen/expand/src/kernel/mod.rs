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
