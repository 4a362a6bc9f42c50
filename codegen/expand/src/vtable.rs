//! `#[vtable]` on an author's impl of a generated trait.
//!
//! The attribute cannot see the trait, so it hands the impl to the macro of the same name that
//! sp-abi generates beside it; that one calls [`forward`] back with the trait's slots. There the
//! optional slots that the author wrote are marked present, and with a fallback every slot and type
//! that the author did not write is delegated.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Expr, FnArg, ImplItem, ItemImpl, Pat, Path, Safety, Signature, Token, TraitItem, TraitItemFn,
    TraitItemType, Type, braced, bracketed,
};

/// The attribute: `#[vtable]` or `#[vtable(fallback = self.reference: CpuDevice)]`.
///
/// # Errors
/// Where the item is no trait impl, or the arguments do not parse.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !arguments.is_empty() {
        syn::parse2::<Fallback>(arguments.clone())?;
    }
    let implementation: ItemImpl = syn::parse2(item)?;
    let slots = slots_macro(&implementation)?;
    Ok(quote! { #slots! { [::sp_runtime::forward_slots] [#arguments] #implementation } })
}

/// The macro beside the trait: the same path without generic arguments.
fn slots_macro(implementation: &ItemImpl) -> syn::Result<Path> {
    let (path, _) = implementation.trait_.as_ref().ok_or_else(|| {
        syn::Error::new_spanned(
            &implementation.self_ty,
            "#[vtable] goes on an impl of a generated trait: `impl StreamExecutor for ...`",
        )
    })?;
    Ok(path.clone())
}

/// What the trait's macro calls back: `{ slots } [fallback] impl ...`.
///
/// # Errors
/// Where the input does not parse.
pub fn forward(input: TokenStream) -> syn::Result<TokenStream> {
    let Forward {
        slots,
        fallback,
        mut implementation,
    } = syn::parse2(input)?;
    let written: Vec<String> = implementation.items.iter().filter_map(name_of).collect();
    let path = slots_macro(&implementation)?;
    for slot in &slots {
        let present = written.contains(&slot.name().to_string());
        implementation
            .items
            .extend(slot.complete(present, fallback.as_ref(), &path));
    }
    Ok(quote! { #implementation })
}

fn name_of(item: &ImplItem) -> Option<String> {
    match item {
        ImplItem::Fn(function) => Some(function.sig.ident.to_string()),
        ImplItem::Type(ty) => Some(ty.ident.to_string()),
        _ => None,
    }
}

/// `self.reference: CpuDevice`: where what is not written goes, and its type.
struct Fallback {
    place: Expr,
    ty: Type,
}

impl Parse for Fallback {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key: Ident = input.parse()?;
        if key != "fallback" {
            return Err(syn::Error::new(
                key.span(),
                "expected `fallback = self.field: Type`, the device that serves what is not written here",
            ));
        }
        input.parse::<Token![=]>()?;
        let place = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self {
            place,
            ty: input.parse()?,
        })
    }
}

struct Forward {
    slots: Vec<Slot>,
    fallback: Option<Fallback>,
    implementation: ItemImpl,
}

impl Parse for Forward {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (slots, fallback);
        braced!(slots in input);
        bracketed!(fallback in input);
        Ok(Self {
            slots: slots_in(&slots)?,
            fallback: if fallback.is_empty() {
                None
            } else {
                Some(fallback.parse()?)
            },
            implementation: input.parse()?,
        })
    }
}

fn slots_in(input: ParseStream<'_>) -> syn::Result<Vec<Slot>> {
    let mut slots = Vec::new();
    while !input.is_empty() {
        slots.push(match input.parse()? {
            TraitItem::Fn(function) => Slot::Function(Box::new(function)),
            TraitItem::Type(ty) => Slot::Type(Box::new(ty)),
            other => return Err(syn::Error::new_spanned(other, "a slot is a fn or a type")),
        });
    }
    Ok(slots)
}

/// One item of the trait.
enum Slot {
    Type(Box<TraitItemType>),
    Function(Box<TraitItemFn>),
}

impl Slot {
    fn name(&self) -> &Ident {
        match self {
            Slot::Type(ty) => &ty.ident,
            Slot::Function(function) => &function.sig.ident,
        }
    }

    /// What the impl still needs for this slot, given whether the author wrote it.
    fn complete(&self, present: bool, fallback: Option<&Fallback>, path: &Path) -> Vec<ImplItem> {
        match (self, fallback) {
            (Slot::Function(function), _) if present => marked(function),
            (Slot::Function(function), Some(to)) => delegated(function, to, path),
            (Slot::Type(ty), Some(to)) if !present => vec![borrowed(ty, to, path)],
            _ => Vec::new(),
        }
    }
}

