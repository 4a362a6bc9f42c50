//! Prints facts of op definitions: attributes, types, releases.

use super::definition::{ArgumentDefinition, AttributeDefinition};
use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use sp_ops::{
    ArgumentType, AttributeKind, AttributeType, ElementType, Release, ReleaseSet, Shape, Value,
};
use syn::Type;
use syn::spanned::Spanned;

/// Returns the place of an input that the kernel does not read: a resource is in host memory.
pub fn print_ignored_host(argument: &ArgumentDefinition) -> TokenStream {
    let resource = ArgumentType::Single(ElementType::Fixed(sp_ops::DataType::RESOURCE));
    let is_resource = argument.argument.ty == resource;
    quote!(#is_resource)
}

/// Prints the number of an argument's tensors.
pub fn print_count(ty: &ArgumentType) -> TokenStream {
    match ty {
        ArgumentType::Single(_) => quote!(__expansion::Count::One),
        ArgumentType::Repeated { count, .. } => {
            let name = c_string(count);
            quote!(__expansion::Count::Attribute(#name))
        }
        ArgumentType::List(types) => {
            let name = c_string(types);
            quote!(__expansion::Count::TypeList(#name))
        }
    }
}

/// Prints what a kernel has to know of an attribute.
pub fn print_attribute(attribute: &AttributeDefinition) -> TokenStream {
    let (name, kind) = (c_string(&attribute.name), print_kind(attribute.ty));
    let releases = print_releases(&attribute.releases);
    let default = attribute
        .default
        .as_ref()
        .map_or_else(|| quote!(__expansion::DefaultValue::Absent), print_default);
    quote! {
        __expansion::AttributeSpec { name: #name, kind: #kind, releases: #releases, default: #default }
    }
}

/// Prints a default value. No kernel reads the default of a tensor, nor one that is not finite.
fn print_default(value: &Value) -> TokenStream {
    let default = quote!(__expansion::DefaultValue);
    match value {
        Value::Bool(it) => quote!(#default::Bool(#it)),
        Value::Int(it) => quote!(#default::Int(#it)),
        Value::Float(it) if it.is_finite() => quote!(#default::Float(#it)),
        Value::String(it) | Value::Function(it) => quote!(#default::Text(#it)),
        Value::Type(it) => {
            let number = it.number();
            quote!(#default::Type(::sp_plugin::kernel::DataType(#number)))
        }
        Value::List(items) => {
            let items = items.iter().map(print_default);
            quote!(#default::List(&[#(#items),*]))
        }
        Value::Shape(Shape::UnknownRank) => quote!(#default::Shape(::core::option::Option::None)),
        Value::Shape(Shape::Dimensions(dims)) => {
            let dims = dims
                .iter()
                .map(|dim| dim.map_or(-1, |it| it.try_into().unwrap_or(i64::MAX)));
            quote!(#default::Shape(::core::option::Option::Some(&[#(#dims),*])))
        }
        Value::Float(_) | Value::Tensor(_) => quote!(#default::Absent),
    }
}

/// Prints the variant of `Kind`.
pub fn print_kind(ty: AttributeType) -> TokenStream {
    let kind = format_ident!("{}", kind_name(ty));
    quote!(::sp_plugin::__private::Kind::#kind)
}

fn kind_name(ty: AttributeType) -> String {
    let list = if ty.is_list { "List" } else { "" };
    format!("{}{list}", item_name(ty.kind))
}

/// Returns the name of a kind in `Kind` and among the markers.
fn item_name(kind: AttributeKind) -> &'static str {
    match kind {
        AttributeKind::String => "Text",
        AttributeKind::Int => "Int",
        AttributeKind::Float => "Float",
        AttributeKind::Bool => "Boolean",
        AttributeKind::Type => "Type",
        AttributeKind::Shape => "Shape",
        AttributeKind::Tensor => "Tensor",
        AttributeKind::Function => "Function",
    }
}

/// Returns true if every release has functions for attributes of this kind.
pub fn is_in_every_host(kind: AttributeKind) -> bool {
    !matches!(
        kind,
        AttributeKind::Shape | AttributeKind::Tensor | AttributeKind::Function
    )
}

/// Returns the name of a type, as in an `OpDef`.
pub fn type_name(ty: AttributeType) -> String {
    match ty.is_list {
        true => format!("list({})", ty.kind.name()),
        false => ty.kind.name().to_owned(),
    }
}

/// Prints the marker of an attribute's type.
pub fn print_marker(ty: AttributeType) -> TokenStream {
    let (marker, name) = (
        quote!(::sp_plugin::kernel::marker),
        format_ident!("{}", item_name(ty.kind)),
    );
    match ty.is_list {
        true => quote!(#marker::ListOf<#marker::#name>),
        false => quote!(#marker::#name),
    }
}

/// Prints the type of an attribute's value in the kernel's instance.
pub fn print_stored(ty: &Type, attribute: &AttributeDefinition) -> TokenStream {
    let kind = with_span(print_marker(attribute.ty), ty.span());
    quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::AttributeParameter<'_, #kind>>::Stored)
}

/// Returns the tokens with this span, so that an error about them is at the author's type.
pub fn with_span(tokens: TokenStream, span: Span) -> TokenStream {
    let set = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(set).collect()
}

/// Prints the type of a state.
pub fn print_state(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as ::sp_plugin::kernel::StateParameter<'_>>::State)
}

/// Prints a set of releases.
pub fn print_releases(releases: &ReleaseSet) -> TokenStream {
    let release = |it: Release| {
        let [major, minor] = [it.major, it.minor].map(Literal::u32_unsuffixed);
        quote!(__expansion::Release::new(#major, #minor))
    };
    let runs = releases.runs().iter().map(|run| {
        let first = release(run.first);
        match run.last.map(release) {
            Some(last) => quote!(__expansion::Releases::between(#first, #last)),
            None if run.first == Release::FIRST_SUPPORTED => quote!(__expansion::Releases::ALL),
            None => quote!(__expansion::Releases::from(#first)),
        }
    });
    quote!(&[#(#runs),*])
}

/// Prints a C string. Names of ops, arguments and attributes have no NUL.
pub fn c_string(text: &str) -> TokenStream {
    let literal = Literal::c_string(&std::ffi::CString::new(text).unwrap_or_default());
    quote!(#literal)
}
