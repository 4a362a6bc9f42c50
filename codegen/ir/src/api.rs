//! One API at one release. Items are sorted by name, so that equal APIs print equal bytes.

use std::collections::BTreeMap;

use crate::{Item, Layout, Struct};

/// The version of the JSON form. A reader refuses a newer one.
pub const SCHEMA: u32 = 3;

/// The items of an API by their C name.
pub type Items = BTreeMap<String, Item>;

/// Names that an API uses and another declares: name to the API that has it.
pub type Imports = BTreeMap<String, String>;

/// What a target has otherwise than the one that the items describe: triple to item to difference.
pub type Targets = BTreeMap<String, BTreeMap<String, Differs>>;

/// How one item comes out on another target. What is absent is as the item says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Differs {
    /// Of a struct or union: size and alignment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub layout: Option<Layout>,
    /// Of a struct: where all of its fields start, in order.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub offsets: Vec<u64>,
    /// Of a struct: the `struct_size` protocol's size.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub struct_size: Option<u64>,
    /// Of a constant: its value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub value: Option<i64>,
}

/// What one release of TensorFlow declares in one C API.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Api {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// The API's name, as its notes file has it: `stream_executor`.
    pub name: String,
    /// The TensorFlow minor release: `2.21`; the whole version of a nightly build.
    pub release: String,
    /// The exact version if it is not a final release: `2.22.0rc0`. In JSON `preview` is `true` and
    /// `exact` is the version.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub preview: Option<String>,
    /// The API's own version macros, where it has them: `0.0.1`.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub version: Option<String>,
    /// What the API's own headers declare.
    pub items: Items,
    /// What the items use and another API declares.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "BTreeMap::is_empty")
    )]
    pub imports: Imports,
    /// What differs on targets other than x86_64-unknown-linux-gnu.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "BTreeMap::is_empty")
    )]
    pub targets: Targets,
}

impl Api {
    /// Returns the release as pages name it: `2.21`, or `2.22.0rc0 (preview)`.
    pub fn release_name(&self) -> String {
        match &self.preview {
            Some(exact) => format!("{exact} (preview)"),
            None => self.release.clone(),
        }
    }

    /// The struct called `name`, if this API declares one.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        match self.items.get(name) {
            Some(Item::Struct(found)) => Some(found),
            _ => None,
        }
    }
}

/// A place in a header, relative to the include root. In JSON it is text, `header:line`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Loc {
    /// The header: `tensorflow/c/kernels.h`.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl From<Loc> for String {
    fn from(loc: Loc) -> Self {
        format!("{}:{}", loc.file, loc.line)
    }
}

impl TryFrom<String> for Loc {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.rsplit_once(':');
        let place = parts.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) = place.ok_or_else(|| format!("`{text}` is no place in a header"))?;
        Ok(Self {
            file: file.into(),
            line,
        })
    }
}
