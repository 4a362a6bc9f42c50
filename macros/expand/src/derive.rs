//! `#[derive(Abi)]`: expands a struct of the ABI by its fields and their `#[abi(..)]` facts.
//!
//! The struct gets `STRUCT_SIZE` and one [`Field`] constant per field, with the field's name. A function
//! table also gets `fill`, which stores an author's slots as far as the host's struct has them.
//!
//! [`Field`]: https://docs.rs/sp-runtime
//!
//! A shim of a slot has the author's `&self` from the receiver's handle, converts structs to prefix views, and runs
//! under the panic guard. The layouts are attributes from `sp_ir::History`: `epochs = "2.5..2.6 = 264, 2.7.. = 288"`
//! of the struct and `offsets = "264 = 256, 288 = 280"` of a field.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use sp_ir::{Presence, Writer};
use syn::{Data, DeriveInput, Field, Fields, PathArguments, Type};

use crate::layout::{Epoch, Epochs, FieldOffsets};
use crate::{FieldFacts, StructFacts};

/// Expands the derive.
///
/// # Errors
/// Returns a spanned error if the struct cannot take part in the `struct_size` protocol.
pub fn derive(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let facts = StructFacts::parse(&input.attrs)?;
    let members = members(&input)?;
    check_repr(&input)?;
    let name = &input.ident;
    let epochs = facts.epochs.as_ref().map_or(&[][..], |it| &it.0);
    let constants: syn::Result<Vec<_>> = members
        .iter()
        .enumerate()
        .map(|(index, it)| it.constant(index, epochs))
        .collect();
    let constants = constants?;
    let versioned = versioned(&input, &facts, &members)?;
    let fill = facts
        .author_trait
        .as_ref()
        .map(|author| fill(name, author, &members));
    Ok(quote! {
        #[allow(non_upper_case_globals, missing_docs)]
        impl #name { #(#constants)* }
        #versioned
        #fill
    })
}

struct Member<'a> {
    name: &'a Ident,
    field: &'a Field,
    facts: FieldFacts,
}

fn members(input: &DeriveInput) -> syn::Result<Vec<Member<'_>>> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(needs_fields(input)),
        },
        _ => return Err(needs_fields(input)),
    };
    fields
        .iter()
        .map(|field| Member::parse(field, input))
        .collect()
}

fn needs_fields(input: &DeriveInput) -> syn::Error {
    syn::Error::new_spanned(&input.ident, "Abi needs a struct with named fields")
}

/// Checks that the fields are in order, and each at a multiple of its alignment: views read and write them by pointers.
fn check_repr(input: &DeriveInput) -> syn::Result<()> {
    let (mut is_c, mut is_packed) = (false, false);
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("repr"))
    {
        attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C");
            is_packed |= meta.path.is_ident("packed");
            Ok(())
        })?;
    }
    if is_packed {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "Abi needs aligned fields: remove `packed`",
        ));
    }
    if is_c {
        return Ok(());
    }
    Err(syn::Error::new_spanned(
        &input.ident,
        "Abi needs #[repr(C)]: without it Rust may reorder the fields",
    ))
}

impl<'a> Member<'a> {
    fn parse(field: &'a Field, input: &DeriveInput) -> syn::Result<Self> {
        let name = field.ident.as_ref().ok_or_else(|| needs_fields(input))?;
        Ok(Self {
            name,
            field,
            facts: FieldFacts::parse(&field.attrs)?,
        })
    }

