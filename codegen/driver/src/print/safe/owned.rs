//! Prints owned types.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::{print_type, safety};

use super::{local, owner};
use crate::contract::{Destroy, OwnedType, Role, SafeModel};
use crate::names;
use crate::print::InScope;

/// Prints the type, and the struct with the value, which destroys it.
pub fn print(owned: &OwnedType) -> TokenStream {
    let (name, owner) = (names::item(owned.name), owner(owned.name));
    let doc = doc(owned);
    let (ty, value) = stored(owned);
    let (getter, getter_doc) = match owned.is_address() {
        true => (format_ident!("address"), " Returns the address."),
        false => (
            format_ident!("handle"),
            " Returns the handle, which is valid as long as this value.",
        ),
    };
    let parents = owned.parents.iter().map(|parent| names::item(parent));
    let parents: Vec<_> = parents.collect();
    let accessors = owned.parents.iter().zip(&parents).map(|(parent, ident)| {
        let doc = format!(" Returns the `{parent}` that it was created with.");
        quote! {
            #[doc = #doc]
            pub fn #ident(&self) -> &#ident {
                &self.0.#ident
            }
        }
    });
    let destroy = owned.destroy.as_ref();
    let drop = destroy.map(|destroy| print_drop(destroy, &owner, &value));
    quote! {
        #[doc = #doc]
        #[derive(Clone)]
        pub struct #name(Arc<#owner>);
        struct #owner {
            driver: &'static super::Driver,
            value: #ty,
            // Dropped after the value.
            #(#parents: #parents,)*
            _created_with: Vec<Arc<dyn ::core::any::Any + Send + Sync>>,
        }
        #drop
        impl #name {
            #[doc = #getter_doc]
            pub fn #getter(&self) -> #ty {
                self.0.value
            }
            #(#accessors)*
        }
    }
}

fn doc(owned: &OwnedType) -> String {
    let name = owned.name;
    match &owned.destroy {
        Some(Destroy { function, .. }) => format!(
            " An owned `{name}`. Clones share it; `{}` destroys it when the last one is dropped.",
            function.name
        ),
        None => {
            format!(" A `{name}`, which is valid as long as the handles with which it was created.")
        }
    }
}

fn print_drop(destroy: &Destroy, owner: &Ident, value: &TokenStream) -> TokenStream {
    let function = names::method(&destroy.function.name);
    let arguments = arguments(destroy, value);
    let comment = safety(
        "nobody else has the value, and what it was created with is alive. The contract states that the driver takes it on any thread, also while enqueued work uses it.",
    );
    quote! {
        impl Drop for #owner {
            fn drop(&mut self) {
                #comment
                let _ = unsafe { self.driver.#function(#(#arguments),*) };
            }
        }
    }
}

/// Returns the type of the stored value, and the value as the driver's argument.
fn stored(owned: &OwnedType) -> (TokenStream, TokenStream) {
    let ty = print_type(&owned.ty, &InScope);
    match owned.is_address() {
        // A pointer would make the type neither `Send` nor `Sync`.
        true => (quote!(usize), quote!(self.value as #ty)),
        false => (quote!(super::#ty), quote!(self.value)),
    }
}

/// Returns the arguments of the function that destroys the value.
fn arguments(destroy: &Destroy, value: &TokenStream) -> Vec<TokenStream> {
    let parents = destroy.others.iter().map(|parent| {
        let field = names::item(parent);
        quote!(self.#field.0.value)
    });
    let mut arguments: Vec<_> = parents.collect();
    arguments.insert(destroy.value, value.clone());
    arguments
}

/// Prints the expression of a value that a function has created in the local variable `value`.
pub fn create(
    owned: &OwnedType,
    roles: &[Role],
    value: &TokenStream,
    names: &[TokenStream],
) -> TokenStream {
    let (name, owner) = (names::item(owned.name), owner(owned.name));
    let value = match owned.is_address() {
        true => quote!(#value as usize),
        false => value.clone(),
    };
    let parents = owned.parents.iter().map(|parent| {
        let field = names::item(parent);
        let handle = first_handle(roles, parent).map(|index| &names[index]);
        quote!(#field: #handle.clone(),)
    });
    let created_with = other_handles(owned, roles).map(|index| &names[index]);
    let created_with = created_with
        .map(|name| quote!(Arc::clone(&#name.0) as Arc<dyn ::core::any::Any + Send + Sync>));
    let driver = local("driver");
    quote! {
        #name(Arc::new(#owner {
            driver: #driver,
            value: #value,
            #(#parents)*
            _created_with: vec![#(#created_with),*],
        }))
    }
}

/// Returns the index of the first handle of the type `parent`, which is its field in the owner.
fn first_handle(roles: &[Role], parent: &str) -> Option<usize> {
    let is_parent = |role: &Role| matches!(role, Role::Handle(name) if name == parent);
    roles.iter().position(is_parent)
}

/// Returns the indexes of the handles that no field of a parent has: those of other types, and further ones of its type.
fn other_handles<'a>(owned: &'a OwnedType, roles: &'a [Role]) -> impl Iterator<Item = usize> {
    let in_field = |index| {
        let mut parents = owned.parents.iter();
        parents.any(|parent| first_handle(roles, parent) == Some(index))
    };
    let handles = roles.iter().enumerate();
    let handles = handles.filter(|(_, role)| matches!(role, Role::Handle(_)));
    let indexes = handles.map(|(index, _)| index);
    indexes.filter(move |index| !in_field(*index))
}

/// Prints the method that runs a function after the enqueued work, if host functions are enqueued on this type.
pub fn print_run_after(safe: &SafeModel, owned: &OwnedType) -> Option<TokenStream> {
    let host_function = safe
        .functions
        .iter()
        .find(|it| Some(it.function.name.as_str()) == safe.host_function)?;
    if host_function.roles[0] != Role::Handle(owned.name.to_owned()) {
        return None;
    }
    let name = names::method(&host_function.function.name);
    let text = Literal::string(&host_function.function.name);
    let doc = format!(
        " Runs a function after the work so far, by {text}. After an error it is leaked, since the work may"
    );
    let comment =
        safety("the handle is alive, and `run__` takes the box, which is not freed otherwise.");
    Some(quote! {
        #[doc = #doc]
        /// still use what it has.
        fn run_after__(&self, function__: HostFunction__) -> Result<()> {
            let data__ = Box::into_raw(Box::new(function__));
            #comment
            unsafe { self.0.driver.#name(self.0.value, Some(run__), data__.cast()) }.map(drop)
        }
    })
}
