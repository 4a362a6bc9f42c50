//! `#[vtable(either = self.0: Mode { Inline: A, Queued: B } else other_device())]`: a device that is one of several ones.
//!
//! Each slot that the impl does not contain calls that of the device at hand. Its handles are tuple structs of the same
//! enum: `struct Stream(Mode<..>)`. The expression after `else` is the error for a handle of another device.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Expr, FnArg, GenericArgument, ImplItem, ItemImpl, Pat, Path, PathArguments, ReturnType, Safety,
    Signature, Token, TraitItemFn, Type, braced,
};

use super::{adopt_self, arguments, body_lint, is_optional, presence_constant};

/// The devices, each with its variant of the enum.
pub struct Either {
    device: Expr,
    mode: Path,
    variants: Vec<(Ident, Type)>,
    error: Expr,
}

impl Parse for Either {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let device = input.parse()?;
        input.parse::<Token![:]>()?;
        let mode = Path::parse_mod_style(input)?;
        let variants;
        braced!(variants in input);
        let variants = variants.parse_terminated(parse_variant, Token![,])?;
        input.parse::<Token![else]>()?;
        Ok(Self {
            device,
            mode,
            variants: variants.into_iter().collect(),
            error: input.parse()?,
        })
    }
}

fn parse_variant(input: ParseStream<'_>) -> syn::Result<(Ident, Type)> {
    let variant = input.parse()?;
    input.parse::<Token![:]>()?;
    Ok((variant, input.parse()?))
}

impl Either {
    /// Returns the items of a slot that the impl does not contain.
    ///
    /// # Errors
    /// Returns an error if the slot has handles or no receiver, and returns neither a `Result` nor nothing.
    pub fn function(
        &self,
        slot: &TraitItemFn,
        path: &Path,
        implementation: &ItemImpl,
    ) -> syn::Result<Vec<ImplItem>> {
        let mut signature = slot.sig.clone();
        if !adopt_self(&mut signature, &self.device) {
            return Err(unsupported(slot, implementation));
        }
        let handles = handles(&slot.sig);
        let arms = self
            .variants
            .iter()
            .map(|it| self.arm(slot, path, implementation, &handles, it));
        let (device, scrutinee) = (&self.device, handles.iter().map(|it| &it.value));
        let mismatch = match handles.is_empty() {
            true => None,
            false => Some(self.mismatch(slot, implementation)?),
        };
        let deny = body_lint(&signature);
        let mut items = vec![syn::parse_quote! {
            #deny #signature { match (&#device, #(#scrutinee),*) { #(#arms)* #mismatch } }
        }];
        if is_optional(slot) {
            let constant = presence_constant(slot);
            let types = self.variants.iter().map(|it| &it.1);
            items.push(
                syn::parse_quote! { const #constant: bool = #(<#types as #path>::#constant)||*; },
            );
        }
        Ok(items)
    }

    fn arm(
        &self,
        slot: &TraitItemFn,
        path: &Path,
        implementation: &ItemImpl,
        handles: &[Handle<'_>],
        (variant, ty): &(Ident, Type),
    ) -> TokenStream {
        let (mode, name, arguments) = (&self.mode, &slot.sig.ident, arguments(&slot.sig));
        let names = handles.iter().map(|it| it.name);
        let call = quote!(<#ty as #path>::#name(__device, #(#arguments),*));
        // The call is sound: the slot and the one that it calls have the same obligations.
        let call = match &slot.sig.safety {
            Safety::Unsafe(_) => quote!(unsafe { #call }),
            _ => call,
        };
        let result = match returned_handle(&slot.sig, implementation) {
            Some(handle) => quote! {
                ::core::result::Result::map(#call, |__value| #handle(#mode::#variant(__value)))
            },
            None => call,
        };
        quote! { (#mode::#variant(__device), #(#mode::#variant(#names)),*) => #result, }
    }

    /// Returns the arm for a handle of another device.
    fn mismatch(&self, slot: &TraitItemFn, implementation: &ItemImpl) -> syn::Result<TokenStream> {
        let error = &self.error;
        match &slot.sig.output {
            ReturnType::Default => Ok(quote!(_ => {})),
            ReturnType::Type(_, ty) if result_argument(ty).is_some() => {
                Ok(quote!(_ => ::core::result::Result::Err(#error),))
            }
            ReturnType::Type(..) => Err(unsupported(slot, implementation)),
        }
    }
}

fn unsupported(slot: &TraitItemFn, implementation: &ItemImpl) -> syn::Error {
    let message = format!(
        "write `{}`: the value that it returns for a handle of another device is not known",
        slot.sig.ident
    );
    syn::Error::new_spanned(&implementation.self_ty, message)
}

/// A parameter of a slot whose type is a handle of the device.
struct Handle<'s> {
    name: &'s Ident,
    /// The enum in the handle, as it is matched.
    value: TokenStream,
}

fn handles(signature: &Signature) -> Vec<Handle<'_>> {
    signature.inputs.iter().filter_map(handle).collect()
}

fn handle(input: &FnArg) -> Option<Handle<'_>> {
    let FnArg::Typed(typed) = input else {
        return None;
    };
    let Pat::Ident(pattern) = &*typed.pat else {
        return None;
    };
    let name = &pattern.ident;
    let value = match &*typed.ty {
        Type::Reference(reference) => handle_name(&reference.elem).map(|_| quote!(&#name.0)),
        ty => handle_name(ty).map(|_| quote!(#name.0)),
    };
    Some(Handle {
        name,
        value: value?,
    })
}

/// Returns `X` of `Self::X`.
fn handle_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(ty) if ty.path.segments.len() == 2 && ty.path.segments[0].ident == "Self" => {
            Some(&ty.path.segments[1].ident)
        }
        _ => None,
    }
}

/// Returns the constructor of the handle that a slot returns: `Stream` of a slot that returns `Result<Self::Stream>`.
fn returned_handle(signature: &Signature, implementation: &ItemImpl) -> Option<TokenStream> {
    let ReturnType::Type(_, ty) = &signature.output else {
        return None;
    };
    let name = handle_name(result_argument(ty)?)?;
    implementation.items.iter().find_map(|item| match item {
        ImplItem::Type(ty) if ty.ident == *name => Some(ty.ty.to_token_stream()),
        _ => None,
    })
}

/// Returns `T` of `Result<T>`.
fn result_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(ty) = ty else {
        return None;
    };
    let last = ty.path.segments.last().filter(|it| it.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
