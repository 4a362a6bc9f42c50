//! The `extern "C"` functions of a table's slots. Each finds the author's object, converts the C arguments to
//! those of the trait, and returns an error or a panic to the host only as a status or a default value.

use super::ty::{InScope, print_param_type, print_return};
use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::ident;
use sp_ir::{Receiver, Type};

use super::comment::safety;
use super::imports;
use super::slots::{FunctionTable, Parameter, Role, Slot, associated};
use crate::model::catalog::Catalog;
use crate::model::context::Context;

/// Emits the callbacks for an API's tables, one module for each table.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let tables = FunctionTable::find_all(context);
    let tables = tables.iter().map(|table| module(table, context.catalog));
    tables.collect()
}

fn module(table: &FunctionTable<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let name = ident(table.name);
    let doc = format!(
        " Callbacks of `{}`, for a type that implements `{}`.",
        table.name, table.author
    );
    let shims = table.slots.iter().map(|slot| shim(table, slot, catalog));
    let shims: TokenStream = shims.collect();
    let receiver = table.item.receiver.as_ref().map(|it| receiver(&it.value));
    let shims = quote!(#receiver #shims);
    let uses = imports::table_imports(&shims);
    quote! {
        #[doc = #doc]
        pub mod #name {
            #uses
            #shims
        }
    }
}

fn shim(table: &FunctionTable<'_>, slot: &Slot<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let (name, author) = (slot.name(), &table.author);
    let doc = format!(" Slot `{}` of `{}`.", slot.field.name, table.name);
    let params = slot.params.iter().map(|it| {
        let (name, ty) = (&it.name, print_param_type(it.param, &InScope));
        quote!(#name: #ty)
    });
    let ret = print_return(slot.ret, &InScope);
    let full = format!("{}.{}", table.name, slot.field.name);
    let guarded = guarded(slot, &full, &Body::new(slot, catalog));
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = " # Safety"]
        #[doc = " - The arguments are as the header states."]
        pub unsafe extern "C" fn #name<T: #author>(#(#params),*) #ret {
            #guarded
        }
    }
}

/// The code that runs under the guard.
struct Body {
    conversions: TokenStream,
    call: TokenStream,
}

