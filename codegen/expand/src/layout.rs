//! Where a struct's fields lie in each of its layouts, as text that stands in an attribute:
//! `epochs = "2.5..2.6 = 264, 2.7.. = 288"` of the struct, `at = "264 = 256, 288 = 280"` of a field.
//! A layout is told by its `struct_size`, so no two of a struct have the same.

use std::fmt;
use std::str::FromStr;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// A minor release, `(2, 21)`.
pub type Minor = (u32, u32);

/// A run of releases, `2.5..2.6`, or `2.7..` where it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub first: Minor,
    /// The last, if it has ended.
    pub last: Option<Minor>,
}

impl Span {
    /// As a `Releases` of sp-runtime, which is reached through `root`.
    pub fn print(self, root: &TokenStream) -> TokenStream {
        let release = |(major, minor): Minor| {
            let [major, minor] = [major, minor].map(Literal::u32_unsuffixed);
            quote!(#root::Release::new(#major, #minor))
        };
        let first = release(self.first);
        match self.last.map(release) {
            Some(last) => quote!(#root::Releases::between(#first, #last)),
            None => quote!(#root::Releases::from(#first)),
        }
    }
}

/// A layout that a struct had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The releases that have it; the newest layout's go on.
    pub releases: Span,
    /// Its `struct_size`.
    pub size: u64,
}

/// The layouts of a struct, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epochs(pub Vec<Epoch>);

/// A field's offset by the struct's size; a layout that is not here lacks the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places(pub Vec<(u64, u64)>);

impl Places {
    /// The offset in the layout of this size.
    pub fn of(&self, size: u64) -> Option<u64> {
        let mut places = self.0.iter();
        places.find(|place| place.0 == size).map(|place| place.1)
    }
}

impl fmt::Display for Epochs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.releases, self.size)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}..", self.first.0, self.first.1)?;
        match self.last {
            Some((major, minor)) => write!(f, "{major}.{minor}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_span(text).ok_or_else(|| format!("expected `2.5..2.6` or `2.7..`, found `{text}`"))
    }
}

fn read_span(text: &str) -> Option<Span> {
    let (first, last) = text.split_once("..")?;
    let last = match last {
        "" => None,
        last => Some(read_minor(last)?),
    };
    Some(Span {
        first: read_minor(first)?,
        last,
    })
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<_> = self
            .0
            .iter()
            .map(|it| format!("{} = {}", it.0, it.1))
            .collect();
        write_list(f, &places)
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, list: &[impl ToString]) -> fmt::Result {
    let words: Vec<_> = list.iter().map(ToString::to_string).collect();
    f.write_str(&words.join(", "))
}

impl FromStr for Epochs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_list(text, "2.5..2.6 = 264", |releases, size| {
            let releases = read_span(releases)?;
            Some(Epoch { releases, size })
        })
        .map(Self)
    }
}

impl FromStr for Places {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_list(text, "264 = 256", |size, offset| {
            Some((size.parse().ok()?, offset))
        })
        .map(Self)
    }
}

/// `key = number, key = number`; `form` is what an error asks for.
fn read_list<T>(
    text: &str,
    form: &str,
    read: impl Fn(&str, u64) -> Option<T>,
) -> Result<Vec<T>, String> {
    let read = |part: &str| {
        let (key, number) = part.split_once('=')?;
        read(key.trim(), number.trim().parse().ok()?)
    };
    let parts = text.split(',').map(str::trim);
    parts
        .map(|part| read(part).ok_or_else(|| format!("expected `{form}`, found `{part}`")))
        .collect()
}

pub(crate) fn read_minor(text: &str) -> Option<Minor> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
