//! Enumerations, as open integers: a newer host may send a value that is not listed, which as a
//! Rust `enum` would be undefined behaviour.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::structure::{ItemReleases, print_doc};
use sp_expand::ty::{InScope, ident, print_type};
use sp_ir::{Enum, Item, Variant};

use crate::context::Context;

/// The enumerations of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let items = &context.api.items;
    items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Enum(item) => Some(enumeration(name, item, context.timeline)),
            _ => None,
        })
        .collect()
}

fn enumeration(name: &str, item: &Enum, dates: &dyn ItemReleases) -> TokenStream {
    let line = format!(
        "An open enumeration; {} values are known.",
        item.variants.len()
    );
    let doc = print_doc(
        item.doc.as_ref().unwrap_or(&line),
        &item.loc,
        dates.release_text(name, ""),
    );
    let repr = print_type(&item.repr, &InScope);
    let ident = ident(name);
    let constants = item
        .variants
        .iter()
        .map(|variant| constant(variant, dates.release_text(name, &variant.name)));
    let names = names(&item.variants);
    let unknown = format!("{name}({{}})");
    quote! {
        #doc
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct #ident(pub #repr);
        impl #ident {
            #(#constants)*
            /// The C name of the value, if it is a known one.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    #names
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

/// One arm per value; of two names for one value the first is the one that is told.
fn names(variants: &[Variant]) -> TokenStream {
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
