//! `#[plugin(min_release = "2.6")]`: checks that the oldest supported release has the functions that the
//! annotated item calls and the fields of TensorFlow's structs that it names. Without an argument, the
//! release is the `min_release` of `plugin!` in the root of the crate.
//!
//! The item does not change. A check of each name follows it, with the span of that name. Code in other
//! files needs an attribute of its own.
//!
//! `plugin! { .., min_release: "2.6" }` declines older hosts at run time. No macro reads a whole crate.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Item, LitStr, Token};

use crate::layout::{Minor, parse_minor};

/// Expands the attribute.
///
/// # Errors
/// Returns a spanned error if the arguments or the item do not parse.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let minimum: MinRelease = syn::parse2(arguments)?;
    let mut used = Vec::new();
    collect_names(item.clone(), &mut used);
    let mut checked = BTreeSet::new();
    used.retain(|name| checked.insert(name.text()));
    let checks: TokenStream = used.iter().map(|name| name.check(minimum)).collect();
    match syn::parse2::<Item>(item.clone()) {
        // The checks go inside the module, where its imports apply to the names.
        Ok(Item::Mod(mut module)) if module.content.is_some() => {
            if let Some((_, items)) = &mut module.content {
                items.push(Item::Verbatim(checks));
            }
            Ok(quote!(#module))
        }
        _ => Ok(quote!(#item #checks)),
    }
}

/// The argument `min_release = "2.6"`, or `None` for the release of the crate's `plugin!`.
#[derive(Clone, Copy)]
struct MinRelease(Option<Minor>);

impl MinRelease {
    /// Returns a description of the release, and a constant expression for it.
    fn release(self) -> (String, TokenStream) {
        match self.0 {
            Some((major, minor)) => {
                let description =
                    format!("TensorFlow {major}.{minor}, the `min_release` of this item");
                let [major, minor] = [major, minor].map(Literal::u32_unsuffixed);
                (
                    description,
                    quote!(::sp_runtime::Release::new(#major, #minor)),
                )
            }
            None => (
                "the oldest TensorFlow that the plugin supports (`MIN_RELEASE`)".to_owned(),
                quote!(crate::MIN_RELEASE),
            ),
        }
    }
}

impl Parse for MinRelease {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self(None));
        }
        let key: Ident = input.parse()?;
        if key != "min_release" {
            let message =
                "expected `min_release = \"2.6\"`, the oldest release that this item supports";
            return Err(syn::Error::new(key.span(), message));
        }
        input.parse::<Token![=]>()?;
        let release: LitStr = input.parse()?;
        parse_minor(&release.value())
            .map(|release| Self(Some(release)))
            .ok_or_else(|| syn::Error::new(release.span(), "expected a release, such as `2.6`"))
    }
}

/// A name whose releases sp-abi contains.
enum CheckedName {
    /// A function on which the code calls `.get()`, such as `TF_GetDeviceId`.
    Function(Ident),
    /// A field, such as `SP_Platform::force_memory_growth`.
    Field(Ident, Ident),
}

impl CheckedName {
    fn text(&self) -> String {
        match self {
            CheckedName::Function(name) => name.to_string(),
            CheckedName::Field(owner, field) => format!("{owner}::{field}"),
        }
    }

    fn check(&self, minimum: MinRelease) -> TokenStream {
        let (description, release) = minimum.release();
        let message = format!("{} does not exist in {description}", self.text());
        match self {
            CheckedName::Function(name) => quote_spanned! { name.span() =>
                const _: () = assert!(
                    ::sp_abi::availability::functions::#name.is_exported_in(#release.numbers()),
                    #message
                );
            },
            CheckedName::Field(owner, field) => quote_spanned! { field.span() =>
                const _: () = assert!(#owner::#field.exists_in(#release), #message);
            },
        }
    }
}

/// Collects the names in `tokens` whose releases sp-abi contains.
fn collect_names(tokens: TokenStream, found: &mut Vec<CheckedName>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => collect_names(group.stream(), found),
            TokenTree::Ident(name) if is_c_name(name) => {
                found.extend(parse_use(name, &tokens[index + 1..]))
            }
            _ => {}
        }
    }
}

fn parse_use(name: &Ident, after: &[TokenTree]) -> Option<CheckedName> {
    let is =
        |token: &TokenTree, sign| matches!(token, TokenTree::Punct(it) if it.as_char() == sign);
    match after {
        [dot, TokenTree::Ident(method), ..] if is(dot, '.') && method == "get" => {
            Some(CheckedName::Function(name.clone()))
        }
        [
            first_colon,
            second_colon,
            TokenTree::Ident(field),
            rest @ ..,
        ] if is(first_colon, ':') && is(second_colon, ':') => {
            let text = field.to_string();
            let is_field = text.starts_with(|it: char| it.is_ascii_lowercase());
            let called = rest
                .first()
                .is_some_and(|it| is(it, ':') || matches!(it, TokenTree::Group(_)));
            (is_field && !called).then(|| CheckedName::Field(name.clone(), field.clone()))
        }
        _ => None,
    }
}

/// Returns true if `name` has a prefix of TensorFlow's C API.
fn is_c_name(name: &Ident) -> bool {
    let text = name.to_string();
    let mut prefixes = ["TF_", "TSL_", "SP_", "SE_", "TP_"].into_iter();
    prefixes.any(|prefix| text.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(item: TokenStream) -> String {
        attribute(quote!(min_release = "2.6"), item)
            .unwrap()
            .to_string()
    }

    #[test]
    fn checks_each_function_and_field_once() {
        let text = expand(quote! {
            fn f() { TF_A.get()?; TF_A.get()?; table.set(SP_T::late, 1); SP_T::fill::<Me>(table); SE_E::SE_DONE; }
        });
        assert_eq!(text.matches("const _").count(), 2, "{text}");
        assert!(
            text.contains("functions :: TF_A . is_exported_in (:: sp_runtime"),
            "{text}"
        );
        assert!(text.contains("SP_T :: late . exists_in"), "{text}");
    }

    #[test]
    fn checks_against_release_of_crate_without_argument() {
        let item = quote! { fn f() { TF_A.get()?; SP_T::late; } };
        let text = attribute(TokenStream::new(), item).unwrap().to_string();
        assert_eq!(text.matches("crate :: MIN_RELEASE").count(), 2, "{text}");
    }

    #[test]
    fn checks_of_module_are_inside_module() {
        let text = expand(quote! { mod m { use x::SP_T; fn f() { SP_T::late; } } });
        assert!(text.trim_end().ends_with('}'), "{text}");
    }

    #[test]
    fn errors_state_expected_argument() {
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
