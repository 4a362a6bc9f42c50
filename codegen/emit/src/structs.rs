//! Structs and unions. sp-expand prints the structs, since it also parses their attributes.

use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::print_struct;
use sp_expand::structure::{
    ItemReleases, is_versioned, print_doc, print_field, with_discriminator_note,
};
use sp_expand::ty::{InScope, ident, print_type};
use sp_ir::{Item, Items, Struct, Type, Union};

use super::catalog::Catalog;
use crate::context::Context;

/// Emits the structs and unions of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    print(&context.api.items, context.timeline, context.catalog)
}

/// Prints the structs and unions among `items`.
pub fn print(items: &Items, releases: &dyn ItemReleases, catalog: &Catalog<'_>) -> TokenStream {
    let is_versioned = |ty: &Type| catalog.is_versioned(ty);
    items
        .iter()
        .map(|(name, item)| match item {
            Item::Struct(item) => {
                let size = base_struct_size(name, item);
                let item = print_struct(name, item, releases, &is_versioned);
                quote!(#item #size)
            }
            Item::Union(item) => print_union(name, item, releases),
            _ => TokenStream::new(),
        })
        .collect()
}

/// Prints the constant `STRUCT_SIZE` of a struct that begins with a base struct.
fn base_struct_size(name: &str, item: &Struct) -> Option<TokenStream> {
    let size = item.struct_size.as_ref().filter(|_| !is_versioned(item))?;
    let last = item.fields.iter().find(|it| it.name == size.last_field)?;
    let (name, field) = (ident(name), ident(&last.name));
    let ty = print_type(&last.ty, &InScope);
    let doc = format!(
        " The value of `{}`: the end of `{}`.",
        size.symbol, last.name
    );
    Some(quote! {
        impl #name {
            #[doc = #doc]
            pub const STRUCT_SIZE: usize = core::mem::offset_of!(Self, #field) + size_of::<#ty>();
        }
    })
}

fn print_union(name: &str, item: &Union, releases: &dyn ItemReleases) -> TokenStream {
    let line = format!("A union of {} bytes.", item.layout.size);
    let text = with_discriminator_note(item.doc.as_ref().unwrap_or(&line), &item.discriminator);
    let doc = print_doc(&text, &item.loc, releases.release_text(name, ""));
    let fields = item
        .fields
        .iter()
        .map(|field| print_field(field, releases.release_text(name, &field.name)));
    let ident = ident(name);
    quote! {
        #doc
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub union #ident {
            #(#fields,)*
        }
        impl core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(#name).finish_non_exhaustive()
            }
        }
    }
}
