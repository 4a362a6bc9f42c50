//! Enumerations as integer types: a newer host may pass a value that is not listed, which is undefined
//! behaviour for a Rust `enum`.

use std::collections::HashSet;

use super::doc::print_doc;
use super::ty::{InScope, print_type};
use crate::model::item_releases::ItemReleases;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::ident;
use sp_ir::{Enum, Variant};

use crate::model::context::Context;

/// Emits the enumerations of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let items = &context.api.items;
    items
        .iter()
        .filter_map(|(name, item)| Some(enumeration(name, item.as_enum()?, context.timeline)))
        .collect()
}

fn enumeration(name: &str, item: &Enum, releases: &dyn ItemReleases) -> TokenStream {
    let line = format!("An enumeration with {} known values.", item.variants.len());
    let doc = print_doc(
        item.doc.as_ref().unwrap_or(&line),
        &item.loc,
        releases.release_text(name, ""),
    );
    let repr = print_type(&item.repr, &InScope);
    let ident = ident(name);
    let constants = item
        .variants
        .iter()
        .map(|variant| constant(variant, releases.release_text(name, &variant.name)));
    let arms = name_arms(&item.variants);
    let unknown = format!("{name}({{}})");
    quote! {
        #doc
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct #ident(pub #repr);
        impl #ident {
            #(#constants)*
            /// Returns the C name of the value, or `None` if it is not known.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    #arms
                    _ => None,
                }
            }
        }
        impl core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, #unknown, self.0),
                }
            }
        }
    }
}

fn constant(variant: &Variant, releases: &str) -> TokenStream {
    let name = ident(&variant.name);
    let value = Literal::i64_unsuffixed(variant.value);
    let releases = match releases {
        "" => String::new(),
        known => format!("; {known}"),
    };
    let doc = format!(" `{}` is {}{releases}.", variant.name, variant.value);
    quote!(#[doc = #doc] pub const #name: Self = Self(#value);)
}

/// Prints an arm for each value. The first of several names of a value is used.
fn name_arms(variants: &[Variant]) -> TokenStream {
    let mut seen = HashSet::new();
    let arms = variants
        .iter()
        .filter(|variant| seen.insert(variant.value))
        .map(|variant| {
            let value = Literal::i64_unsuffixed(variant.value);
            let name = &variant.name;
            quote!(#value => Some(#name),)
        });
    arms.collect()
}
