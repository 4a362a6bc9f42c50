//! `#[vtable]` on an author's impl of a generated trait.
//!
//! The attribute cannot see the trait, so it passes the impl to the macro of the same name that sp-abi
//! generates beside the trait. That macro invokes [`forward`] with the trait's slots. `forward` marks the
//! optional slots that the impl contains as present. With a fallback, it delegates every slot and type
//! that the impl does not contain. With `absent`, a slot that the impl neither contains nor lists is an error, so that each slot
//! of a new release is decided.
//!
//! That error is of the crate's tests only. A plugin has to build with the structs of a release that appends a slot: there the
//! slot is null.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Expr, FnArg, ImplItem, ItemImpl, Pat, Path, Safety, Signature, Token, TraitItem, TraitItemFn,
    TraitItemType, Type, braced, bracketed,
};

/// Expands `#[vtable]`, `#[vtable(fallback = self.reference: CpuDevice)]` and `#[vtable(absent = [flush])]`.
///
/// # Errors
/// Returns an error if the item is not a trait impl, or if the arguments do not parse.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    syn::parse2::<Arguments>(arguments.clone())?;
    let implementation: ItemImpl = syn::parse2(item)?;
    let slots = slots_macro(&implementation)?;
    Ok(quote! { #slots! { [::sp_runtime::forward_slots] [#arguments] #implementation } })
}

/// Returns the path of the macro beside the trait, which is the path of the trait.
fn slots_macro(implementation: &ItemImpl) -> syn::Result<Path> {
    let (path, _) = implementation.trait_.as_ref().ok_or_else(|| {
        syn::Error::new_spanned(
            &implementation.self_ty,
            "#[vtable] goes on an impl of a generated trait: `impl StreamExecutor for ...`",
        )
    })?;
    Ok(path.clone())
}

/// Expands the invocation by the trait's macro: `{ slots } [fallback] impl ...`.
///
/// # Errors
/// Returns an error if the input does not parse.
pub fn forward(input: TokenStream) -> syn::Result<TokenStream> {
    let Forward {
        slots,
        arguments,
        mut implementation,
    } = syn::parse2(input)?;
    let written: Vec<String> = implementation.items.iter().filter_map(item_name).collect();
    let path = slots_macro(&implementation)?;
    let mut errors = Vec::new();
    for slot in &slots {
        let present = written.contains(&slot.name().to_string());
        match slot.missing_items(present, &arguments, &path, &implementation) {
            Ok(items) => implementation.items.extend(items),
            Err(error) => errors.push(error.into_compile_error()),
        }
    }
    Ok(quote! { #implementation #(#[cfg(test)] #errors)* })
}

fn item_name(item: &ImplItem) -> Option<String> {
    match item {
        ImplItem::Fn(function) => Some(function.sig.ident.to_string()),
        ImplItem::Type(ty) => Some(ty.ident.to_string()),
        _ => None,
    }
}

/// The arguments of the attribute.
enum Arguments {
    None,
    Fallback(Box<Fallback>),
    /// The optional slots that the device does not have.
    Absent(Vec<Ident>),
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self::None);
        }
        let key: Ident = input.parse()?;
        let text = key.to_string();
        if !["fallback", "absent"].contains(&text.as_str()) {
            return Err(syn::Error::new(
                key.span(),
                "expected `fallback = self.field: Type`, the device for the slots that this impl does not contain, \
                 or `absent = [slot, ..]`",
            ));
        }
        input.parse::<Token![=]>()?;
        match text.as_str() {
            "fallback" => input.parse().map(Self::Fallback),
            _ => {
                let slots;
                bracketed!(slots in input);
                let slots = slots.parse_terminated(Ident::parse, Token![,])?;
                Ok(Self::Absent(slots.into_iter().collect()))
            }
        }
    }
}

/// The fallback `self.reference: CpuDevice`: the device for slots that the impl does not contain.
struct Fallback {
    device: Expr,
    ty: Type,
}

impl Parse for Fallback {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let device = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self {
            device,
            ty: input.parse()?,
        })
    }
}

struct Forward {
    slots: Vec<Slot>,
    arguments: Arguments,
    implementation: ItemImpl,
}

impl Parse for Forward {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (slots, arguments);
        braced!(slots in input);
        bracketed!(arguments in input);
        Ok(Self {
            slots: parse_slots(&slots)?,
            arguments: arguments.parse()?,
            implementation: input.parse()?,
        })
    }
}

fn parse_slots(input: ParseStream<'_>) -> syn::Result<Vec<Slot>> {
    let mut slots = Vec::new();
    while !input.is_empty() {
        slots.push(match input.parse()? {
            TraitItem::Fn(function) => Slot::Function(Box::new(function)),
            TraitItem::Type(ty) => Slot::Type(Box::new(ty)),
            other => {
                return Err(syn::Error::new_spanned(
                    other,
                    "expected a function or a type",
                ));
            }
        });
    }
    Ok(slots)
}

/// An item of the trait.
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

    /// Returns the items to add to the impl for this slot; `present` is true if the impl contains the slot.
    fn missing_items(
        &self,
        present: bool,
        arguments: &Arguments,
        path: &Path,
        implementation: &ItemImpl,
    ) -> syn::Result<Vec<ImplItem>> {
        match (self, arguments) {
            (Slot::Function(function), _) if present => Ok(presence_items(function)),
            (Slot::Function(function), Arguments::Fallback(fallback)) => {
                Ok(delegated_function(function, fallback, path))
            }
            (Slot::Function(function), Arguments::Absent(slots))
                if is_optional(function) && !slots.contains(&function.sig.ident) =>
            {
                Err(undecided(function, path, implementation))
            }
            (Slot::Type(ty), Arguments::Fallback(fallback)) if !present => {
                Ok(vec![delegated_type(ty, fallback, path)])
            }
            _ => Ok(Vec::new()),
        }
    }
}

