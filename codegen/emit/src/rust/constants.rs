//! Macros and constants that have a value.

use super::doc::print_doc;
use crate::model::item_releases::ItemReleases;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::ident;
use sp_ir::{Constant, Item, Value};

use crate::model::catalog::Catalog;
use crate::model::context::Context;

/// Emits the constants of an API. Adds a message to `problems` for each that names an unknown enumerator.
pub fn emit(context: &Context<'_>, problems: &mut Vec<String>) -> TokenStream {
    let mut tokens = TokenStream::new();
    for (name, item) in &context.api.items {
        let Item::Constant(item) = item else { continue };
        match print(name, item, context) {
            Ok(printed) => tokens.extend(printed),
            Err(problem) => problems.push(problem),
        }
    }
    tokens
}

fn print(name: &str, item: &Constant, context: &Context<'_>) -> Result<TokenStream, String> {
    let (line, ty, value) = match &item.value {
        Value::Int(value) => integer(name, *value),
        Value::Text(text) => (format!("The text `{name}`."), quote!(&str), quote!(#text)),
        Value::Name(other) => {
            let (ty, value) = enumerator(name, other, context.catalog)?;
            (format!("Another name for `{other}`."), ty, value)
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

fn integer(name: &str, value: i64) -> (String, TokenStream, TokenStream) {
    let ty = if i32::try_from(value).is_ok() {
        quote!(i32)
    } else {
        quote!(i64)
    };
    let literal = Literal::i64_unsuffixed(value);
    (format!("`{name}` is {value}."), ty, quote!(#literal))
}

fn enumerator(
    name: &str,
    other: &str,
    catalog: &Catalog<'_>,
) -> Result<(TokenStream, TokenStream), String> {
    let Some(enumeration) = catalog.enumeration(other) else {
        return Err(format!(
            "{name}: its value `{other}` is not an enumerator of any generated API"
        ));
    };
    let (enumeration, other) = (ident(enumeration), ident(other));
    Ok((quote!(#enumeration), quote!(#enumeration::#other)))
}
