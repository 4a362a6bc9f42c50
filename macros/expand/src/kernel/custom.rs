//! Kernels of ops that the plugin defines: `#[kernel(ops::Name, ..)]`.
//!
//! Such a kernel expands to a call of the op's macro, which calls [`attribute`] with the op's definition.

use super::definition::Definition;
use super::registrations::OwnOp;
use super::{expand, expand_item, parse_arguments};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{LitStr, Path, braced, bracketed};

/// A kernel as the macro of an op passes it: the definition, then what `#[kernel(..)]` was applied to.
struct CustomKernel {
    definition: LitStr,
    op: Path,
    arguments: TokenStream,
    item: TokenStream,
}

impl Parse for CustomKernel {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let definition = input.parse()?;
        let (op, arguments, item);
        bracketed!(op in input);
        bracketed!(arguments in input);
        braced!(item in input);
        Ok(Self {
            definition,
            op: op.call(Path::parse_mod_style)?,
            arguments: arguments.parse()?,
            item: item.parse()?,
        })
    }
}

/// Returns the call of the op's macro to which a kernel expands; `None` if the arguments do not begin with a path of
/// several segments.
pub(super) fn forward(arguments: TokenStream, item: &TokenStream) -> Option<TokenStream> {
    let split = |input: ParseStream<'_>| {
        let (op, rest): (_, TokenStream) = (input.call(Path::parse_mod_style)?, input.parse()?);
        Ok((op, rest))
    };
    let (op, rest) = split.parse2(arguments).ok()?;
    let is_path = op.segments.len() > 1;
    is_path.then(|| quote!(#op! { [#op] [#rest] { #item } }))
}

/// Expands a kernel of an op that the plugin defines. The op's macro calls this. Without a definition, the op has
/// reported errors.
///
/// # Errors
/// Returns an error if the input is not from that macro, or the item is not a function.
pub fn attribute(input: TokenStream) -> syn::Result<TokenStream> {
    let custom = syn::parse2::<CustomKernel>(input)?;
    let table = sp_ops::Table::parse(custom.definition.value());
    let table = table.map_err(|error| syn::Error::new(custom.definition.span(), error))?;
    let op = table.ops().next();
    let (path, arguments) = (&custom.op, &custom.arguments);
    let name = path.segments.last().map(|it| &it.ident);
    expand_item(custom.item, |function, errors| {
        let arguments = parse_arguments(quote!(#name #arguments), errors)?;
        let op = Definition::new(op.as_ref()?);
        let definition = &custom.definition;
        expand(
            &op,
            Some(OwnOp { path, definition }),
            &arguments,
            function,
            errors,
        )
    })
}
