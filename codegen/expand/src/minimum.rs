//! `#[plugin(min_release = "2.6")]`: whether the oldest release that an author says to support has
//! what the item below names: functions that it gets, and fields of TensorFlow's structs. Without an
//! argument it is the release that `plugin!` was told, in the root of the crate.
//!
//! The item stays as it is. Behind it stands a check of each name, at the name's place; what stands
//! in other files is theirs to check.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Item, LitStr, Token};

use crate::layout::{Minor, read_minor};

/// Expands the attribute.
///
/// # Errors
/// Spanned, where the arguments or the item do not parse.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let minimum: Minimum = syn::parse2(arguments)?;
    let mut used = Vec::new();
    names(item.clone(), &mut used);
    let mut seen = BTreeSet::new();
    used.retain(|name| seen.insert(name.text()));
    let checks: TokenStream = used.iter().map(|name| name.check(minimum)).collect();
    match syn::parse2::<Item>(item.clone()) {
        // Inside, the names mean what they mean there.
        Ok(Item::Mod(mut module)) if module.content.is_some() => {
            if let Some((_, items)) = &mut module.content {
                items.push(Item::Verbatim(checks));
            }
            Ok(quote!(#module))
        }
        _ => Ok(quote!(#item #checks)),
    }
}

/// `min_release = "2.6"`, or nothing: the crate's.
#[derive(Clone, Copy)]
struct Minimum(Option<Minor>);

impl Minimum {
    /// The release in words, and as a constant expression.
    fn release(self) -> (String, TokenStream) {
        match self.0 {
            Some((major, minor)) => {
                let words = format!("TensorFlow {major}.{minor}, the oldest that this is for");
                let [major, minor] = [major, minor].map(Literal::u32_unsuffixed);
                (words, quote!(::sp_runtime::Release::new(#major, #minor)))
            }
            None => (
                "the oldest TensorFlow that the plugin is for".to_owned(),
                quote!(crate::MIN_RELEASE),
            ),
        }
    }
}

impl Parse for Minimum {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self(None));
        }
        let key: Ident = input.parse()?;
        if key != "min_release" {
            let message = "expected `min_release = \"2.6\"`, the oldest release that this is for";
            return Err(syn::Error::new(key.span(), message));
        }
        input.parse::<Token![=]>()?;
        let release: LitStr = input.parse()?;
        read_minor(&release.value())
            .map(|release| Self(Some(release)))
            .ok_or_else(|| syn::Error::new(release.span(), "expected a release, such as `2.6`"))
    }
}

/// A name whose releases are known.
enum Name {
    /// `TF_GetDeviceId`, of which the code asks `.get()`.
    Function(Ident),
    /// `SP_Platform::force_memory_growth`
    Field(Ident, Ident),
}

impl Name {
    fn text(&self) -> String {
        match self {
            Name::Function(name) => name.to_string(),
            Name::Field(owner, field) => format!("{owner}::{field}"),
        }
    }

    fn check(&self, minimum: Minimum) -> TokenStream {
        let (words, release) = minimum.release();
        let message = format!("{} is not in {words}", self.text());
        match self {
            Name::Function(name) => quote_spanned! { name.span() =>
                const _: () = assert!(
                    ::sp_abi::availability::of::#name.has(#release.numbers()),
                    #message
                );
            },
            Name::Field(owner, field) => quote_spanned! { field.span() =>
                const _: () = assert!(#owner::#field.is_in(#release), #message);
            },
        }
    }
}

/// The names in `tokens` whose releases are known.
fn names(tokens: TokenStream, found: &mut Vec<Name>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => names(group.stream(), found),
            TokenTree::Ident(name) if is_c_name(name) => {
                found.extend(used(name, &tokens[index + 1..]))
            }
            _ => {}
        }
    }
}

fn used(name: &Ident, after: &[TokenTree]) -> Option<Name> {
    let is =
        |token: &TokenTree, sign| matches!(token, TokenTree::Punct(it) if it.as_char() == sign);
    match after {
        [dot, TokenTree::Ident(method), ..] if is(dot, '.') && method == "get" => {
            Some(Name::Function(name.clone()))
        }
        [one, two, TokenTree::Ident(field), rest @ ..] if is(one, ':') && is(two, ':') => {
            let text = field.to_string();
            let is_field = text.starts_with(|it: char| it.is_ascii_lowercase());
            let called = rest
                .first()
                .is_some_and(|it| is(it, ':') || matches!(it, TokenTree::Group(_)));
            (is_field && !called).then(|| Name::Field(name.clone(), field.clone()))
        }
        _ => None,
    }
}

/// Whether it is a name of TensorFlow's C API, by its look.
fn is_c_name(name: &Ident) -> bool {
    let text = name.to_string();
    let mut prefixes = ["TF_", "TSL_", "SP_", "SE_", "TP_"].into_iter();
    prefixes.any(|prefix| text.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: TokenStream) -> String {
        attribute(quote!(min_release = "2.6"), item)
            .unwrap()
            .to_string()
    }

    #[test]
    fn functions_and_fields_are_checked_once_each() {
        let text = expanded(quote! {
            fn f() { TF_A.get()?; TF_A.get()?; table.set(SP_T::late, 1); SP_T::fill::<Me>(table); SE_E::SE_DONE; }
        });
        assert_eq!(text.matches("const _").count(), 2, "{text}");
        assert!(text.contains("of :: TF_A . has (:: sp_runtime"), "{text}");
        assert!(text.contains("SP_T :: late . is_in"), "{text}");
    }

    #[test]
    fn without_an_argument_it_is_the_crates_release() {
        let item = quote! { fn f() { TF_A.get()?; SP_T::late; } };
        let text = attribute(TokenStream::new(), item).unwrap().to_string();
        assert_eq!(text.matches("crate :: MIN_RELEASE").count(), 2, "{text}");
    }

    #[test]
    fn a_module_holds_its_own_checks() {
        let text = expanded(quote! { mod m { use x::SP_T; fn f() { SP_T::late; } } });
        assert!(text.trim_end().ends_with('}'), "{text}");
    }

    #[test]
    fn refusals_say_what_is_wanted() {
        let error = |arguments| {
            attribute(
                arguments,
                quote!(
                    fn f() {}
                ),
            )
            .unwrap_err()
            .to_string()
        };
        assert!(error(quote!(release = "2.6")).contains("min_release"));
        assert!(error(quote!(min_release = "old")).contains("such as"));
    }
}
