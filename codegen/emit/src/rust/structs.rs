//! Structs and unions. A struct with a `struct_size` derives `Abi`, and its `#[abi(..)]` attributes state the facts
//! that the derive needs. Other structs are plain `repr(C)`.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use sp_expand::{FieldFacts, Receiver, StructFacts, ident};
use sp_ir::{Field, Item, Items, Presence, Stated, Struct, Type, Union, Writer};
use syn::Expr;

use super::doc::print_doc;
use super::slots;
use super::ty::{InScope, print_type};
use crate::model::catalog::Catalog;
use crate::model::context::Context;
use crate::model::docs::{field_doc, struct_doc, union_doc, with_discriminator_note};
use crate::model::item_releases::{ItemReleases, Layouts};

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
                let required = slots::required_slots(name, catalog);
                let item = print_struct(name, item, releases, &is_versioned, &required);
                quote!(#item #size)
            }
            Item::Union(item) => print_union(name, item, releases),
            _ => TokenStream::new(),
        })
        .collect()
}

/// Prints a struct; `is_versioned` returns true for a type that is a struct with a `struct_size`. `required` are the
/// slots that an author must implement, even if the host does not require them.
///
/// A default return value that is not a Rust expression is printed as a `compile_error!`. This does not
/// happen with IR that was read from a snapshot, since reading rejects such a value.
fn print_struct(
    name: &str,
    item: &Struct,
    releases: &dyn ItemReleases,
    is_versioned: &dyn Fn(&Type) -> bool,
    required: &BTreeSet<&str>,
) -> TokenStream {
    let layouts = releases.layouts(name);
    let attributes = struct_attributes(item, layouts);
    let text = with_discriminator_note(&struct_doc(item), &item.discriminator);
    let doc = print_doc(&text, &item.loc, releases.release_text(name, ""));
    let fields = item.fields.iter().map(|field| {
        let attribute = item.is_versioned().then(|| {
            let writer = printed_writer(item, field, is_versioned);
            let is_required = required.contains(field.name.as_str());
            field_attribute(field, writer, is_required, layouts)
        });
        print_member(field, attribute, releases.release_text(name, &field.name))
    });
    let name = ident(name);
    quote! {
        #doc
        #attributes
        pub struct #name {
            #(#fields,)*
        }
    }
}

