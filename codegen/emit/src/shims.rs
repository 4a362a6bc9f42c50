//! The `extern "C"` functions that stand in a table: each finds the author's object, turns C's
//! arguments into the trait's, and lets neither an error nor a panic out.

use proc_macro2::TokenStream;
use quote::quote;
use sp_expand::ty::{InScope, ident, print_param_type, print_return};
use sp_ir::{Receiver, Type};

use super::catalog::Catalog;
use super::comment::safety;
use super::scope;
use super::slots::{Parameter, Role, Slot, Table, associated};
use crate::context::Context;

/// The callbacks for an API's tables, one module per table.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let tables = context.tables();
    tables
        .iter()
        .map(|table| module(table, context.catalog))
        .collect()
}

fn module(table: &Table<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let name = ident(table.name);
    let doc = format!(
        " Callbacks of `{}`, for a type that implements `{}`.",
        table.name, table.author
    );
    let shims: TokenStream = table
        .slots
        .iter()
        .map(|slot| shim(table, slot, catalog))
        .collect();
    let receiver = table.item.receiver.as_ref().map(|it| receiver(&it.value));
    let shims = quote!(#receiver #shims);
    let uses = scope::shim_imports(&shims);
    quote! {
        #[doc = #doc]
        pub mod #name {
            #uses
            #shims
        }
    }
}

fn shim(table: &Table<'_>, slot: &Slot<'_>, catalog: &Catalog<'_>) -> TokenStream {
    let (name, author) = (slot.name(), &table.author);
    let doc = format!(" Slot `{}` of `{}`.", slot.field.name, table.name);
    let params = slot.params.iter().map(|it| {
        let (name, ty) = (&it.name, print_param_type(it.param, &InScope));
        quote!(#name: #ty)
    });
    let ret = print_return(slot.ret, &InScope);
    let full = format!("{}.{}", table.name, slot.field.name);
    let guarded = guarded(slot, &full, &Body::of(slot, catalog));
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = " # Safety"]
        #[doc = " The arguments are as the header says."]
        pub unsafe extern "C" fn #name<T: #author>(#(#params),*) #ret {
            #guarded
        }
    }
}

/// What runs under the guard: the arguments' conversions, then the call.
struct Body {
    before: TokenStream,
    call: TokenStream,
}

impl Body {
    fn of(slot: &Slot<'_>, catalog: &Catalog<'_>) -> Self {
        // Core calls a slot without a receiver while it registers the platform, when an error would end
        // the process: what fills its table decides about unknown layouts.
        let fails = slot.fails() && slot.has_receiver();
        let before = slot.params.iter().map(|it| conversion(it, fails)).collect();
        let name = slot.name();
        let arguments = slot.arguments().map(|it| &it.name);
        let target = if slot.has_receiver() {
            quote!(this.#name)
        } else {
            quote!(T::#name)
        };
        let call = quote!(#target(#(#arguments),*));
        if !slot.is_unsafe(catalog) {
            return Self { before, call };
        }
        let why = safety("the arguments are the host's own.");
        Self {
            before: quote!(#before #why),
            call: quote!(unsafe { #call }),
        }
    }
}

/// Where a status can carry it, a struct of unknown size is an error before the author sees it.
fn conversion(Parameter { name, role, .. }: &Parameter<'_>, fails: bool) -> TokenStream {
    match role {
        Role::Receiver(_) => {
            let why = safety("the plugin made what the host lends here.");
            quote!(#why let this = unsafe { receiver::<T>(#name) };)
        }
        Role::Lent(handle) => {
            let (why, ty) = (
                safety("a handle that `T` made and has not taken back."),
                associated(handle),
            );
            quote!(#why let #name = unsafe { handle::borrow::<T::#ty>(#name.0) };)
        }
        Role::Taken(handle) => {
            let (why, ty) = (
                safety("a handle that `T` made, given back for good."),
                associated(handle),
            );
            quote!(#why let #name = unsafe { handle::from_raw::<T::#ty>(#name.0) };)
        }
        Role::View(_, mutable) => {
            let why = safety("the host lends this struct for the call.");
            let view = if *mutable {
                quote!(PrefixMut)
            } else {
                quote!(Prefix)
            };
            let known = fails.then(|| quote!(.check_known()?));
            quote!(#why let #name = unsafe { #view::new(#name) } #known;)
        }
        Role::Status | Role::Made(_) | Role::Plain => TokenStream::new(),
    }
}

/// How a table's callbacks find the author's object.
fn receiver(receiver: &Receiver) -> TokenStream {
    let (owner, field) = (ident(&receiver.owner), ident(&receiver.field));
    let doc = format!(
        " The author's object, from `{}.{}`.",
        receiver.owner, receiver.field
    );
    let safety_doc = format!(
        " `owner` is a live `{}` whose `{}` is a `T` given away.",
        receiver.owner, receiver.field
    );
    let (lent, stored) = (safety("the caller vouches for it."), safety("as above."));
    let full = format!(
        "{}.{} is beyond the host's struct",
        receiver.owner, receiver.field
    );
    quote! {
        #[doc = #doc]
        #[doc = ""]
        #[doc = " # Safety"]
        #[doc = #safety_doc]
        unsafe fn receiver<'a, T>(owner: *const #owner) -> &'a T {
            #lent
            let owner = unsafe { Prefix::new(owner) };
            let object = owner.get(#owner::#field).expect(#full);
            #stored
            unsafe { handle::borrow(object) }
        }
    }
}

/// The body under the guard that fits how the slot reports.
fn guarded(slot: &Slot<'_>, full: &str, body: &Body) -> TokenStream {
    let neutral = &slot.neutral;
    let Some(status) = slot.params.iter().find(|it| it.role == Role::Status) else {
        let statements = statements(slot, body);
        return quote! {
            let body = || { #statements };
            guard::run_with_default(#full, #neutral, body)
        };
    };
    let (status, why) = (
        &status.name,
        safety("the status is the host's, for this call."),
    );
    if *slot.ret == Type::Void {
        let statements = statements(slot, body);
        return quote! {
            let body = || { #statements };
            #why
            unsafe { guard::run_with_status(#full, #status, body) }
        };
    }
    let Body { before, call } = body;
    quote! {
        let mut returned = #neutral;
        let body = || {
            #before
            returned = #call?;
            Ok(())
        };
        #why
        unsafe { guard::run_with_status(#full, #status, body) };
        returned
    }
}

/// The body's statements. Where the slot makes a handle, the author's value is given away and the
/// handle written out.
fn statements(slot: &Slot<'_>, Body { before, call }: &Body) -> TokenStream {
    let made = slot.params.iter().find_map(|it| match it.role {
        Role::Made(handle) => Some((&it.name, ident(handle))),
        _ => None,
    });
    let Some((out, handle)) = made else {
        return quote!(#before #call);
    };
    let why = safety("the host lends the place for the handle.");
    let (question, done) = if slot.fails() {
        (quote!(?), quote!(Ok(())))
    } else {
        (quote!(), quote!())
    };
    let given = match slot.has_receiver() {
        true => quote!(handle::into_raw_with_owner(this, made)),
        false => quote!(handle::into_raw(made)),
    };
    quote! {
        #before
        let made = #call #question;
        #why
        unsafe { #out.write(#handle(#given)) };
        #done
    }
}
