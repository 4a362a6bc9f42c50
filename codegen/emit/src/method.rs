//! A slot as a method: its signature in the author's terms. It stands in the trait, and again in the
//! macro that tells the slots, where names have other paths.

use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::ty::{InScope, Paths, print_param_type, print_type};
use sp_ir::Type;

use super::catalog::Catalog;
use super::slots::{Parameter, Role, Slot, associated};

/// Where sp-runtime's types are found.
pub trait Runtime: Paths {
    /// The item of sp-runtime called `name`.
    fn runtime(&self, name: &str) -> TokenStream;
}

impl Runtime for InScope {
    fn runtime(&self, name: &str) -> TokenStream {
        self.item(name)
    }
}

/// Prints the author's method for a slot, without a body.
pub fn signature<P: Runtime>(slot: &Slot<'_>, catalog: &Catalog<'_>, paths: &P) -> TokenStream {
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
