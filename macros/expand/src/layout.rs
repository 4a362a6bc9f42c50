//! The layouts of a struct over the releases, as text in an attribute:
//! `epochs = "2.5..2.6 = 264, 2.7.. = 288"` on the struct, `offsets = "264 = 256, 288 = 280"` on a field.
//! The `struct_size` identifies a layout, so no two layouts of a struct have the same size.

use std::fmt;
use std::str::FromStr;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// A minor release, `(2, 21)`.
pub type Minor = (u32, u32);

/// A run of releases: `2.5..2.6`, or `2.7..` if it is open-ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseSpan {
    /// The first release.
    pub first: Minor,
    /// The last release, or `None` if the run is open-ended.
    pub last: Option<Minor>,
}

impl ReleaseSpan {
    /// Prints the run as a `Releases` of sp-runtime; `root` is the path of the crate that exports it.
    pub fn to_tokens(self, root: &TokenStream) -> TokenStream {
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

/// A layout version of a struct: a run of releases with one layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The releases that have the layout; those of the newest layout are open-ended.
    pub releases: ReleaseSpan,
    /// The layout's `struct_size`.
    pub size: u64,
}

/// The layouts of a struct, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epochs(pub Vec<Epoch>);

/// A field's offset by the struct's size. A layout without an entry lacks the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOffsets(pub Vec<(u64, u64)>);

impl FieldOffsets {
    /// Returns the offset in the layout of this size, or `None` if that layout lacks the field.
    pub fn offset_in(&self, size: u64) -> Option<u64> {
        let mut offsets = self.0.iter();
        offsets
            .find(|(known, _)| *known == size)
            .map(|(_, offset)| *offset)
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

impl fmt::Display for ReleaseSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}..", self.first.0, self.first.1)?;
        match self.last {
            Some((major, minor)) => write!(f, "{major}.{minor}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ReleaseSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_span(text).ok_or_else(|| format!("expected `2.5..2.6` or `2.7..`, found `{text}`"))
    }
}

fn parse_span(text: &str) -> Option<ReleaseSpan> {
    let (first, last) = text.split_once("..")?;
    let last = match last {
        "" => None,
        last => Some(parse_minor(last)?),
    };
    Some(ReleaseSpan {
        first: parse_minor(first)?,
        last,
    })
}

impl fmt::Display for FieldOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<_> = self
            .0
            .iter()
            .map(|it| format!("{} = {}", it.0, it.1))
            .collect();
        write_list(f, &entries)
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, list: &[impl ToString]) -> fmt::Result {
    let words: Vec<_> = list.iter().map(ToString::to_string).collect();
    f.write_str(&words.join(", "))
}

impl FromStr for Epochs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_list(text, "2.5..2.6 = 264", |releases, size| {
            let releases = parse_span(releases)?;
            Some(Epoch { releases, size })
        })
        .map(Self)
    }
}

impl FromStr for FieldOffsets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_list(text, "264 = 256", |size, offset| {
            Some((size.parse().ok()?, offset))
        })
        .map(Self)
    }
}

/// Parses `key = number, key = number`; `form` is an example for error messages.
fn parse_list<T>(
    text: &str,
    form: &str,
    parse: impl Fn(&str, u64) -> Option<T>,
) -> Result<Vec<T>, String> {
    let parse_part = |part: &str| {
        let (key, number) = part.split_once('=')?;
        parse(key.trim(), number.trim().parse().ok()?)
    };
    let parts = text.split(',').map(str::trim);
    parts
        .map(|part| parse_part(part).ok_or_else(|| format!("expected `{form}`, found `{part}`")))
        .collect()
}

pub(crate) fn parse_minor(text: &str) -> Option<Minor> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