fn struct_attributes(item: &Struct, layouts: Option<&Layouts>) -> TokenStream {
    if !item.is_versioned() {
        return quote!(#[derive(Clone, Copy, Debug)] #[repr(C)]);
    }
    let size = item.struct_size.as_ref();
    let receiver = item.receiver.as_ref().map(|it| Receiver {
        owner: ident(&it.value.owner),
        field: ident(&it.value.field),
    });
    let facts = StructFacts {
        filled_by: value(&item.filled_by),
        struct_size: size.map(|it| it.symbol.clone()),
        last: size.map(|it| ident(&it.last_field)),
        author_trait: item.author_trait.as_ref().map(|it| ident(&it.value)),
        receiver,
        epochs: layouts.map(|it| it.epochs.clone()),
    };
    let facts = facts.to_tokens();
    quote!(#[derive(Clone, Copy, Debug, sp_runtime::Abi)] #[repr(C)] #facts)
}

fn field_attribute(
    field: &Field,
    writer: Option<Writer>,
    is_required: bool,
    layouts: Option<&Layouts>,
) -> TokenStream {
    let default_return = field.default_return.as_ref();
    let default_return = default_return.map(|it| syn::parse_str::<Expr>(&it.value));
    let default_return = match default_return.transpose() {
        Ok(expression) => expression.map(ToTokens::into_token_stream),
        Err(error) => return error.to_compile_error(),
    };
    let offsets = layouts.and_then(|it| it.field_offsets.get(&field.name));
    let presence = match is_required {
        true => value(&field.presence).filter(|it| *it == Presence::Required),
        false => value(&field.presence),
    };
    let facts = FieldFacts {
        filled_by: value(&field.filled_by),
        writer,
        direction: value(&field.direction),
        presence: presence.filter(|it| *it != Presence::Unstated),
        default_return,
        offsets: offsets.cloned(),
    };
    facts.to_tokens()
}

fn value<T: Copy>(stated: &Option<Stated<T>>) -> Option<T> {
    stated.as_ref().map(|it| it.value)
}

/// Returns the party to print as the field's writer. `None` if the plugin may store the field: it is the field's
/// writer, or no fact states one. Also `None` for `struct_size`, which the derive knows by its name.
fn printed_writer(
    item: &Struct,
    field: &Field,
    is_versioned: &dyn Fn(&Type) -> bool,
) -> Option<Writer> {
    let writer = item.writer(field, is_versioned)?;
    (writer != Writer::Plugin && field.name != "struct_size").then_some(writer)
}

/// Prints a member as `pub name: type`, with its doc and its attribute.
fn print_member(field: &Field, attribute: Option<TokenStream>, releases: &str) -> TokenStream {
    let doc = print_doc(&field_doc(field), &field.loc, releases);
    let (name, ty) = (ident(&field.name), print_type(&field.ty, &InScope));
    quote!(#doc #attribute pub #name: #ty)
}

/// Prints the constant `STRUCT_SIZE` of a struct that begins with a base struct.
fn base_struct_size(name: &str, item: &Struct) -> Option<TokenStream> {
    let size = item.struct_size.as_ref().filter(|_| !item.is_versioned())?;
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
    let text = with_discriminator_note(&union_doc(item), &item.discriminator);
    let doc = print_doc(&text, &item.loc, releases.release_text(name, ""));
    let fields = item
        .fields
        .iter()
        .map(|field| print_member(field, None, releases.release_text(name, &field.name)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use sp_ir::{Evidence, Layout, Loc, Side, StructSize};

    /// All items exist from 2.5 on; the member `type` exists from 2.7 on.
    struct TestReleases;

    impl ItemReleases for TestReleases {
        fn release_text(&self, _: &str, member: &str) -> &str {
            match member {
                "" => "2.5 on",
                "type" => "2.7 on",
                _ => "",
            }
        }
    }

    #[test]
    fn docs_contain_releases() {
        let printed = print_struct(
            "Demo",
            &demo(None),
            &TestReleases,
            &|_| false,
            &BTreeSet::new(),
        )
        .to_string();
        assert!(printed.contains("Source: `demo.h:3`, 2.5 on."), "{printed}");
        assert!(printed.contains("Source: `demo.h:8`, 2.7 on."), "{printed}");
        assert!(printed.contains("Source: `demo.h:0`.\""), "{printed}");
    }

    fn stated<T>(value: T) -> Option<Stated<T>> {
        Some(Stated::new(value, Evidence::Prefix))
    }

    fn field(name: &str, ty: Type, offset: u64, size: u64) -> Field {
        Field::new(name, ty, offset, size, Loc::new("demo.h", offset as u32))
    }

    fn demo(struct_size: Option<StructSize>) -> Struct {
        let mut kind = field("type", Type::int(32, true), 8, 4);
        kind.filled_by = stated(Side::Core);
        let fields = vec![field("struct_size", Type::Size, 0, 8), kind];
        let layout = Layout { size: 16, align: 8 };
        Struct {
            filled_by: stated(Side::Plugin),
            struct_size,
            ..Struct::new(fields, layout, Loc::new("demo.h", 3))
        }
    }

    #[test]
    fn versioned_struct_has_abi_attributes() {
        let size = StructSize {
            symbol: "D".into(),
            last_field: "type".into(),
            value: 12,
        };
        let printed = print_struct(
            "Demo",
            &demo(Some(size)),
            &TestReleases,
            &|_| false,
            &BTreeSet::new(),
        );
        let item: syn::ItemStruct = syn::parse2(printed).unwrap();
        let facts = StructFacts::parse(&item.attrs).unwrap();
        assert_eq!(facts.filled_by, Some(Side::Plugin));
        assert_eq!(facts.last.unwrap().to_string(), "r#type");
        let kind = FieldFacts::parse(&item.fields.iter().nth(1).unwrap().attrs).unwrap();
        assert_eq!(kind.filled_by, Some(Side::Core));
        assert_eq!(kind.writer, Some(Writer::Core));
    }

    #[test]
    fn struct_without_struct_size_has_no_abi_attributes() {
        let item: syn::ItemStruct = syn::parse2(print_struct(
            "Demo",
            &demo(None),
            &TestReleases,
            &|_| false,
            &BTreeSet::new(),
        ))
        .unwrap();
        let abi = |attrs: &[syn::Attribute]| attrs.iter().any(|a| a.path().is_ident("abi"));
        assert!(!abi(&item.attrs) && !item.fields.iter().any(|f| abi(&f.attrs)));
    }

    #[test]
    fn docs_are_made_from_facts_if_notes_have_none() {
        let mut item = demo(None);
        assert_eq!(struct_doc(&item), "Filled by the plugin; 16 bytes.");
        let expected = "Value at byte 8, filled by TensorFlow.";
        assert_eq!(field_doc(&item.fields[1]), expected);
        item.doc = Some("A demo.".into());
        assert_eq!(struct_doc(&item), "A demo.");
    }
}
