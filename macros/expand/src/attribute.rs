//! The `#[abi(..)]` grammar: printer and parser of the facts about a generated struct.
//!
//! The two `facts!` tables below define the keys. Each value is a string; [`AttributeValue`] of its type
//! parses and prints it. Facts that are not stated are not printed.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use sp_ir::{Direction, Presence, Side, Writer};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, LitStr};

use crate::ident;
use crate::layout::{Epochs, FieldOffsets};

/// A value of a key, parsed from and printed to the text inside the quotes.
trait AttributeValue: Sized {
    fn parse(literal: &LitStr) -> syn::Result<Self>;
    fn print(&self) -> String;
}

macro_rules! facts {
    (
        $(#[$outer:meta])*
        pub struct $Facts:ident { $( $(#[$inner:meta])* $key:ident: $Value:ty, )+ }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Default)]
        pub struct $Facts {
            $( $(#[$inner])* pub $key: Option<$Value>, )+
        }

        impl $Facts {
            const KEYS: &[&str] = &[$(stringify!($key)),+];

            /// Parses every `#[abi(..)]` among `attributes` and ignores other attributes.
            ///
            /// # Errors
            /// Returns an error, with the span of the key or value, if a key is unknown or given twice, or if
            /// a value is malformed.
            pub fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
                let mut facts = Self::default();
                for attribute in attributes.iter().filter(|a| a.path().is_ident("abi")) {
                    attribute.parse_nested_meta(|meta| facts.parse_key(&meta))?;
                }
                Ok(facts)
            }

            fn parse_key(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
                $( if meta.path.is_ident(stringify!($key)) {
                    return parse_once(meta, &mut self.$key);
                } )+
                let keys = Self::KEYS.join("`, `");
                Err(meta.error(format!("unknown key: expected one of `{keys}`")))
            }

            /// Prints the attribute that states these facts, or no tokens if there are none.
            pub fn to_tokens(&self) -> TokenStream {
                let mut stated = Vec::new();
                $( if let Some(value) = &self.$key {
                    let text = value.print();
                    stated.push(quote!($key = #text));
                } )+
                if stated.is_empty() { TokenStream::new() } else { quote!(#[abi(#(#stated),*)]) }
            }
        }
    };
}

facts! {
    /// The facts about a struct.
    pub struct StructFacts {
        /// The side that fills the struct: `"core"` or `"plugin"`.
        filled_by: Side,
        /// The C name of the struct's `struct_size` constant.
        struct_size: String,
        /// The last field that `struct_size` covers.
        last: Ident,
        /// The trait that an author implements to fill this table.
        author_trait: Ident,
        /// The field that holds the author's object for the table's callbacks: `"SP_Device.device_handle"`.
        receiver: Receiver,
        /// The struct's sizes, if releases differ: `"2.5..2.6 = 264, 2.7.. = 288"`.
        epochs: Epochs,
    }
}

facts! {
    /// The facts about a field.
    pub struct FieldFacts {
        /// The side that fills the field: `"core"` or `"plugin"`.
        filled_by: Side,
        /// The party that stores the value, if not the plugin: `"core"`, or `"reserved"` for a reserved field.
        writer: Writer,
        /// The direction of the value: `"in"`, `"out"` or `"inout"`.
        direction: Direction,
        /// `"required"` or `"optional"`.
        presence: Presence,
        /// The default return value of a callback without a status, after a panic: a Rust expression.
        default_return: TokenStream,
        /// The field's offset by the struct's size, if layouts differ: `"264 = 256, 288 = 280"`.
        offsets: FieldOffsets,
    }
}

/// The field that holds the object of a table's callbacks: [`sp_ir::Receiver`] with Rust names.
#[derive(Debug, Clone, PartialEq)]
pub struct Receiver {
    /// The struct that every callback receives.
    pub owner: Ident,
    /// The struct's free-form pointer.
    pub field: Ident,
}

fn parse_once<T: AttributeValue>(
    meta: &ParseNestedMeta<'_>,
    slot: &mut Option<T>,
) -> syn::Result<()> {
    if slot.is_some() {
        return Err(meta.error("this key is given twice"));
    }
    *slot = Some(T::parse(&meta.value()?.parse()?)?);
    Ok(())
}

/// Parses one of a list of keywords.
fn parse_keyword<T: Copy>(literal: &LitStr, words: &[(&str, T)]) -> syn::Result<T> {
    let found = words.iter().find(|(word, _)| *word == literal.value());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let message = format!("expected {}", words.join(" or "));
        syn::Error::new(literal.span(), message)
    })
}

macro_rules! keyword_values {
    ($Type:ident { $($word:literal => $variant:ident),+ $(,)? }) => {
        impl AttributeValue for $Type {
            fn parse(literal: &LitStr) -> syn::Result<Self> {
                parse_keyword(literal, &[$(($word, $Type::$variant)),+])
            }

            fn print(&self) -> String {
                [$(($Type::$variant, $word)),+]
                    .into_iter()
                    .find_map(|(value, word)| (value == *self).then(|| word.to_owned()))
                    .unwrap_or_default()
            }
        }
    };
}

keyword_values!(Side { "core" => Core, "plugin" => Plugin });
keyword_values!(Writer { "core" => Core, "plugin" => Plugin, "reserved" => Reserved });
keyword_values!(Direction { "in" => In, "out" => Out, "inout" => InOut });
keyword_values!(Presence { "required" => Required, "optional" => Optional, "unstated" => Unstated });

impl AttributeValue for String {
    fn parse(literal: &LitStr) -> syn::Result<Self> {
        Ok(literal.value())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

impl AttributeValue for Ident {
    fn parse(literal: &LitStr) -> syn::Result<Self> {
        parse_ident(&literal.value(), literal)
    }

    fn print(&self) -> String {
        c_name(self)
    }
}

/// Implements [`AttributeValue`] through `FromStr` and `Display`.
macro_rules! from_str_values {
    ($($Type:ident),+) => {$(
        impl AttributeValue for $Type {
            fn parse(literal: &LitStr) -> syn::Result<Self> {
                let parsed = literal.value().parse();
                parsed.map_err(|message: String| syn::Error::new(literal.span(), message))
            }

            fn print(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

from_str_values!(Epochs, FieldOffsets);

impl AttributeValue for Receiver {
    fn parse(literal: &LitStr) -> syn::Result<Self> {
        let text = literal.value();
        let Some((owner, field)) = text.split_once('.') else {
            let message = "expected `Struct.field`, such as `SP_Device.device_handle`";
            return Err(syn::Error::new(literal.span(), message));
        };
        Ok(Self {
            owner: parse_ident(owner, literal)?,
            field: parse_ident(field, literal)?,
        })
    }

    fn print(&self) -> String {
        format!("{}.{}", c_name(&self.owner), c_name(&self.field))
    }
}

/// A Rust expression.
impl AttributeValue for TokenStream {
    fn parse(literal: &LitStr) -> syn::Result<Self> {
        literal.parse::<Expr>().map(|it| it.to_token_stream())
    }

    fn print(&self) -> String {
        self.to_string().replace(" :: ", "::")
    }
}

/// Converts a C name to a Rust identifier with the span of `literal`.
fn parse_ident(name: &str, literal: &LitStr) -> syn::Result<Ident> {
    let starts = |c: char| c == '_' || c.is_ascii_alphabetic();
    let continues = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if !name.starts_with(starts) || !name.chars().all(continues) {
        let message = format!("expected a name, found `{name}`");
        return Err(syn::Error::new(literal.span(), message));
    }
    let mut found = ident(name);
    found.set_span(literal.span());
    Ok(found)
}

/// Returns the C name of a Rust identifier.
fn c_name(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn parse_error(attribute: Attribute) -> String {
        StructFacts::parse(&[attribute]).unwrap_err().to_string()
    }

    #[test]
    fn struct_facts_round_trip() {
        let attribute: Attribute = parse_quote!(#[abi(
            filled_by = "plugin",
            struct_size = "SP_DEVICE_STRUCT_SIZE",
            last = "type",
            author_trait = "StreamExecutor",
            receiver = "SP_Device.device_handle",
            epochs = "2.5..2.6 = 264, 2.7.. = 288"
        )]);
        let facts = StructFacts::parse(std::slice::from_ref(&attribute)).unwrap();
        assert_eq!(facts.last.as_ref().unwrap().to_string(), "r#type");
        assert_eq!(
            facts.to_tokens().to_string(),
            quote!(#attribute).to_string()
        );
    }

    #[test]
    fn field_facts_round_trip() {
        let attribute: Attribute = parse_quote!(#[abi(
            filled_by = "core",
            writer = "reserved",
            direction = "inout",
            presence = "optional",
            default_return = "SE_EventStatus::SE_EVENT_ERROR",
            offsets = "264 = 256, 288 = 280"
        )]);
        let facts = FieldFacts::parse(std::slice::from_ref(&attribute)).unwrap();
        assert_eq!(facts.presence, Some(Presence::Optional));
        assert_eq!(
            facts.to_tokens().to_string(),
            quote!(#attribute).to_string()
        );
    }

    #[test]
    fn prints_no_attribute_without_facts() {
        let facts = StructFacts::parse(&[parse_quote!(#[repr(C)])]).unwrap();
        assert!(facts.to_tokens().is_empty());
    }

    #[test]
    fn errors_state_expected_key_or_value() {
        let unknown = parse_error(parse_quote!(#[abi(fill = "core")]));
        assert!(unknown.contains("`filled_by`, `struct_size`"), "{unknown}");
        let twice = parse_error(parse_quote!(#[abi(last = "a", last = "b")]));
        assert_eq!(twice, "this key is given twice");
        let word = parse_error(parse_quote!(#[abi(filled_by = "host")]));
        assert_eq!(word, "expected `core` or `plugin`");
        let receiver = parse_error(parse_quote!(#[abi(receiver = "SP_Device")]));
        assert!(receiver.contains("Struct.field"), "{receiver}");
        let epochs = parse_error(parse_quote!(#[abi(epochs = "2.5 = 264")]));
        assert_eq!(epochs, "expected `2.5..2.6 = 264`, found `2.5 = 264`");
        let name = parse_error(parse_quote!(#[abi(last = "a b")]));
        assert_eq!(name, "expected a name, found `a b`");
        assert!(!parse_error(parse_quote!(#[abi(last)])).is_empty());
    }
}
