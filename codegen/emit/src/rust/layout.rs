//! Compile-time assertions that the Rust structs have the layouts of the C compiler.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::ident;
use sp_ir::{Field, Item, Items, Layout, StructSize};

use crate::model::context::Context;

/// Emits the assertions of an API. The snapshots contain 64-bit layouts.
pub fn emit(context: &Context<'_>) -> TokenStream {
    print(&context.api.items)
}

/// Prints the assertions for the structs and unions among `items`.
pub fn print(items: &Items) -> TokenStream {
    items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Struct(it) => Some(assertions(
                name,
                it.layout,
                &it.fields,
                it.struct_size.as_ref(),
            )),
            Item::Union(it) => Some(assertions(name, it.layout, &it.fields, None)),
            _ => None,
        })
        .collect()
}

fn assertions(
    name: &str,
    layout: Layout,
    fields: &[Field],
    size: Option<&StructSize>,
) -> TokenStream {
    let name = ident(name);
    let (bytes, align) = (number(layout.size), number(layout.align));
    let offsets = fields.iter().map(|field| {
        let (field, offset) = (ident(&field.name), number(field.offset));
        quote!(assert!(offset_of!(#name, #field) == #offset);)
    });
    let struct_size = size.map(|size| {
        let value = number(size.value);
        quote!(assert!(#name::STRUCT_SIZE == #value);)
    });
    quote! {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            let (size, align) = (size_of::<#name>(), align_of::<#name>());
            assert!(size == #bytes && align == #align);
            #(#offsets)*
            #struct_size
        };
    }
}

fn number(value: u64) -> Literal {
    Literal::u64_unsuffixed(value)
}
