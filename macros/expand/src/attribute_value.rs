//! `#[derive(AttributeValue)]`: an enum for a string attribute. `#[value("NHWC", "NDHWC")]` on a variant lists its
//! strings.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Fields, LitStr, Token, Variant};

/// Expands the derive.
///
/// # Errors
/// Returns an error if the input is not an enum of variants without fields, each with its strings.
pub fn derive(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "AttributeValue needs an enum",
        ));
    };
    let values = data
        .variants
        .iter()
        .map(print_values)
        .collect::<syn::Result<Vec<_>>>()?;
    let variants = data.variants.iter().map(|it| &it.ident);
    let name = &input.ident;
    Ok(quote! {
        impl #name {
            fn __from_text(text: &::core::primitive::str) -> ::sp_plugin::Result<Self> {
                ::sp_plugin::__private::variant_of(&[#(Self::#variants),*], text)
            }
        }

        impl ::sp_plugin::__private::FromAttribute for #name {
            const KIND: ::sp_plugin::__private::Kind = ::sp_plugin::__private::Kind::Text;
            const VALUES: &'static [&'static [&'static ::core::primitive::str]] = &[#(#values),*];

            fn read(
                construction: &::sp_plugin::__private::Construction<'_>,
                name: &::core::ffi::CStr,
            ) -> ::sp_plugin::Result<Self> {
                Self::__from_text(&construction.attribute::<::std::string::String>(name)?)
            }

            fn from_default(
                value: ::sp_plugin::__private::DefaultValue,
            ) -> ::sp_plugin::Result<Self> {
                let text = <::std::string::String as ::sp_plugin::__private::FromAttribute>::from_default(value)?;
                Self::__from_text(&text)
            }
        }

        impl<'c> ::sp_plugin::kernel::AttributeParameter<'c, ::sp_plugin::kernel::marker::Text> for #name {
            type Stored = Self;

            fn from_stored(stored: &'c Self) -> Self {
                *stored
            }
        }
    })
}

fn print_values(variant: &Variant) -> syn::Result<TokenStream> {
    let missing = || {
        syn::Error::new_spanned(
            variant,
            "list the strings of the variant, as in `#[value(\"NHWC\")]`",
        )
    };
    let stated = variant
        .attrs
        .iter()
        .find(|it| it.path().is_ident("value"))
        .ok_or_else(missing)?;
    if !matches!(variant.fields, Fields::Unit) {
        return Err(syn::Error::new_spanned(
            variant,
            "a variant of AttributeValue has no fields",
        ));
    }
    let values = stated.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated)?;
    let values = values.iter();
    Ok(quote!(&[#(#values),*]))
}
