//! `#[derive(Attributes)]`: reads an op's attributes into the fields of the same names.
//!
//! `#[attribute("name")]` on a field states the attribute's name if it differs from the field's.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::ffi::CString;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Field, Fields, LitStr};

/// Expands the derive.
///
/// # Errors
/// Returns an error if the input is not a struct with named fields.
pub fn derive(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let needs_fields =
        || syn::Error::new_spanned(&input.ident, "Attributes needs a struct with named fields");
    let Data::Struct(data) = &input.data else {
        return Err(needs_fields());
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(needs_fields());
    };
    let name = &input.ident;
    let names = fields
        .named
        .iter()
        .map(attribute_name)
        .collect::<syn::Result<Vec<_>>>()?;
    let facts = fields
        .named
        .iter()
        .zip(&names)
        .map(|(field, name)| print_fact(field, name));
    let types: Vec<_> = fields.named.iter().map(|field| &field.ty).collect();
    let reads = fields
        .named
        .iter()
        .zip(&names)
        .map(|(field, name)| print_read(field, name));
    Ok(quote! {
        impl ::sp_plugin::kernel::Attributes for #name {
            const FIELDS: &'static [(&'static str, ::sp_plugin::__private::Kind)] = &[#(#facts),*];
            const FUNCTIONS: ::sp_plugin::__private::FunctionNames =
                ::sp_plugin::__private::FunctionNames::Parts(
                    &[#(<#types as ::sp_plugin::__private::FromAttribute>::FUNCTIONS),*],
                );

            fn read(construction: &::sp_plugin::__private::Construction<'_>) -> ::sp_plugin::Result<Self> {
                ::core::result::Result::Ok(Self { #(#reads),* })
            }

            fn check_available() -> ::core::result::Result<(), ::sp_plugin::__private::UnavailableFunction> {
                #(<#types as ::sp_plugin::__private::FromAttribute>::check_available()?;)*
                ::core::result::Result::Ok(())
            }
        }

        impl ::sp_plugin::kernel::Prepare for #name {
            type Attributes = Self;

            fn prepare(attributes: Self) -> ::sp_plugin::Result<Self> {
                ::core::result::Result::Ok(attributes)
            }
        }
    })
}

fn print_fact(field: &Field, name: &CString) -> TokenStream {
    let (ty, name) = (&field.ty, name.to_string_lossy());
    quote!((#name, <#ty as ::sp_plugin::__private::FromAttribute>::KIND))
}

fn print_read(field: &Field, name: &CString) -> TokenStream {
    let (ident, name) = (&field.ident, Literal::c_string(name));
    quote!(#ident: construction.attribute(#name)?)
}

fn attribute_name(field: &Field) -> syn::Result<CString> {
    let stated = field
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("attribute"));
    let name = match (stated, &field.ident) {
        (Some(attribute), _) => attribute.parse_args::<LitStr>()?.value(),
        (None, Some(ident)) => ident.unraw().to_string(),
        (None, None) => String::new(),
    };
    CString::new(name)
        .map_err(|_| syn::Error::new_spanned(field, "an attribute's name must not contain NUL"))
}