    fn constant(&self, index: usize, epochs: &[Epoch]) -> syn::Result<TokenStream> {
        let (name, ty, visibility) = (self.name, &self.field.ty, &self.field.vis);
        let offset = quote!(::core::mem::offset_of!(Self, #name));
        let index = Literal::usize_unsuffixed(index);
        let field = match &self.facts.offsets {
            None => quote! {
                // SAFETY: `offset_of!` gives the offset of this field, of type `F`, which the struct has in
                // every layout that is long enough. The index counts the fields in order, as FIELDS does.
                unsafe { ::sp_runtime::Field::with_fixed_offset(#index, #offset) }
            },
            Some(offsets) => {
                let offsets = self.epoch_offsets(offsets, epochs)?;
                quote! {
                    // SAFETY: `offset_of!` gives the newest offset. The headers of the older releases give
                    // theirs, one for each epoch. The index counts the fields in order, as FIELDS does.
                    unsafe { ::sp_runtime::Field::with_offsets(#index, #offset, &[#(#offsets),*]) }
                }
            }
        };
        let writer = self.writer();
        Ok(quote! { #visibility const #name: ::sp_runtime::Field<Self, #ty #writer> = #field; })
    }

    /// Returns the argument of `Field` for the party that stores the field, or `None` for the plugin.
    fn writer(&self) -> Option<TokenStream> {
        if self.name == "struct_size" {
            return Some(quote!(, ::sp_runtime::writer::StructSize));
        }
        match self.facts.writer? {
            Writer::Core => Some(quote!(, ::sp_runtime::writer::TensorFlow)),
            Writer::Reserved => Some(quote!(, ::sp_runtime::writer::Reserved)),
            Writer::Plugin => None,
        }
    }

    /// Returns the field's offset in each epoch, as expressions of type `Option<usize>`.
    fn epoch_offsets(
        &self,
        offsets: &FieldOffsets,
        epochs: &[Epoch],
    ) -> syn::Result<Vec<TokenStream>> {
        let known = |size| epochs.iter().any(|epoch| epoch.size == size);
        if let Some((size, _)) = offsets.0.iter().find(|(size, _)| !known(*size)) {
            let message = format!("`epochs` of the struct has no layout of {size} bytes");
            return Err(syn::Error::new_spanned(self.name, message));
        }
        let offset_in = |epoch: &Epoch| match offsets.offset_in(epoch.size) {
            Some(offset) => {
                let offset = Literal::u64_unsuffixed(offset);
                quote!(::core::option::Option::Some(#offset))
            }
            None => quote!(::core::option::Option::None),
        };
        Ok(epochs.iter().map(offset_in).collect())
    }

    /// Returns the field's name as C spells it, without `r#`.
    fn c_name(&self) -> String {
        self.name.to_string().trim_start_matches("r#").to_owned()
    }

    /// Returns true if this is a slot: an `Option` of a function pointer.
    fn is_slot(&self) -> bool {
        let Type::Path(path) = &self.field.ty else {
            return false;
        };
        path.path.segments.last().is_some_and(|segment| {
            segment.ident == "Option"
                && matches!(segment.arguments, PathArguments::AngleBracketed(_))
        })
    }

    fn store_slot(&self, table: &Ident) -> TokenStream {
        let name = self.name;
        let shim = quote! { ::core::option::Option::Some(super::shims::#table::#name::<T>) };
        if self.facts.presence != Some(Presence::Optional) {
            return quote! { table.set(Self::#name, #shim); };
        }
        let has = format!("HAS_{}", self.c_name().to_uppercase());
        let has = Ident::new(&has, name.span());
        quote! {
            table.set(Self::#name, if T::#has { #shim } else { ::core::option::Option::None });
        }
    }
}

/// Returns the impl of `Versioned`, or `None` if the attributes name no last field.
fn versioned(
    input: &DeriveInput,
    facts: &StructFacts,
    members: &[Member<'_>],
) -> syn::Result<Option<TokenStream>> {
    let Some(last) = &facts.last else {
        return Ok(None);
    };
    let last = check_protocol(input, last, members)?;
    let (last, last_type) = (last.name, &last.field.ty);
    let name = &input.ident;
    let text = name.to_string();
    let epochs = epochs(facts);
    let fields = members.iter().map(Member::c_name);
    let moved = members
        .iter()
        .filter(|member| member.facts.offsets.is_some());
    let checks = moved.map(|Member { name: field, .. }| {
        quote! {
            // Checks the offsets of older layouts, also of a field that nobody uses.
            const _: () = {
                let _ = #name::#field;
            };
        }
    });
    Ok(Some(quote! {
        // SAFETY: the derive has checked that the type is repr(C) and that its first field is `struct_size`; the function
        // below checks the field's type.
        // STRUCT_SIZE is the end of the last field, and an assertion compares it with the last epoch.
        unsafe impl ::sp_runtime::Versioned for #name {
            const NAME: &'static str = #text;
            const STRUCT_SIZE: usize =
                ::core::mem::offset_of!(#name, #last) + ::core::mem::size_of::<#last_type>();
            const EPOCHS: &'static [::sp_runtime::Epoch] = #epochs;
            const FIELDS: &'static [&'static str] = &[#(#fields),*];

            fn host_layout() -> &'static ::sp_runtime::HostLayoutCell {
                static LAYOUT: ::sp_runtime::HostLayoutCell =
                    ::sp_runtime::HostLayoutCell::new();
                &LAYOUT
            }
        }
        // Views read and write the field as a `usize`, which the derive knows by its name only.
        const _: fn(&#name) -> ::core::primitive::usize = |it| it.struct_size;
        #(#checks)*
    }))
}

/// Checks that the first field is `struct_size`, and returns the field that `last` names.
fn check_protocol<'a, 'b>(
    input: &DeriveInput,
    last: &Ident,
    members: &'b [Member<'a>],
) -> syn::Result<&'b Member<'a>> {
    let found = members.iter().find(|member| member.name == last);
    let found = found.ok_or_else(|| {
        let message = format!("`last` names no field of {}", input.ident);
        syn::Error::new(last.span(), message)
    })?;
    match members.first() {
        Some(first) if first.name == "struct_size" => Ok(found),
        _ => Err(syn::Error::new_spanned(
            &input.ident,
            "the first field of a versioned struct must be `struct_size: usize`",
        )),
    }
}

/// Returns the struct's epochs. A struct without `epochs` has one, of every release.
fn epochs(facts: &StructFacts) -> TokenStream {
    let Some(Epochs(epochs)) = &facts.epochs else {
        return quote! {
            &[::sp_runtime::Epoch {
                size: Self::STRUCT_SIZE,
                releases: ::sp_runtime::Releases::ALL,
            }]
        };
    };
    let newest = epochs.last().map_or(0, |epoch| epoch.size);
    let (newest, epochs) = (Literal::u64_unsuffixed(newest), epochs.iter().map(epoch));
    quote! {{
        assert!(Self::STRUCT_SIZE == #newest, "the last of `epochs` must have the size of the type");
        &[#(#epochs),*]
    }}
}

fn epoch(epoch: &Epoch) -> TokenStream {
    let size = Literal::u64_unsuffixed(epoch.size);
    let releases = epoch.releases.to_tokens(&quote!(::sp_runtime));
    quote!(::sp_runtime::Epoch { size: #size, releases: #releases })
}

/// Returns `fill`, which stores the slots of an author's trait in the table.
fn fill(table: &Ident, author: &Ident, members: &[Member<'_>]) -> TokenStream {
    let slots = members
        .iter()
        .filter(|member| member.is_slot())
        .map(|member| member.store_slot(table));
    quote! {
        impl #table {
            /// Stores `struct_size` and the slots of `T` that the host's table has. Optional slots that `T`
            /// does not implement become null.
            pub fn fill<T: super::traits::#author>(table: &mut ::sp_runtime::PrefixMut<'_, Self>) {
                table.set_struct_size();
                #(#slots)*
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: TokenStream) -> String {
        derive(input).unwrap_err().to_string()
    }

    #[test]
    fn rejects_struct_that_breaks_protocol() {
        let no_repr = quote! { struct A { struct_size: usize } };
        assert!(error(no_repr).contains("repr(C)"));
        let packed = quote! { #[repr(C, packed)] struct A { struct_size: usize, a: u64 } };
        assert!(error(packed).contains("remove `packed`"));
        let packed = quote! { #[repr(C)] #[repr(packed)] struct A { struct_size: usize, a: u64 } };
        assert!(error(packed).contains("remove `packed`"));
        let wrong_last = quote! { #[repr(C)] #[abi(last = "b")] struct A { struct_size: usize } };
        assert!(error(wrong_last).contains("names no field"));
        let no_size = quote! { #[repr(C)] #[abi(last = "a")] struct A { a: usize } };
        assert!(error(no_size).contains("first field"));
        let no_epoch = quote! {
            #[repr(C)]
            #[abi(epochs = "2.5..2.6 = 16, 2.7.. = 24")]
            struct A { struct_size: usize, #[abi(offsets = "17 = 8")] a: usize }
        };
        assert!(error(no_epoch).contains("no layout of 17 bytes"));
    }

    #[test]
    fn field_type_names_writer_other_than_plugin() {
        let text = derive(quote! {
            #[repr(C)]
            struct A {
                struct_size: usize,
                #[abi(writer = "reserved")]
                ext: *mut c_void,
                #[abi(writer = "core")]
                ordinal: i32,
                handle: *mut c_void,
            }
        });
        let text = text.unwrap().to_string();
        for (name, writer) in [
            ("struct_size", ", :: sp_runtime :: writer :: StructSize"),
            ("ext", ", :: sp_runtime :: writer :: Reserved"),
            ("ordinal", ", :: sp_runtime :: writer :: TensorFlow"),
            ("handle", ""),
        ] {
            let (_, rest) = text.split_once(&format!("const {name} :")).unwrap();
            let (ty, _) = rest.split_once(" = ").unwrap();
            assert!(ty.ends_with(&format!("{writer} >")), "{name}: {ty}");
            assert_eq!(ty.contains("writer"), !writer.is_empty(), "{name}: {ty}");
        }
    }

    #[test]
    fn fill_stores_required_slots_and_present_optional_slots() {
        let text = derive(quote! {
            #[repr(C)]
            #[abi(last = "flush", author_trait = "Table")]
            struct SP_Table {
                struct_size: usize,
                run: Option<unsafe extern "C" fn()>,
                #[abi(presence = "optional")]
                flush: Option<unsafe extern "C" fn()>,
            }
        });
        let text = text.unwrap().to_string();
        assert!(
            text.contains("set (Self :: run , :: core :: option :: Option :: Some"),
            "{text}"
        );
        assert!(text.contains("if T :: HAS_FLUSH"), "{text}");
        assert!(text.contains("Self :: flush"), "{text}");
        assert!(!text.contains("set (Self :: struct_size"), "{text}");
    }
}
