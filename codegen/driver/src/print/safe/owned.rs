//! Prints owned types.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::safety;

use super::{local, owner, raw_type};
use crate::contract::{Destroy, OwnedType, Role, SafeModel};
use crate::names;

/// Prints the type, and the struct with the value, which destroys it.
pub fn print(safe: &SafeModel, owned: &OwnedType) -> TokenStream {
    let (name, owner) = (names::item(owned.name), owner(owned.name));
    let doc = doc(owned);
    let raw = raw_type(safe, &owned.ty);
    let ty = match owned.is_stored_as_usize() {
        true => quote!(usize),
        false => raw.clone(),
    };
    let stored = quote!(self.0.value);
    let (getter, getter_doc, returned, value) = match owned.is_address {
        true => (
            format_ident!("address"),
            " Returns the address.",
            &ty,
            stored,
        ),
        false => (
            format_ident!("handle"),
            " Returns the handle, which is valid as long as this value.",
            &raw,
            argument(safe, owned, &stored),
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
    let drop = destroy.map(|destroy| print_drop(safe, owned, destroy));
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
            pub fn #getter(&self) -> #returned {
                #value
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

fn print_drop(safe: &SafeModel, owned: &OwnedType, destroy: &Destroy) -> TokenStream {
    let owner = owner(owned.name);
    let function = names::method(&destroy.function.name);
    let arguments = arguments(safe, owned, destroy);
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

/// Prints the stored value `value` as the driver's argument.
fn argument(safe: &SafeModel, owned: &OwnedType, value: &TokenStream) -> TokenStream {
    match owned.is_stored_as_usize() {
        true => {
            let ty = raw_type(safe, &owned.ty);
            quote!(#value as #ty)
        }
        false => value.clone(),
    }
}

/// Prints the expression `owner` of the owned type `name` as the driver's argument.
pub fn argument_of(safe: &SafeModel, name: &str, owner: &TokenStream) -> TokenStream {
    let value = quote!(#owner.0.value);
    let owned = safe.owned.iter().find(|it| it.name == name);
    owned.map_or(value.clone(), |owned| argument(safe, owned, &value))
}

/// Returns the arguments of the function that destroys the value.
fn arguments(safe: &SafeModel, owned: &OwnedType, destroy: &Destroy) -> Vec<TokenStream> {
    let parents = destroy.others.iter().map(|parent| {
        let field = names::item(parent);
        argument_of(safe, parent, &quote!(self.#field))
    });
    let mut arguments: Vec<_> = parents.collect();
    arguments.insert(destroy.value, argument(safe, owned, &quote!(self.value)));
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
    let value = match owned.is_stored_as_usize() {
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
    let queue = argument_of(safe, owned.name, &quote!(self));
    Some(quote! {
        #[doc = #doc]
        /// still use what it has.
        fn run_after__(&self, function__: HostFunction__) -> Result<()> {
            let data__ = Box::into_raw(Box::new(function__));
            #comment
            unsafe { self.0.driver.#name(#queue, Some(run__), data__.cast()) }.map(drop)
        }
    })
}
