//! A struct of the IR as an annotated Rust struct; [`crate::attribute`] is what its attributes say.
//!
//! A struct with a `struct_size` derives `Abi`; one without has nothing that a derive could use,
//! and is plain `repr(C)`.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::{Discriminator, Field, Loc, Presence, Side, Stated, Struct, Type, Writer};

use crate::attribute::{FieldFacts, StructFacts};
use crate::layout::{Epochs, Places};
use crate::ty::{InScope, ident, print_type};

/// The releases that have an item or a member of it, in words: `2.7 on`. Empty where nothing is
/// known, and for a member whose releases are the item's own.
pub trait Dates {
    /// Of the item, or of its member where `member` is not empty.
    fn of(&self, item: &str, member: &str) -> &str;

    /// The layouts that a struct has had, where they differ.
    fn layouts(&self, _item: &str) -> Option<&Layouts> {
        None
    }
}

/// The layouts of a struct, and what fields they have moved.
#[derive(Debug, Clone)]
pub struct Layouts {
    /// The layouts.
    pub epochs: Epochs,
    /// The fields that not all of them have in one place.
    pub moved: BTreeMap<String, Places>,
}

/// Prints `item` as it stands in sp-abi; `is_versioned` tells a struct with a `struct_size` from other
/// types.
///
/// A `neutral` that is not a Rust expression is printed as a `compile_error!`, since whoever reads
/// the IR has refused it before.
pub fn print_struct(
    name: &str,
    item: &Struct,
    dates: &dyn Dates,
    is_versioned: &dyn Fn(&Type) -> bool,
) -> TokenStream {
    let layouts = dates.layouts(name);
    let attributes = print_struct_attributes(item, layouts);
    let doc = print_doc(
        &told_apart(&struct_doc(item), &item.discriminator),
        &item.loc,
        dates.of(name, ""),
    );
    let fields = item.fields.iter().map(|field| {
        let moved = layouts.and_then(|it| it.moved.get(&field.name));
        let facts = FieldFacts::of(field).map(|facts| FieldFacts {
            at: moved.cloned(),
            writer: other_writer(item, field, is_versioned),
            ..facts
        });
        print_member(
            field,
            facts,
            self::is_versioned(item),
            dates.of(name, &field.name),
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

/// Returns who stores the field, unless it is the plugin or follows from the field's name.
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
    let mut facts = StructFacts::of(item);
    facts.epochs = layouts.map(|it| it.epochs.clone());
    let facts = facts.to_tokens();
    quote!(#[derive(Clone, Copy, Debug, sp_runtime::Abi)] #[repr(C)] #facts)
}

/// Whether it takes part in the `struct_size` protocol itself: one that opens with a base, whose
/// `struct_size` is the whole's, does so through that base.
pub fn is_versioned(item: &Struct) -> bool {
    let first = item.fields.first();
    item.struct_size.is_some() && first.is_some_and(|field| field.name == "struct_size")
}

/// Prints a union's `pub name: type`, with its doc.
pub fn print_field(field: &Field, releases: &str) -> TokenStream {
    print_member(field, FieldFacts::of(field), false, releases)
}

/// Prints `pub name: type`, with its doc and, in a versioned struct, its facts.
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

/// Prints a doc: what is said, and below it the place in the header that it rests on and the
/// releases that have it, where those are known.
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

/// A doc, and in a paragraph of its own what tells layouts apart where their sizes do not.
pub fn told_apart(doc: &str, stated: &Option<Stated<Discriminator>>) -> String {
    match stated.as_ref().map(|it| it.value) {
        Some(Discriminator::Release) => format!(
            "{doc}\n\nIt lies otherwise in some releases, and only the running release tells which."
        ),
        None => doc.to_owned(),
    }
}

/// The line about a struct: the notes' own, or what the facts say.
pub fn struct_doc(item: &Struct) -> String {
    if let Some(doc) = &item.doc {
        return doc.clone();
    }
    let who = match &item.filled_by {
        Some(by) => format!("Filled by {}", party(by.value)),
        None => "A struct".into(),
    };
    let bytes = item.layout.size;
    match &item.struct_size {
        Some(size) => format!("{who}; {bytes} bytes, `{}` is {}.", size.symbol, size.value),
        None => format!("{who}; {bytes} bytes."),
    }
}

/// The line about a field: the notes' own, or what the facts say.
pub fn field_doc(field: &Field) -> String {
    if let Some(doc) = &field.doc {
        return doc.clone();
    }
    if field.name == "struct_size" {
        return "How many bytes of this struct its maker knows.".into();
    }
    let what = match &field.ty {
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
        "{what} at byte {}{presence}{}.",
        field.offset,
        by.unwrap_or_default()
    )
}

/// What is stated of a field's presence.
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

    /// Every item has been there for long, `type` came later.
    struct Always;

    impl Dates for Always {
        fn of(&self, _: &str, member: &str) -> &str {
            match member {
                "" => "2.5 on",
                "type" => "2.7 on",
                _ => "",
            }
        }
    }

    #[test]
    fn docs_say_since_when() {
        let printed = print_struct("Demo", &demo(None), &Always, &|_| false).to_string();
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
            neutral: None,
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
    fn a_versioned_struct_carries_its_facts() {
        let size = StructSize {
            symbol: "D".into(),
            last_field: "type".into(),
            value: 12,
        };
        let printed = print_struct("Demo", &demo(Some(size)), &Always, &|_| false);
        let item: syn::ItemStruct = syn::parse2(printed).unwrap();
        let facts = StructFacts::parse(&item.attrs).unwrap();
        assert_eq!(facts.filled_by, Some(Side::Plugin));
        assert_eq!(facts.last.unwrap().to_string(), "r#type");
        let kind = FieldFacts::parse(&item.fields.iter().nth(1).unwrap().attrs).unwrap();
        assert_eq!(kind.filled_by, Some(Side::Core));
        assert_eq!(kind.writer, Some(Writer::Core));
    }

    #[test]
    fn a_struct_without_struct_size_is_plain() {
        let item: syn::ItemStruct =
            syn::parse2(print_struct("Demo", &demo(None), &Always, &|_| false)).unwrap();
        let abi = |attrs: &[syn::Attribute]| attrs.iter().any(|a| a.path().is_ident("abi"));
        assert!(!abi(&item.attrs) && !item.fields.iter().any(|f| abi(&f.attrs)));
    }

    #[test]
    fn docs_are_made_from_facts_where_the_notes_say_nothing() {
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
