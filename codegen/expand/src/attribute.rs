//! The `#[abi(..)]` grammar: printer and parser of the facts that a generated struct carries.
//!
//! Each key stands once, in the two `facts!` tables below; its value is a string whose form the
//! [`Word`] of its type knows. Only what is stated is printed.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use sp_ir::{Direction, Presence, Side, Stated, Struct, Writer};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, LitStr};

use crate::layout::{Epochs, Places};
use crate::ty::ident;

/// A value's form inside the quotes.
trait Word: Sized {
    fn read(literal: &LitStr) -> syn::Result<Self>;
    fn write(&self) -> String;
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

            /// Reads every `#[abi(..)]` among `attributes`; others are left alone.
            ///
            /// # Errors
            /// At the key or value: an unknown key, a key given twice, a value of another form.
            pub fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
                let mut facts = Self::default();
                for attribute in attributes.iter().filter(|a| a.path().is_ident("abi")) {
                    attribute.parse_nested_meta(|meta| facts.read(&meta))?;
                }
                Ok(facts)
            }

            fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
                $( if meta.path.is_ident(stringify!($key)) {
                    return read_once(meta, &mut self.$key);
                } )+
                let keys = Self::KEYS.join("`, `");
                Err(meta.error(format!("unknown key; the keys here are `{keys}`")))
            }

            /// The attribute that states these facts; nothing where there are none.
            pub fn to_tokens(&self) -> TokenStream {
                let mut stated = Vec::new();
                $( if let Some(value) = &self.$key {
                    let text = value.write();
                    stated.push(quote!($key = #text));
                } )+
                if stated.is_empty() { TokenStream::new() } else { quote!(#[abi(#(#stated),*)]) }
            }
        }
    };
}

facts! {
    /// What is stated of a struct.
    pub struct StructFacts {
        /// Which side fills it: `"core"` or `"plugin"`.
        filled_by: Side,
        /// The C name of its `struct_size` constant.
        struct_size: String,
        /// The last field that `struct_size` covers.
        last: Ident,
        /// The trait that an author implements to fill this table.
        author_trait: Ident,
        /// Where the table's callbacks find the author's object: `"SP_Device.device_handle"`.
        receiver: Receiver,
        /// Its sizes, where releases differ: `"2.5..2.6 = 264, 2.7.. = 288"`.
        epochs: Epochs,
    }
}

facts! {
    /// What is stated of a field.
    pub struct FieldFacts {
        /// Which side fills it: `"core"` or `"plugin"`.
        filled_by: Side,
        /// Which party stores its value, if not the plugin: `"core"`, or `"nobody"` for a reserved field.
        writer: Writer,
        /// Which way it travels: `"in"`, `"out"` or `"inout"`.
        direction: Direction,
        /// `"required"` or `"optional"`.
        presence: Presence,
        /// What a callback without a status returns after a panic: a Rust expression.
        neutral: TokenStream,
        /// Its offset by the struct's size, where layouts differ: `"264 = 256, 288 = 280"`.
        at: Places,
    }
}

/// Where a table's callbacks find the object they act on; the Rust names of [`sp_ir::Receiver`].
#[derive(Debug, Clone, PartialEq)]
pub struct Receiver {
    /// The struct that every callback is handed.
    pub owner: Ident,
    /// Its free-form pointer.
    pub field: Ident,
}

impl StructFacts {
    /// The facts that the IR has of `item`.
    pub fn of(item: &Struct) -> Self {
        Self {
            filled_by: value(&item.filled_by),
            struct_size: item.struct_size.as_ref().map(|it| it.symbol.clone()),
            last: item.struct_size.as_ref().map(|it| ident(&it.last_field)),
            author_trait: item.author_trait.as_ref().map(|it| ident(&it.value)),
            receiver: item.receiver.as_ref().map(|it| Receiver {
                owner: ident(&it.value.owner),
                field: ident(&it.value.field),
            }),
            epochs: None,
        }
    }
}

impl FieldFacts {
    /// The facts that the IR has of `field`.
    ///
    /// # Errors
    /// Where `neutral` is not a Rust expression.
    pub fn of(field: &sp_ir::Field) -> syn::Result<Self> {
        let neutral = field
            .neutral
            .as_ref()
            .map(|it| syn::parse_str::<Expr>(&it.value));
        Ok(Self {
            filled_by: value(&field.filled_by),
            writer: None,
            direction: value(&field.direction),
            presence: value(&field.presence).filter(|it| *it != Presence::Unstated),
            neutral: neutral.transpose()?.map(|it| it.to_token_stream()),
            at: None,
        })
    }
}

fn value<T: Copy>(stated: &Option<Stated<T>>) -> Option<T> {
    stated.as_ref().map(|it| it.value)
}

fn read_once<T: Word>(meta: &ParseNestedMeta<'_>, slot: &mut Option<T>) -> syn::Result<()> {
    if slot.is_some() {
        return Err(meta.error("this key is given twice"));
    }
    *slot = Some(T::read(&meta.value()?.parse()?)?);
    Ok(())
}

/// One of a closed list of words.
fn choose<T: Copy>(literal: &LitStr, words: &[(&str, T)]) -> syn::Result<T> {
    let found = words.iter().find(|(word, _)| *word == literal.value());
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let message = format!("expected {}", words.join(" or "));
        syn::Error::new(literal.span(), message)
    })
}

