//! The setters of slots whose signature depends on the release ([`RetypedSlot`]). An author writes a function
//! with the newest signature. The setter stores one with the running release's signature.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::{Item, Param, Signature, Type};

use super::comment::safety;
use super::releases::arguments;
use super::ty::{InScope, print_function_type, print_param_type, print_return};
use crate::model::context::Context;
use crate::model::releases::format_span;
use crate::model::retyped::{RetypedSlot, retyped_slots};

/// Emits the setters of the retyped slots of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let items = context.api.items.iter();
    let slots = items.flat_map(|(name, item)| match item {
        Item::Struct(item) => retyped_slots(name, item, context),
        _ => Vec::new(),
    });
    slots.map(|slot| Setter::new(&slot).print()).collect()
}

/// The names in the code of a slot.
struct Setter<'a> {
    slot: &'a RetypedSlot<'a>,
    /// The trait of the author's function.
    author: Ident,
    /// The function with the older signature.
    trampoline: Ident,
    /// The slot's name in docs and messages, such as `TP_Optimizer.optimize_func`.
    full_name: String,
    /// The releases with the older signature, such as `2.5 to 2.6`.
    older_releases: String,
}

impl<'a> Setter<'a> {
    fn new(slot: &'a RetypedSlot<'a>) -> Self {
        let author = format_ident!("{}__{}", slot.table, slot.slot);
        let (first, _) = slot.releases;
        Self {
            slot,
            trampoline: format_ident!("{author}_v{}_{}", first.major, first.minor),
            author,
            full_name: format!("{}.{}", slot.table, slot.slot),
            older_releases: format_span(slot.releases),
        }
    }

    fn print(&self) -> TokenStream {
        let parts = [self.author_trait(), self.trampoline(), self.setter()];
        parts.into_iter().collect()
    }

    fn author_trait(&self) -> TokenStream {
        let (author, newest) = (&self.author, self.slot.newest);
        let doc = format!(
            " The function of the slot `{}`, with its newest signature.",
            self.full_name
        );
        let (params, ret) = (params(newest), print_return(&newest.ret, &InScope));
        quote! {
            #[doc = #doc]
            pub trait #author: 'static {
                #[doc = " Called by the host."]
                #[doc = ""]
                #[doc = " # Safety"]
                #[doc = " - The arguments are as the header states."]
                #[doc = " - Parameters that a later release added may be null."]
                unsafe extern "C" fn call(#(#params),*) #ret;
            }
        }
    }

    /// Prints the function with the older signature, which calls the author's.
    fn trampoline(&self) -> TokenStream {
        let (author, trampoline) = (&self.author, &self.trampoline);
        let doc = format!(
            " Calls `T` with the arguments of `{}` in {}.",
            self.full_name, self.older_releases
        );
        let params = params(self.slot.older);
        let ret = print_return(&self.slot.newest.ret, &InScope);
        let passed = passed_arguments(self.slot);
        let comment = safety("the host guarantees its arguments, which are passed on unchanged.");
        quote! {
            #[doc = #doc]
            unsafe extern "C" fn #trampoline<T: #author>(#(#params),*) #ret {
                #comment
                unsafe { T::call(#(#passed),*) }
            }
        }
    }

    fn setter(&self) -> TokenStream {
        let (table, author) = (ident(self.slot.table), &self.author);
        let setter = format_ident!("set_{}", self.slot.slot);
        let body = self.setter_body();
        let doc = format!(
            " Stores `T` with the signature that the running host calls. In {} the parameters that a \
             later release added are null.",
            self.older_releases
        );
        quote! {
            impl #table {
                #[doc = #doc]
                #[doc = ""]
                #[doc = " # Errors"]
                #[doc = " Returns an error if the host's release is not known."]
                pub fn #setter<T: #author>(table: &mut PrefixMut<'_, Self>) -> Result<()> {
                    #body
                }
            }
        }
    }

    fn setter_body(&self) -> TokenStream {
        let (slot, trampoline) = (&self.slot, &self.trampoline);
        let field = ident(slot.slot);
        let [newest, older] = [slot.newest, slot.older].map(|it| print_function_type(it, &InScope));
        let (first, last) = (arguments(slot.releases.0), arguments(slot.releases.1));
        let unknown = format!(
            "{} has another signature in {}, and the host's release is not known",
            self.full_name, self.older_releases
        );
        let comment = safety(
            "both are function pointers, and only a host with the older signature calls it.",
        );
        quote! {
            let newest: #newest = T::call;
            let older: #older = #trampoline::<T>;
            #comment
            let older: #newest = unsafe { core::mem::transmute(older) };
            let older_releases = Releases::between(Release::new(#first), Release::new(#last));
            let slot = match Host::running().is_in(older_releases) {
                Some(true) => older,
                Some(false) => newest,
                None => return Err(Error::unimplemented(#unknown)),
            };
            table.set(Self::#field, Some(slot));
            Ok(())
        }
    }
}

/// Returns the arguments that the trampoline passes to the author's function.
fn passed_arguments(slot: &RetypedSlot<'_>) -> Vec<TokenStream> {
    let params = slot.older_indexes.iter().zip(&slot.newest.params);
    let arguments = params.map(|(index, newest)| match (index, &newest.ty) {
        (Some(index), ty) => {
            let older = &slot.older.params[*index];
            let name = param_name(*index, older);
            match is_pointer(&older.ty, false) && is_pointer(ty, true) {
                true => quote!(#name.cast_mut()),
                false => quote!(#name),
            }
        }
        (None, Type::Pointer { mutable: true, .. }) => quote!(core::ptr::null_mut()),
        (None, _) => quote!(core::ptr::null()),
    });
    arguments.collect()
}

fn is_pointer(ty: &Type, is_mutable: bool) -> bool {
    matches!(ty, Type::Pointer { mutable, .. } if *mutable == is_mutable)
}

fn params(signature: &Signature) -> Vec<TokenStream> {
    let params = signature.params.iter().enumerate();
    params
        .map(|(index, param)| {
            let (name, ty) = (param_name(index, param), print_param_type(param, &InScope));
            quote!(#name: #ty)
        })
        .collect()
}

fn param_name(index: usize, param: &Param) -> Ident {
    match param.name.as_str() {
        "" => format_ident!("arg{index}"),
        name => ident(name),
    }
}
