//! The author's method for a slot. The trait and the macro that lists the slots print the same signature, with
//! different paths.

use super::ty::{InScope, Paths, print_param_type, print_type};
use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::Type;

use super::slots::{Parameter, Role, Slot, associated};
use crate::model::catalog::Catalog;

/// Paths of sp-runtime's types.
pub trait RuntimePaths: Paths {
    /// Returns the path of sp-runtime's item `name`.
    fn runtime(&self, name: &str) -> TokenStream;
}

impl RuntimePaths for InScope {
    fn runtime(&self, name: &str) -> TokenStream {
        self.item(name)
    }
}

/// Prints the signature of the author's method.
pub fn signature<P: RuntimePaths>(
    slot: &Slot<'_>,
    catalog: &Catalog<'_>,
    paths: &P,
) -> TokenStream {
    let name = slot.name();
    let safety = slot.is_unsafe(catalog).then(|| quote!(unsafe));
    let receiver = slot.has_receiver().then(|| quote!(&self));
    let arguments = slot.arguments().map(|it| argument(it, paths));
    let parameters = receiver.into_iter().chain(arguments);
    let ret = return_type(slot, paths);
    quote!(#safety fn #name(#(#parameters),*) #ret)
}

fn argument<P: RuntimePaths>(parameter: &Parameter<'_>, paths: &P) -> TokenStream {
    let name = &parameter.name;
    let ty = match parameter.role {
        Role::BorrowedHandle(handle) => {
            let ty = associated(handle);
            quote!(&Self::#ty)
        }
        Role::OwnedHandle(handle) => {
            let ty = associated(handle);
            quote!(Self::#ty)
        }
        Role::View(name, is_mutable) => {
            let view = paths.runtime(if is_mutable { "PrefixMut" } else { "Prefix" });
            let item = paths.item(name);
            quote!(#view<'_, #item>)
        }
        _ => print_param_type(parameter.param, paths),
    };
    quote!(#name: #ty)
}

fn return_type<P: RuntimePaths>(slot: &Slot<'_>, paths: &P) -> TokenStream {
    let value = match (slot.created_handle(), slot.ret) {
        (Some(handle), _) => {
            let ty = associated(handle);
            Some(quote!(Self::#ty))
        }
        (None, Type::Void) => None,
        (None, ty) => Some(print_type(ty, paths)),
    };
    match (slot.has_status(), value) {
        (true, value) => {
            let (result, value) = (paths.runtime("Result"), value.unwrap_or(quote!(())));
            quote!(-> #result<#value>)
        }
        (false, Some(value)) => quote!(-> #value),
        (false, None) => TokenStream::new(),
    }
}
