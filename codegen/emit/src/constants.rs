//! Macros and constants that have a value.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::structure::{ItemReleases, print_doc};
use sp_expand::ty::ident;
use sp_ir::{Constant, Item, Value};

use super::catalog::Catalog;
use crate::context::Context;

/// The constants of an API; `problems` gets those that stand for a name nobody declares.
pub fn emit(context: &Context<'_>, problems: &mut Vec<String>) -> TokenStream {
    let mut tokens = TokenStream::new();
    for (name, item) in &context.api.items {
        let Item::Constant(item) = item else { continue };
        match constant(name, item, context) {
            Ok(printed) => tokens.extend(printed),
            Err(problem) => problems.push(problem),
        }
    }
    tokens
}

fn constant(name: &str, item: &Constant, context: &Context<'_>) -> Result<TokenStream, String> {
    let (line, ty, value) = match &item.value {
        Value::Int(value) => number(name, *value),
        Value::Text(text) => (format!("`{name}`, a text."), quote!(&str), quote!(#text)),
        Value::Name(other) => {
            let (ty, value) = named(name, other, context.catalog)?;
            (format!("`{other}` by another name."), ty, value)
        }
    };
    let doc = print_doc(
        item.doc.as_ref().unwrap_or(&line),
        &item.loc,
        context.timeline.release_text(name, ""),
    );
    let name = ident(name);
    Ok(quote!(#doc pub const #name: #ty = #value;))
}

fn number(name: &str, value: i64) -> (String, TokenStream, TokenStream) {
    let ty = if i32::try_from(value).is_ok() {
        quote!(i32)
    } else {
        quote!(i64)
    };
    let literal = Literal::i64_unsuffixed(value);
    (format!("`{name}` is {value}."), ty, quote!(#literal))
}

fn named(
    name: &str,
    other: &str,
    catalog: &Catalog<'_>,
) -> Result<(TokenStream, TokenStream), String> {
    let Some(enumeration) = catalog.enumeration(other) else {
        return Err(format!(
            "`{name}` stands for `{other}`, which no enumeration declares"
        ));
    };
    let (enumeration, other) = (ident(enumeration), ident(other));
    Ok((quote!(#enumeration), quote!(#enumeration::#other)))
}