macro_rules! words {
    ($Type:ident { $($word:literal => $variant:ident),+ $(,)? }) => {
        impl Word for $Type {
            fn read(literal: &LitStr) -> syn::Result<Self> {
                choose(literal, &[$(($word, $Type::$variant)),+])
            }

            fn write(&self) -> String {
                [$(($Type::$variant, $word)),+]
                    .into_iter()
                    .find_map(|(value, word)| (value == *self).then(|| word.to_owned()))
                    .unwrap_or_default()
            }
        }
    };
}

words!(Side { "core" => Core, "plugin" => Plugin });
words!(Writer { "core" => Core, "plugin" => Plugin, "nobody" => Nobody });
words!(Direction { "in" => In, "out" => Out, "inout" => InOut });
words!(Presence { "required" => Required, "optional" => Optional, "unstated" => Unstated });

impl Word for String {
    fn read(literal: &LitStr) -> syn::Result<Self> {
        Ok(literal.value())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

impl Word for Ident {
    fn read(literal: &LitStr) -> syn::Result<Self> {
        read_ident(&literal.value(), literal)
    }

    fn write(&self) -> String {
        plain(self)
    }
}

/// A value that reads and writes itself.
macro_rules! words_of_their_own {
    ($($Type:ident),+) => {$(
        impl Word for $Type {
            fn read(literal: &LitStr) -> syn::Result<Self> {
                let read = literal.value().parse();
                read.map_err(|message: String| syn::Error::new(literal.span(), message))
            }

            fn write(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

words_of_their_own!(Epochs, Places);

impl Word for Receiver {
    fn read(literal: &LitStr) -> syn::Result<Self> {
        let text = literal.value();
        let Some((owner, field)) = text.split_once('.') else {
            let message = "expected `Struct.field`, such as `SP_Device.device_handle`";
            return Err(syn::Error::new(literal.span(), message));
        };
        Ok(Self {
            owner: read_ident(owner, literal)?,
            field: read_ident(field, literal)?,
        })
    }

    fn write(&self) -> String {
        format!("{}.{}", plain(&self.owner), plain(&self.field))
    }
}

/// A Rust expression.
impl Word for TokenStream {
    fn read(literal: &LitStr) -> syn::Result<Self> {
        literal.parse::<Expr>().map(|it| it.to_token_stream())
    }

    fn write(&self) -> String {
        self.to_string().replace(" :: ", "::")
    }
}

/// A C name as a Rust one, at the place of the literal that has it.
fn read_ident(name: &str, literal: &LitStr) -> syn::Result<Ident> {
    let starts = |c: char| c == '_' || c.is_ascii_alphabetic();
    let goes_on = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if !name.starts_with(starts) || !name.chars().all(goes_on) {
        let message = format!("expected a name, found `{name}`");
        return Err(syn::Error::new(literal.span(), message));
    }
    let mut found = ident(name);
    found.set_span(literal.span());
    Ok(found)
}

/// The C name of a Rust name.
fn plain(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn error_of(attribute: Attribute) -> String {
        StructFacts::parse(&[attribute]).unwrap_err().to_string()
    }

    #[test]
    fn struct_facts_read_what_they_print() {
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
    fn field_facts_read_what_they_print() {
        let attribute: Attribute = parse_quote!(#[abi(
            filled_by = "core",
            writer = "nobody",
            direction = "inout",
            presence = "optional",
            neutral = "SE_EventStatus::SE_EVENT_ERROR",
            at = "264 = 256, 288 = 280"
        )]);
        let facts = FieldFacts::parse(std::slice::from_ref(&attribute)).unwrap();
        assert_eq!(facts.presence, Some(Presence::Optional));
        assert_eq!(
            facts.to_tokens().to_string(),
            quote!(#attribute).to_string()
        );
    }

    #[test]
    fn nothing_stated_prints_nothing() {
        let facts = StructFacts::parse(&[parse_quote!(#[repr(C)])]).unwrap();
        assert!(facts.to_tokens().is_empty());
    }

    #[test]
    fn errors_say_what_is_wanted() {
        let unknown = error_of(parse_quote!(#[abi(fill = "core")]));
        assert!(unknown.contains("`filled_by`, `struct_size`"), "{unknown}");
        let twice = error_of(parse_quote!(#[abi(last = "a", last = "b")]));
        assert_eq!(twice, "this key is given twice");
        let word = error_of(parse_quote!(#[abi(filled_by = "host")]));
        assert_eq!(word, "expected `core` or `plugin`");
        let receiver = error_of(parse_quote!(#[abi(receiver = "SP_Device")]));
        assert!(receiver.contains("Struct.field"), "{receiver}");
        let epochs = error_of(parse_quote!(#[abi(epochs = "2.5 = 264")]));
        assert_eq!(epochs, "expected `2.5..2.6 = 264`, found `2.5 = 264`");
        let name = error_of(parse_quote!(#[abi(last = "a b")]));
        assert_eq!(name, "expected a name, found `a b`");
        assert!(!error_of(parse_quote!(#[abi(last)])).is_empty());
    }
}