fn is_optional(function: &TraitItemFn) -> bool {
    function
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("optional"))
}

fn presence(function: &TraitItemFn) -> Ident {
    // The author's impl is where this constant stands, so it carries the author's hygiene.
    let name = format_ident!("HAS_{}", function.sig.ident.to_string().to_uppercase());
    Ident::new(&name.to_string(), Span::call_site())
}

fn marked(function: &TraitItemFn) -> Vec<ImplItem> {
    let constant = presence(function);
    let mark = syn::parse_quote! { const #constant: bool = true; };
    if is_optional(function) {
        vec![mark]
    } else {
        Vec::new()
    }
}

fn borrowed(slot: &TraitItemType, Fallback { ty, .. }: &Fallback, path: &Path) -> ImplItem {
    let name = &slot.ident;
    syn::parse_quote! { type #name = <#ty as #path>::#name; }
}

fn delegated(slot: &TraitItemFn, to: &Fallback, path: &Path) -> Vec<ImplItem> {
    let Fallback { place, ty } = to;
    let mut signature = slot.sig.clone();
    let receiver = adopt_self(&mut signature, place).then(|| quote! { &#place, });
    let (name, arguments) = (&slot.sig.ident, arguments(&slot.sig));
    let mut call = quote! { <#ty as #path>::#name(#receiver #(#arguments),*) };
    if matches!(signature.safety, Safety::Unsafe(_)) {
        // SAFETY of the generated call: the caller's promise is passed on as it came.
        call = quote! { unsafe { #call } };
    }
    let mut items = vec![syn::parse_quote! { #signature { #call } }];
    if is_optional(slot) {
        let constant = presence(slot);
        items.push(syn::parse_quote! { const #constant: bool = <#ty as #path>::#constant; });
    }
    items
}

/// Gives the receiver the hygiene of the `self` in the author's fallback expression: the slot's own
/// came out of another macro, where `self` means something else.
fn adopt_self(signature: &mut Signature, place: &Expr) -> bool {
    let Some(FnArg::Receiver(_)) = signature.inputs.first() else {
        return false;
    };
    let this = Ident::new("self", first_span(place));
    signature.inputs[0] = syn::parse_quote! { &#this };
    true
}

fn first_span(place: &Expr) -> Span {
    let first = quote! { #place }.into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

fn arguments(signature: &Signature) -> Vec<&Ident> {
    let typed = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.pat),
        FnArg::Receiver(_) => None,
    });
    typed
        .filter_map(|pattern| match pattern {
            Pat::Ident(name) => Some(&name.ident),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(fallback: TokenStream, body: TokenStream) -> String {
        let input = quote! {
            {
                type Stream;
                fn create_stream(&self) -> Result<Self::Stream>;
                #[optional] unsafe fn flush(&self, size: u64);
            }
            [#fallback]
            impl StreamExecutor for Mine { #body }
        };
        forward(input).unwrap().to_string()
    }

    #[test]
    fn written_optional_slots_are_marked() {
        let text = forwarded(quote! {}, quote! { unsafe fn flush(&self, size: u64) {} });
        assert!(text.contains("const HAS_FLUSH : bool = true"), "{text}");
        assert!(
            !text.contains("create_stream"),
            "a missing required slot is left to rustc: {text}"
        );
    }

    #[test]
    fn what_is_not_written_goes_to_the_fallback() {
        let text = forwarded(
            quote! { fallback = self.reference: Cpu },
            quote! { fn create_stream(&self) -> Result<Self::Stream> { own() } },
        );
        assert!(
            text.contains("type Stream = < Cpu as StreamExecutor > :: Stream"),
            "{text}"
        );
        assert!(
            text.contains(
                "unsafe { < Cpu as StreamExecutor > :: flush (& self . reference , size) }"
            ),
            "{text}"
        );
        assert!(
            text.contains("HAS_FLUSH : bool = < Cpu as StreamExecutor > :: HAS_FLUSH"),
            "{text}"
        );
        assert_eq!(text.matches("create_stream").count(), 1, "{text}");
    }

    #[test]
    fn a_plain_impl_is_refused() {
        let error = attribute(quote! {}, quote! { impl Mine {} }).unwrap_err();
        assert!(error.to_string().contains("generated trait"), "{error}");
    }
}
