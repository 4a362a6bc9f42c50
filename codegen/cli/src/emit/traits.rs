//! Author traits: one per function table, in Rust's own terms, and beside each a macro of the same
//! name that tells its slots to `#[vtable]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::structure::{field_doc, print_doc};
use sp_expand::ty::{InScope, Paths, ident, print_param_type, print_type};
use sp_ir::Type;

use super::catalog::{Absolute, Catalog};
use super::slots::{Parameter, Role, Slot, Table, associated};

/// The traits for an API's tables.
pub fn emit(tables: &[Table<'_>], catalog: &Catalog<'_>) -> TokenStream {
    tables
        .iter()
        .flat_map(|table| [author_trait(table, catalog), slots_macro(table, catalog)])
        .collect()
}

fn author_trait(table: &Table<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let name = &table.author;
    let line = format!("What fills a [`{}`]: one method per slot.", table.name);
    let doc = print_doc(&line, &table.item.loc);
    let types = table.handles.iter().map(|handle| {
        let doc = format!(" What stands behind a [`{handle}`].");
        let name = associated(handle);
        quote!(#[doc = #doc] type #name: Send + Sync + 'static;)
    });
    let methods = table.slots.iter().map(|slot| method(table, slot, catalog));
    quote! {
        #doc
        pub trait #name: Send + Sync + Sized + 'static {
            #(#types)*
            #(#methods)*
        }
    }
}

fn method(table: &Table<'_>, slot: &Slot<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let doc = print_doc(&field_doc(slot.field), &slot.field.loc);
    let safety = slot.is_unsafe(catalog).then(|| {
        quote! {
            #[doc = ""]
            #[doc = " # Safety"]
            #[doc = " Pointers among the arguments are the host's, as its header says."]
        }
    });
    let signature = signature(slot, catalog, &InScope);
    if !slot.optional {
        return quote!(#doc #safety #signature;);
    }
    let constant = slot.presence_constant();
    let unused = unused(slot);
    let body = absent(table, slot);
    quote! {
        #[doc(hidden)]
        const #constant: bool = false;
        #doc
        #safety
        #signature {
            #unused
            #body
        }
    }
}

/// Names the arguments that a default body does not look at.
fn unused(slot: &Slot<'_>) -> Option<TokenStream> {
    let names: Vec<_> = slot.arguments().map(|it| &it.name).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(quote!(let _ = #name;)),
        names => Some(quote!(let _ = (#(#names),*);)),
    }
}

/// What an optional slot does that the author has not written, and that is called all the same.
fn absent(table: &Table<'_>, slot: &Slot<'_>) -> TokenStream {
    let full = format!("{}.{}", table.name, slot.field.name);
    match (slot.fails(), slot.ret) {
        (true, _) => quote!(Err(Error::absent(#full))),
        (false, Type::Void) => TokenStream::new(),
        (false, _) => slot.neutral.clone(),
    }
}

/// Where sp-runtime's types are found.
trait Runtime: Paths {
    fn runtime(&self, name: &str) -> TokenStream;
}

impl Runtime for InScope {
    fn runtime(&self, name: &str) -> TokenStream {
        self.item(name)
    }
}

impl Runtime for Absolute<'_> {
    fn runtime(&self, name: &str) -> TokenStream {
        let name = ident(name);
        quote!($crate::__rt::#name)
    }
}

fn signature<P: Runtime>(slot: &Slot<'_>, catalog: &Catalog<'_>, paths: &P) -> TokenStream {
    let name = slot.name();
    let safety = slot.is_unsafe(catalog).then(|| quote!(unsafe));
    let receiver = slot.has_receiver().then(|| quote!(&self));
    let arguments = slot.arguments().map(|it| argument(it, paths));
    let parameters = receiver.into_iter().chain(arguments);
    let ret = result(slot, paths);
    quote!(#safety fn #name(#(#parameters),*) #ret)
}

fn argument<P: Runtime>(parameter: &Parameter<'_>, paths: &P) -> TokenStream {
    let name = &parameter.name;
    let ty = match parameter.role {
        Role::Lent(handle) => {
            let ty = associated(handle);
            quote!(&Self::#ty)
        }
        Role::Taken(handle) => {
            let ty = associated(handle);
            quote!(Self::#ty)
        }
        Role::View(of, mutable) => {
            let view = paths.runtime(if mutable { "PrefixMut" } else { "Prefix" });
            let of = paths.item(of);
            quote!(#view<'_, #of>)
        }
        _ => print_param_type(parameter.param, paths),
    };
    quote!(#name: #ty)
}

fn result<P: Runtime>(slot: &Slot<'_>, paths: &P) -> TokenStream {
    let value = match (slot.made(), slot.ret) {
        (Some(handle), _) => {
            let ty = associated(handle);
            Some(quote!(Self::#ty))
        }
        (None, Type::Void) => None,
        (None, ty) => Some(print_type(ty, paths)),
    };
    match (slot.fails(), value) {
        (true, value) => {
            let (result, value) = (paths.runtime("Result"), value.unwrap_or(quote!(())));
            quote!(-> #result<#value>)
        }
        (false, Some(value)) => quote!(-> #value),
        (false, None) => TokenStream::new(),
    }
}

/// `StreamExecutor! { [callback] rest }` becomes `callback! { { slots } rest }`.
fn slots_macro(table: &Table<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let (name, hidden) = (&table.author, format_ident!("__{}", table.author));
    let types = table.handles.iter().map(|handle| associated(handle));
    let slots = table.slots.iter().map(|slot| {
        let optional = slot.optional.then(|| quote!(#[optional]));
        let signature = signature(slot, catalog, &Absolute(catalog));
        quote!(#optional #signature;)
    });
    quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #hidden {
            ([$($callback:tt)*] $($rest:tt)*) => {
                $($callback)*! { { #(type #types;)* #(#slots)* } $($rest)* }
            };
        }
        #[doc(hidden)]
        pub use #hidden as #name;
    }
}
