//! The declarations of the newest release as data, for APIs whose tables a plugin fills in an entry point.
//! sp-runtime compares them with the headers of a newer host.

use std::collections::BTreeSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_expand::ident;
use sp_ir::{Api, Enum, Field, Item, Side, Struct, Type, Writer};

use super::comment::safety;
use crate::model::context::Context;
use crate::model::references;

/// Emits the static `DECLARATIONS`, if the plugin registers itself through this API with a struct that has a
/// `struct_size`.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let Some(header) = entry_header(context.api, context) else {
        return TokenStream::new();
    };
    let name = &context.api.name;
    let structs = versioned_structs(context.api);
    let types = types(context.api, &structs);
    let structs = structs
        .iter()
        .map(|(name, item)| print_struct(name, item, context));
    let doc = " The declarations that are compared with the headers of a newer host.";
    let comment =
        safety("every list names the members of its Rust struct; both come from the same IR.");
    quote! {
        #comment
        const STRUCTS: &[declarations::KnownStruct] = unsafe { &[#(#structs),*] };
        #[doc = #doc]
        pub static DECLARATIONS: declarations::KnownApi = declarations::KnownApi {
            name: #name,
            header: #header,
            structs: STRUCTS,
            types: &[#(#types),*],
        };
    }
}

/// Returns the header of the plugin's entry point that takes a struct with a `struct_size`.
fn entry_header<'a>(api: &'a Api, context: &Context<'_>) -> Option<&'a str> {
    api.items.values().find_map(|item| {
        let function = item.as_function()?;
        let is_entry = function.exported_by.as_ref().map(|it| it.value) == Some(Side::Plugin);
        let params = &function.signature.params;
        let takes_struct = params.iter().any(|param| match &param.ty {
            Type::Pointer { pointee, .. } => context.catalog.is_versioned(pointee),
            _ => false,
        });
        (is_entry && takes_struct).then_some(&*function.loc.file)
    })
}

fn versioned_structs(api: &Api) -> Vec<(&String, &Struct)> {
    let structs = api.items.iter();
    let structs = structs.filter_map(|(name, item)| Some((name, item.as_struct()?)));
    structs.filter(|(_, item)| item.is_versioned()).collect()
}

fn print_struct(name: &str, item: &Struct, context: &Context<'_>) -> TokenStream {
    let members = item.fields.iter().map(|field| {
        let (name, ty) = (&field.name, field.ty.canonical());
        match is_needed(item, field, context) {
            true => quote!(declarations::KnownMember::needed(#name, #ty)),
            false => quote!(declarations::KnownMember::optional(#name, #ty)),
        }
    });
    let name = ident(name);
    quote!(declarations::KnownStruct::new::<#name>(&[#(#members),*]))
}

/// Returns true if a plugin needs the field: the host stores it, or requires it of the plugin.
fn is_needed(item: &Struct, field: &Field, context: &Context<'_>) -> bool {
    let is_versioned = |ty: &Type| context.catalog.is_versioned(ty);
    match item.writer(field, is_versioned) {
        Some(Writer::Core) => true,
        Some(Writer::Reserved) => false,
        Some(Writer::Plugin) | None => !field.is_optional(),
    }
}

/// Prints the types of this API that members of the structs name.
fn types(api: &Api, structs: &[(&String, &Struct)]) -> Vec<TokenStream> {
    let names = structs.iter().flat_map(|(name, _)| {
        let item = api.items.get(name.as_str());
        item.map(references::names).unwrap_or_default()
    });
    let names: BTreeSet<&str> = names.collect();
    let types = names
        .into_iter()
        .filter_map(|name| match api.items.get(name)? {
            Item::Enum(item) => Some(enumeration(name, item)),
            Item::Alias(item) => Some(typedef(name, &item.ty.canonical())),
            Item::Callback(item) => Some(typedef(name, &item.signature.canonical())),
            Item::Handle(item) if item.pointer => {
                Some(quote!(declarations::KnownType::Handle { name: #name }))
            }
            _ => None,
        });
    types.collect()
}

fn enumeration(name: &str, item: &Enum) -> TokenStream {
    let enumerators = item.variants.iter().map(|variant| {
        let (name, value) = (&variant.name, Literal::i64_unsuffixed(variant.value));
        quote!((#name, #value))
    });
    quote!(declarations::KnownType::Enum { name: #name, enumerators: &[#(#enumerators),*] })
}

fn typedef(name: &str, ty: &str) -> TokenStream {
    quote!(declarations::KnownType::Typedef { name: #name, ty: #ty })
}
