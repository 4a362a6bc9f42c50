//! Structs and unions. A struct is printed by sp-expand, which also reads it back.

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

/// The structs and unions of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    print(&context.api.items, context.timeline, context.catalog)
}

/// The structs and unions among `items`.
pub fn print(items: &Items, dates: &dyn ItemReleases, catalog: &Catalog<'_>) -> TokenStream {
    let is_versioned = |ty: &Type| catalog.is_versioned(ty);
    items
        .iter()
        .map(|(name, item)| match item {
            Item::Struct(item) => {
                let size = size_of_base(name, item);
                let item = print_struct(name, item, dates, &is_versioned);
                quote!(#item #size)
            }
            Item::Union(item) => union(name, item, dates),
            _ => TokenStream::new(),
        })
        .collect()
}

/// What goes into the base's `struct_size`, for a struct that opens with a base.
fn size_of_base(name: &str, item: &Struct) -> Option<TokenStream> {
    let size = item.struct_size.as_ref().filter(|_| !is_versioned(item))?;
    let last = item.fields.iter().find(|it| it.name == size.last_field)?;
    let (name, field) = (ident(name), ident(&last.name));
    let ty = print_type(&last.ty, &InScope);
    let doc = format!(" What `{}` says: the end of `{}`.", size.symbol, last.name);
    Some(quote! {
        impl #name {
            #[doc = #doc]
            pub const STRUCT_SIZE: usize = core::mem::offset_of!(Self, #field) + size_of::<#ty>();
        }
    })
}

fn union(name: &str, item: &Union, dates: &dyn ItemReleases) -> TokenStream {
    let line = format!("A union of {} bytes.", item.layout.size);
    let text = with_discriminator_note(item.doc.as_ref().unwrap_or(&line), &item.discriminator);
    let doc = print_doc(&text, &item.loc, dates.release_text(name, ""));
    let fields = item
        .fields
        .iter()
        .map(|field| print_field(field, dates.release_text(name, &field.name)));
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
