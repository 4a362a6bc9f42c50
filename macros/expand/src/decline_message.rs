//! The messages with which a plugin declines its host. sp-runtime and the C headers make the same decision in two
//! languages; each message is here once. `decline_message!` formats it in Rust, and sp-emit prints it as a C macro.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token};

/// The messages by name. A value is `{release}`, `{size}` or `{text}`.
pub const DECLINE_MESSAGES: [(&str, &str); 6] = [
    ("Declined", "declined {text}{text}: {text}"),
    ("TooOld", "plugins are loaded from TensorFlow {release} on"),
    (
        "BeforeMinRelease",
        "the plugin is for TensorFlow {release} or later",
    ),
    (
        "UnstatedRelease",
        "a TensorFlow that does not state its release ({text})",
    ),
    (
        "UnknownSize",
        "its {text} is {size} bytes, expected {text} (SP_ASSUME_APPEND=1 takes a longer one for these with fields \
         added at the end)",
    ),
    (
        "AcceptedBySizes",
        "{text} is newer than the plugin, and {text}: structs are accepted by their sizes",
    ),
];

/// Returns the macro's name and the string literal of each message in C.
pub fn c_decline_messages() -> impl Iterator<Item = (String, String)> {
    DECLINE_MESSAGES.iter().map(|(name, text)| {
        let specifiers = [("{release}", "%u.%u"), ("{size}", "%zu"), ("{text}", "%s")];
        let text = specifiers
            .iter()
            .fold((*text).to_owned(), |text, (value, specifier)| {
                text.replace(value, specifier)
            });
        (
            format!("SPGEN_MESSAGE_{}", screaming_case(name)),
            format!("\"{text}\""),
        )
    })
}

fn screaming_case(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

/// `NAME, VALUES...`.
struct Invocation {
    name: Ident,
    values: TokenStream,
}

impl Parse for Invocation {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        let values = input.parse()?;
        Ok(Self { name, values })
    }
}

/// Expands `decline_message!(NAME, VALUES...)` to a call of `format!`.
///
/// # Errors
/// Returns an error if no message has that name.
pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Invocation { name, values } = syn::parse2(input)?;
    let found = DECLINE_MESSAGES.iter().find(|(known, _)| name == known);
    let Some((_, text)) = found else {
        let known: Vec<&str> = DECLINE_MESSAGES.iter().map(|(known, _)| *known).collect();
        let text = format!(
            "unknown message {name}: expected one of {}",
            known.join(", ")
        );
        return Err(syn::Error::new(name.span(), text));
    };
    let values_of_text = ["{release}", "{size}", "{text}"];
    let text = values_of_text
        .iter()
        .fold((*text).to_owned(), |text, value| text.replace(value, "{}"));
    Ok(quote!(::std::format!(#text, #values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_message_in_rust_and_c() {
        let expanded = expand(quote!(TooOld, FIRST)).unwrap().to_string();
        let expected = r#":: std :: format ! ("plugins are loaded from TensorFlow {} on" , FIRST)"#;
        assert_eq!(expanded, expected);
        let (name, text) = c_decline_messages().nth(1).unwrap();
        assert_eq!(name, "SPGEN_MESSAGE_TOO_OLD");
        assert_eq!(text, r#""plugins are loaded from TensorFlow %u.%u on""#);
    }

    #[test]
    fn rejects_unknown_message() {
        let error = expand(quote!(TooNew, FIRST)).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("expected one of Declined, TooOld")
        );
    }
}