impl Body {
    fn new(slot: &Slot<'_>, catalog: &Catalog<'_>) -> Self {
        // TensorFlow calls a slot without a receiver while it registers the platform, where an error would end
        // the process. There the code that fills the table decides about unknown layouts.
        let checks_layout = slot.has_status() && slot.has_receiver();
        let params = slot.params.iter();
        let conversions = params.map(|it| conversion(it, checks_layout)).collect();
        let name = slot.name();
        let arguments = slot.arguments().map(|it| &it.name);
        let target = if slot.has_receiver() {
            quote!(this.#name)
        } else {
            quote!(T::#name)
        };
        let call = quote!(#target(#(#arguments),*));
        if !slot.is_unsafe(catalog) {
            return Self { conversions, call };
        }
        let comment = safety("the host guarantees its arguments, which are passed on unchanged.");
        Self {
            conversions: quote!(#conversions #comment),
            call: quote!(unsafe { #call }),
        }
    }
}

/// Prints the conversion of an argument. If `checks_layout` is true, it rejects a struct of unknown size.
fn conversion(Parameter { name, role, .. }: &Parameter<'_>, checks_layout: bool) -> TokenStream {
    match role {
        Role::Receiver(_) => {
            let comment = safety("the host passes the struct that the plugin filled, with a `T`.");
            quote!(#comment let this = unsafe { receiver::<T>(#name) };)
        }
        Role::BorrowedHandle(handle) => {
            let (comment, ty) = (
                safety("the host passes a handle that `T` created and has not destroyed."),
                associated(handle),
            );
            quote!(#comment let #name = unsafe { handle::borrow::<T::#ty>(#name.0) };)
        }
        Role::OwnedHandle(handle) => {
            let (comment, ty) = (
                safety("the host passes a handle that `T` created, and does not use it again."),
                associated(handle),
            );
            quote!(#comment let #name = unsafe { handle::from_raw::<T::#ty>(#name.0) };)
        }
        Role::View(_, is_mutable) => {
            let comment = safety("the host's struct is valid for the duration of the call.");
            let view = if *is_mutable {
                quote!(PrefixMut)
            } else {
                quote!(Prefix)
            };
            let check = checks_layout.then(|| quote!(.check_known()?));
            quote!(#comment let #name = unsafe { #view::new(#name) } #check;)
        }
        Role::Status | Role::CreatedHandle(_) | Role::Plain => TokenStream::new(),
    }
}

/// Prints the function with which a table's callbacks find the author's object.
fn receiver(receiver: &Receiver) -> TokenStream {
    let (owner, field) = (ident(&receiver.owner), ident(&receiver.field));
    let doc = format!(
        " The author's object, from `{}.{}`.",
        receiver.owner, receiver.field
    );
    let owner_doc = format!(" - `owner` is a valid `{}` for `'a`.", receiver.owner);
    let field_doc = format!(
        " - Its `{}` is a `T` from `handle::into_raw`.",
        receiver.field
    );
    let owner_comment = safety("the caller guarantees that `owner` is valid.");
    let object_comment = safety("the caller guarantees that the field is a `T`.");
    let full = format!(
        "the host's {} has no field {}",
        receiver.owner, receiver.field
    );
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = " # Safety"]
        #[doc = #owner_doc]
        #[doc = #field_doc]
        unsafe fn receiver<'a, T>(owner: *const #owner) -> &'a T {
            #owner_comment
            let owner = unsafe { Prefix::new(owner) };
            let object = owner.get(#owner::#field).expect(#full);
            #object_comment
            unsafe { handle::borrow(object) }
        }
    }
}

/// Prints the body under a guard: with the slot's status, or with its default return value.
fn guarded(slot: &Slot<'_>, full: &str, body: &Body) -> TokenStream {
    let default_return = &slot.default_return;
    let Some(status) = slot.params.iter().find(|it| it.role == Role::Status) else {
        let statements = statements(slot, body);
        return quote! {
            let body = || { #statements };
            guard::run_with_default(#full, #default_return, body)
        };
    };
    let (status, comment) = (
        &status.name,
        safety("the host's status is valid for the duration of the call."),
    );
    if *slot.ret == Type::Void {
        let statements = statements(slot, body);
        return quote! {
            let body = || { #statements };
            #comment
            unsafe { guard::run_with_status(#full, #status, body) }
        };
    }
    let Body { conversions, call } = body;
    quote! {
        let mut returned = #default_return;
        let body = || {
            #conversions
            returned = #call?;
            Ok(())
        };
        #comment
        unsafe { guard::run_with_status(#full, #status, body) };
        returned
    }
}

/// Prints the statements of the body. For a slot that creates a handle they convert the author's value to it
/// and write it to the out parameter.
fn statements(slot: &Slot<'_>, Body { conversions, call }: &Body) -> TokenStream {
    let created = slot.params.iter().find_map(|it| match it.role {
        Role::CreatedHandle(handle) => Some((&it.name, ident(handle))),
        _ => None,
    });
    let Some((out, handle)) = created else {
        return quote!(#conversions #call);
    };
    let comment = safety("the host's out parameter is valid for writes.");
    let (question_mark, success) = if slot.has_status() {
        (quote!(?), quote!(Ok(())))
    } else {
        (quote!(), quote!())
    };
    let raw = match slot.has_receiver() {
        true => quote!(handle::into_raw_with_owner(this, object)),
        false => quote!(handle::into_raw(object)),
    };
    quote! {
        #conversions
        let object = #call #question_mark;
        #comment
        unsafe { #out.write(#handle(#raw)) };
        #success
    }
}
