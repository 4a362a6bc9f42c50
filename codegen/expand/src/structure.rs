//! Prints structs of the IR as annotated Rust structs; [`crate::attribute`] has the grammar.
//!
//! A struct with a `struct_size` derives `Abi`. Other structs are plain `repr(C)`.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::{Discriminator, Field, Loc, Presence, Side, Stated, Struct, Type, Writer};

use crate::attribute::{FieldFacts, StructFacts};
use crate::layout::{Epochs, FieldOffsets};
use crate::ty::{InScope, ident, print_type};

/// The releases and layouts of items, for their documentation.
pub trait ItemReleases {
    /// Returns the releases that have `item`, or its member if `member` is not empty, such as `2.7 on`.
    /// The text is empty if the releases are not known, or if those of a member are the item's.
    fn release_text(&self, item: &str, member: &str) -> &str;

    /// Returns the layouts of a struct, or `None` if all releases have the same.
    fn layouts(&self, _item: &str) -> Option<&Layouts> {
        None
    }
}

/// The layouts of a struct, and the offsets of its fields in them.
#[derive(Debug, Clone)]
pub struct Layouts {
    /// The layouts.
    pub epochs: Epochs,
    /// The fields that do not have the same offset in all layouts.
    pub field_offsets: BTreeMap<String, FieldOffsets>,
}

