//! Prints the module `safe`: owned types and safe methods, as the driver's contract allows.

mod method;
mod owned;
mod sizes;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::{Paths, print_type, safety};
use sp_ir::Type;

use crate::contract::{Role, SafeFunction, SafeModel};
use crate::model::Model;
use crate::names;
use crate::print::InScope;

/// Prints the module.
pub fn print(model: &Model, safe: &SafeModel) -> TokenStream {
    let is_method = |it: &&SafeFunction| matches!(it.roles.first(), Some(Role::Handle(_)));
    let (methods, functions): (Vec<_>, Vec<_>) = safe.functions.iter().partition(is_method);
    let functions = functions.iter().map(|it| method::print(model, safe, it));
    let owned = safe.owned.iter().map(|it| {
        let own = methods
            .iter()
            .filter(|of| of.roles[0] == Role::Handle(it.name.to_owned()));
        let own = own.map(|it| method::print(model, safe, it));
        let (name, ty) = (names::item(it.name), owned::print(safe, it));
        let run_after = owned::print_run_after(safe, it);
        quote! {
            #ty
            impl #name { #(#own)* #run_after }
        }
    });
    let doc = format!(
        " Safe methods and owned types. They rely on what the contract `{}` states about the driver.",
        super::doc_text(safe.file_name)
    );
    let support = support(safe);
    quote! {
        #[doc = #doc]
        pub mod safe {
            use super::*;
            use ::std::sync::Arc;

            /// The functions without a handle.
            #[derive(Clone, Copy)]
            pub struct Driver(&'static super::Driver);
            impl Driver {
                /// Returns the driver, which is loaded at the first call. It must export the functions that it is given.
                ///
                /// # Errors
                /// Returns an error if the library cannot be loaded, or lacks a function.
                pub fn get(required__: &[&str]) -> Result<Self, LoadError> {
                    super::Driver::get(required__).map(Self)
                }
                #(#functions)*
            }
            #(#owned)*
            #support
        }
    }
}

/// Returns a local variable of a method, which differs from each parameter.
fn local(name: &str) -> Ident {
    // A C name that ends with two underscores and a word of ours is not expected.
    Ident::new(&format!("{name}__"), Span::call_site())
}

/// Returns a local variable for the parameter with this index: a function may have several of one role.
fn local_of(name: &str, index: usize) -> Ident {
    local(&format!("{name}_{index}"))
}

/// Paths of the bindings' types. An owned type of the same name is another one.
struct RawScope<'a>(&'a SafeModel<'a>);

impl Paths for RawScope<'_> {
    fn item(&self, name: &str) -> TokenStream {
        let path = InScope.item(name);
        match self.0.owned.iter().any(|it| it.name == name) {
            true => quote!(super::#path),
            false => path,
        }
    }

    fn ffi(&self, name: &str) -> TokenStream {
        InScope.ffi(name)
    }
}

/// Prints the type of the bindings.
fn raw_type(safe: &SafeModel, ty: &Type) -> TokenStream {
    print_type(ty, &RawScope(safe))
}

/// Returns the name of the struct with an owned value.
fn owner(name: &str) -> Ident {
    format_ident!("{}__owner", names::item(name))
}

/// Prints what methods with callbacks and host memory use.
fn support(safe: &SafeModel) -> TokenStream {
    let mut roles = safe.functions.iter().flat_map(|it| &it.roles);
    let has_callbacks = roles.clone().any(|it| matches!(it, Role::Function(_)));
    let has_sources = roles.any(|it| matches!(it, Role::Source(_)));
    let callbacks = has_callbacks.then(callbacks);
    let sources = has_sources.then(sources);
    quote!(#callbacks #sources)
}

fn callbacks() -> TokenStream {
    let run = safety("the data is a box of this type, and the driver calls the function once.");
    quote! {
        type HostFunction__ = Box<dyn FnOnce() + Send>;
        unsafe extern "C" fn run__(data__: *mut c_void) {
            #run
            let function__ = unsafe { Box::from_raw(data__.cast::<HostFunction__>()) };
            // A panic must not reach the driver. Its payload is leaked, since dropping it may panic again.
            ::core::mem::forget(::std::panic::catch_unwind(::std::panic::AssertUnwindSafe(*function__)));
        }
    }
}

fn sources() -> TokenStream {
    let read = safety("`new` has allocated the value, and only the drop frees it.");
    let free = safety("`new` has allocated the value, and it is freed once.");
    let send = safety("the value is `Send`, and the struct is its only owner.");
    quote! {
        /// A value with host memory that the driver reads. It has one address, also if the struct is moved.
        struct Source__<T>(*mut T);
        #send
        unsafe impl<T: Send> Send for Source__<T> {}
        impl<T: AsRef<[u8]>> Source__<T> {
            fn new(value__: T) -> Self {
                Self(Box::into_raw(Box::new(value__)))
            }
            fn bytes(&self) -> &[u8] {
                #read
                let value__ = unsafe { &*self.0 };
                value__.as_ref()
            }
        }
        impl<T> Drop for Source__<T> {
            fn drop(&mut self) {
                #free
                drop(unsafe { Box::from_raw(self.0) });
            }
        }
    }
}