fn undecided(slot: &TraitItemFn, path: &Path, implementation: &ItemImpl) -> syn::Error {
    let (name, table) = (&slot.sig.ident, quote!(#path));
    let message = format!("{table} has the slot `{name}`: write it here, or add it to `absent`");
    syn::Error::new_spanned(&implementation.self_ty, message)
}

fn is_optional(function: &TraitItemFn) -> bool {
    function
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("optional"))
}

fn presence_constant(function: &TraitItemFn) -> Ident {
    // The constant is added to the author's impl, so it has the hygiene of the call site.
    let name = format_ident!("HAS_{}", function.sig.ident.to_string().to_uppercase());
    Ident::new(&name.to_string(), Span::call_site())
}

fn presence_items(function: &TraitItemFn) -> Vec<ImplItem> {
    let constant = presence_constant(function);
    let item = syn::parse_quote! { const #constant: bool = true; };
    if is_optional(function) {
        vec![item]
    } else {
        Vec::new()
    }
}

fn delegated_type(slot: &TraitItemType, Fallback { ty, .. }: &Fallback, path: &Path) -> ImplItem {
    let name = &slot.ident;
    syn::parse_quote! { type #name = <#ty as #path>::#name; }
}

fn delegated_function(slot: &TraitItemFn, fallback: &Fallback, path: &Path) -> Vec<ImplItem> {
    let Fallback { device, ty } = fallback;
    let mut signature = slot.sig.clone();
    let has_receiver = adopt_self(&mut signature, device);
    let (name, arguments) = (&slot.sig.ident, arguments(&slot.sig));
    let call = match (&signature.safety, has_receiver) {
        // The generated call is sound: the slot and the one it delegates to have the same obligations. The author's
        // expression is outside of the block, where a call of an unsafe function is an error.
        (Safety::Unsafe(_), true) => quote! {
            let __device: &#ty = &#device;
            unsafe { <#ty as #path>::#name(__device, #(#arguments),*) }
        },
        (Safety::Unsafe(_), false) => quote! {
            unsafe { <#ty as #path>::#name(#(#arguments),*) }
        },
        (_, true) => quote! { <#ty as #path>::#name(&#device, #(#arguments),*) },
        (_, false) => quote! { <#ty as #path>::#name(#(#arguments),*) },
    };
    let deny = body_lint(&signature);
    let mut items = vec![syn::parse_quote! { #deny #signature { #call } }];
    if is_optional(slot) {
        let constant = presence_constant(slot);
        items.push(syn::parse_quote! { const #constant: bool = <#ty as #path>::#constant; });
    }
    items
}

/// Returns the lint without which the body of an unsafe function would be an unsafe block.
fn body_lint(signature: &Signature) -> Option<TokenStream> {
    let is_unsafe = matches!(&signature.safety, Safety::Unsafe(_));
    is_unsafe.then(|| quote!(#[deny(unsafe_op_in_unsafe_fn)]))
}

/// Gives the receiver the hygiene of the `self` in the author's fallback expression. The slot's own `self`
/// comes from another macro and would not resolve there. Returns false if the slot has no receiver.
fn adopt_self(signature: &mut Signature, device: &Expr) -> bool {
    let Some(FnArg::Receiver(_)) = signature.inputs.first() else {
        return false;
    };
    let this = Ident::new("self", first_span(device));
    signature.inputs[0] = syn::parse_quote! { &#this };
    true
}

fn first_span(device: &Expr) -> Span {
    let first = quote! { #device }.into_iter().next();
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

    fn forward_text(fallback: TokenStream, body: TokenStream) -> String {
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
    fn marks_optional_slots_of_impl_as_present() {
        let text = forward_text(quote! {}, quote! { unsafe fn flush(&self, size: u64) {} });
        assert!(text.contains("const HAS_FLUSH : bool = true"), "{text}");
        assert!(
            !text.contains("create_stream"),
            "a missing required slot is left to rustc: {text}"
        );
    }

    #[test]
    fn delegates_other_slots_to_fallback() {
        let text = forward_text(
            quote! { fallback = self.reference: Cpu },
            quote! { fn create_stream(&self) -> Result<Self::Stream> { own() } },
        );
        assert!(
            text.contains("type Stream = < Cpu as StreamExecutor > :: Stream"),
            "{text}"
        );
        assert!(
            text.contains(
                "let __device : & Cpu = & self . reference ; unsafe { < Cpu as StreamExecutor > :: flush (__device , size) }"
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
    fn slot_that_is_neither_written_nor_absent_is_an_error_and_a_listed_one_is_not() {
        let create = quote! { fn create_stream(&self) -> Result<Self::Stream> { own() } };
        let text = forward_text(quote! { absent = [other] }, create.clone());
        assert!(text.contains("compile_error !"), "{text}");
        assert!(text.contains("has the slot `flush`"), "{text}");
        assert!(!text.contains("the slot `create_stream`"), "{text}");
        let text = forward_text(quote! { absent = [flush] }, create);
        assert!(!text.contains("compile_error"), "{text}");
    }

    #[test]
    fn rejects_inherent_impl() {
        let error = attribute(quote! {}, quote! { impl Mine {} }).unwrap_err();
        assert!(error.to_string().contains("generated trait"), "{error}");
    }
}