/// Prints `item` for sp-abi; `is_versioned` returns true for a struct with a `struct_size`.
///
/// A default return value that is not a Rust expression is printed as a `compile_error!`. This does not
/// happen with IR that was read from a snapshot, since reading rejects such a value.
pub fn print_struct(
    name: &str,
    item: &Struct,
    releases: &dyn ItemReleases,
    is_versioned: &dyn Fn(&Type) -> bool,
) -> TokenStream {
    let layouts = releases.layouts(name);
    let attributes = print_struct_attributes(item, layouts);
    let doc = print_doc(
        &with_discriminator_note(&struct_doc(item), &item.discriminator),
        &item.loc,
        releases.release_text(name, ""),
    );
    let fields = item.fields.iter().map(|field| {
        let offsets = layouts.and_then(|it| it.field_offsets.get(&field.name));
        let facts = FieldFacts::from_field(field).map(|facts| FieldFacts {
            offsets: offsets.cloned(),
            writer: other_writer(item, field, is_versioned),
            ..facts
        });
        print_member(
            field,
            facts,
            self::is_versioned(item),
            releases.release_text(name, &field.name),
        )
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

/// Returns the party that stores the field, or `None` if it is the plugin or follows from the field's name.
fn other_writer(
    item: &Struct,
    field: &Field,
    is_versioned: &dyn Fn(&Type) -> bool,
) -> Option<Writer> {
    let writer = item.writer(field, is_versioned)?;
    (writer != Writer::Plugin && field.name != "struct_size").then_some(writer)
}

fn print_struct_attributes(item: &Struct, layouts: Option<&Layouts>) -> TokenStream {
    if !is_versioned(item) {
        return quote!(#[derive(Clone, Copy, Debug)] #[repr(C)]);
    }
    let mut facts = StructFacts::from_struct(item);
    facts.epochs = layouts.map(|it| it.epochs.clone());
    let facts = facts.to_tokens();
    quote!(#[derive(Clone, Copy, Debug, sp_runtime::Abi)] #[repr(C)] #facts)
}

/// Returns true if the struct's first field is its `struct_size`. A struct that begins with a base struct
/// takes part in the protocol through that base.
pub fn is_versioned(item: &Struct) -> bool {
    let first = item.fields.first();
    item.struct_size.is_some() && first.is_some_and(|field| field.name == "struct_size")
}

/// Prints a member of a union as `pub name: type`, with its doc.
pub fn print_field(field: &Field, releases: &str) -> TokenStream {
    print_member(field, FieldFacts::from_field(field), false, releases)
}

/// Prints a member as `pub name: type`, with its doc and, in a versioned struct, its facts.
fn print_member(
    field: &Field,
    facts: syn::Result<FieldFacts>,
    versioned: bool,
    releases: &str,
) -> TokenStream {
    let doc = print_doc(&field_doc(field), &field.loc, releases);
    let facts = match facts {
        Ok(facts) if versioned => facts.to_tokens(),
        Ok(_) => TokenStream::new(),
        Err(error) => error.to_compile_error(),
    };
    let name = ident(&field.name);
    let ty = print_type(&field.ty, &InScope);
    quote!(#doc #facts pub #name: #ty)
}

/// Prints a doc: `text`, and below it the declaration's position in the header and its releases, if known.
pub fn print_doc(text: &str, source: &Loc, releases: &str) -> TokenStream {
    let lines = text.lines().map(|line| match line.trim_end() {
        "" => String::new(),
        line => format!(" {line}"),
    });
    let releases = match releases {
        "" => String::new(),
        known => format!(", {known}"),
    };
    let source = format!(" Source: `{}:{}`{releases}.", source.file, source.line);
    quote!(#(#[doc = #lines])* #[doc = ""] #[doc = #source])
}

/// Adds a paragraph to `doc` if layouts of the same size are distinguished by something else.
pub fn with_discriminator_note(doc: &str, stated: &Option<Stated<Discriminator>>) -> String {
    match stated.as_ref().map(|it| it.value) {
        Some(Discriminator::Release) => format!(
            "{doc}\n\nThe layout differs between releases, and only the running release identifies it."
        ),
        None => doc.to_owned(),
    }
}

/// Returns the doc of a struct: that of the notes, or one made from the facts.
pub fn struct_doc(item: &Struct) -> String {
    if let Some(doc) = &item.doc {
        return doc.clone();
    }
    let filler = match &item.filled_by {
        Some(by) => format!("Filled by {}", party(by.value)),
        None => "A struct".into(),
    };
    let bytes = item.layout.size;
    match &item.struct_size {
        Some(size) => format!(
            "{filler}; {bytes} bytes, `{}` is {}.",
            size.symbol, size.value
        ),
        None => format!("{filler}; {bytes} bytes."),
    }
}

/// Returns the doc of a field: that of the notes, or one made from the facts.
pub fn field_doc(field: &Field) -> String {
    if let Some(doc) = &field.doc {
        return doc.clone();
    }
    if field.name == "struct_size" {
        return "Size of the struct in bytes, as far as the side that allocated it knows its fields."
            .into();
    }
    let kind = match &field.ty {
        Type::Function(_) => "Slot",
        Type::Pointer { .. } => "Pointer",
        _ => "Value",
    };
    let presence = match presence(field) {
        Presence::Required => ", required",
        Presence::Optional => ", optional",
        Presence::Unstated => "",
    };
    let by = field
        .filled_by
        .as_ref()
        .map(|by| format!(", filled by {}", party(by.value)));
    format!(
        "{kind} at byte {}{presence}{}.",
        field.offset,
        by.unwrap_or_default()
    )
}

/// Returns the presence of a field, or `Unstated` if nothing states it.
pub fn presence(field: &Field) -> Presence {
    field
        .presence
        .as_ref()
        .map_or(Presence::Unstated, |it| it.value)
}

fn party(side: Side) -> &'static str {
    match side {
        Side::Core => "TensorFlow",
        Side::Plugin => "the plugin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_ir::{Evidence, Layout, Stated, StructSize};

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
        let printed = print_struct("Demo", &demo(None), &TestReleases, &|_| false).to_string();
        assert!(printed.contains("Source: `demo.h:3`, 2.5 on."), "{printed}");
        assert!(printed.contains("Source: `demo.h:8`, 2.7 on."), "{printed}");
        assert!(printed.contains("Source: `demo.h:0`.\""), "{printed}");
    }

    fn loc(line: u32) -> Loc {
        Loc {
            file: "demo.h".into(),
            line,
        }
    }

    fn stated<T>(value: T) -> Option<Stated<T>> {
        Some(Stated::new(value, Evidence::Prefix))
    }

    fn field(name: &str, ty: Type, offset: u64, size: u64) -> Field {
        Field {
            name: name.into(),
            doc: None,
            ty,
            offset,
            size,
            filled_by: None,
            direction: None,
            presence: None,
            default_return: None,
            section: None,
            loc: loc(offset as u32),
        }
    }

    fn demo(struct_size: Option<StructSize>) -> Struct {
        let mut kind = field(
            "type",
            Type::Int {
                bits: 32,
                signed: true,
            },
            8,
            4,
        );
        kind.filled_by = stated(Side::Core);
        Struct {
            doc: None,
            filled_by: stated(Side::Plugin),
            receiver: None,
            author_trait: None,
            discriminator: None,
            fields: vec![field("struct_size", Type::Size, 0, 8), kind],
            layout: Layout { size: 16, align: 8 },
            struct_size,
            loc: loc(3),
        }
    }

    #[test]
    fn versioned_struct_has_abi_attributes() {
        let size = StructSize {
            symbol: "D".into(),
            last_field: "type".into(),
            value: 12,
        };
        let printed = print_struct("Demo", &demo(Some(size)), &TestReleases, &|_| false);
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
        let item: syn::ItemStruct =
            syn::parse2(print_struct("Demo", &demo(None), &TestReleases, &|_| false)).unwrap();
        let abi = |attrs: &[syn::Attribute]| attrs.iter().any(|a| a.path().is_ident("abi"));
        assert!(!abi(&item.attrs) && !item.fields.iter().any(|f| abi(&f.attrs)));
    }

    #[test]
    fn docs_are_made_from_facts_if_notes_have_none() {
        let mut item = demo(None);
        assert_eq!(struct_doc(&item), "Filled by the plugin; 16 bytes.");
        assert_eq!(
            field_doc(&item.fields[1]),
            "Value at byte 8, filled by TensorFlow."
        );
        item.doc = Some("A demo.".into());
        assert_eq!(struct_doc(&item), "A demo.");
    }
}
