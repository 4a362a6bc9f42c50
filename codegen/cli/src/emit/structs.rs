//! Structs and unions. A struct is printed by sp-expand, which also reads it back.

use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::print_struct;
use sp_expand::structure::{print_doc, print_field};
use sp_expand::ty::ident;
use sp_ir::{Item, Items, Union};

/// The structs and unions of an API.
pub fn emit(items: &Items) -> TokenStream {
    items
        .iter()
        .map(|(name, item)| match item {
            Item::Struct(item) => print_struct(name, item),
            Item::Union(item) => union(name, item),
            _ => TokenStream::new(),
        })
        .collect()
}

fn union(name: &str, item: &Union) -> TokenStream {
    let line = format!("A union of {} bytes.", item.layout.size);
    let doc = print_doc(item.doc.as_ref().unwrap_or(&line), &item.loc);
    let fields = item.fields.iter().map(|field| print_field(field, false));
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
