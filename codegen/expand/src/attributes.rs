//! `#[derive(Attributes)]`: reads an op's attributes into the fields of the same names.
//!
//! `#[attribute("name")]` on a field states the attribute's name if it differs from the field's.

use std::ffi::CString;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Field, Fields, LitStr};

/// Expands the derive.
///
/// # Errors
/// Returns an error if the input is not a struct with named fields.
pub fn derive(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(needs_fields(&input));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(needs_fields(&input));
    };
    let name = &input.ident;
    let reads = fields
        .named
        .iter()
        .map(read_expression)
        .collect::<syn::Result<Vec<_>>>()?;
    Ok(quote! {
        impl ::sp_plugin::kernel::Attributes for #name {
            fn read(construction: &::sp_plugin::kernel::Construction<'_>) -> ::sp_plugin::Result<Self> {
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }
    })
}

fn needs_fields(input: &DeriveInput) -> syn::Error {
    syn::Error::new_spanned(&input.ident, "Attributes needs a struct with named fields")
}

fn read_expression(field: &Field) -> syn::Result<TokenStream> {
    let name = &field.ident;
    let attribute = Literal::c_string(&attribute_name(field)?);
    Ok(quote! { #name: construction.attribute(#attribute)? })
}

fn attribute_name(field: &Field) -> syn::Result<CString> {
    let stated = field
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("attribute"));
    let name = match (stated, &field.ident) {
        (Some(attribute), _) => attribute.parse_args::<LitStr>()?.value(),
        (None, Some(ident)) => ident.to_string().trim_start_matches("r#").to_owned(),
        (None, None) => String::new(),
    };
    CString::new(name)
        .map_err(|_| syn::Error::new_spanned(field, "an attribute's name must not contain NUL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_by_attribute_name() {
        let text = derive(quote! {
            struct BiasAdd { #[attribute("data_format")] format: String, transpose_a: bool }
        });
        let text = text.unwrap().to_string();
        assert!(
            text.contains(r#"format : construction . attribute (c"data_format") ?"#),
            "{text}"
        );
        assert!(text.contains(r#"attribute (c"transpose_a")"#), "{text}");
    }
}
