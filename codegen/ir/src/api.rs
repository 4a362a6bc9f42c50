//! An API in one release. Items are sorted by name, so that equal APIs have equal bytes as JSON.

use std::collections::BTreeMap;

use crate::{Item, Layout, Struct};

/// The version of the JSON form. A reader rejects a newer one.
pub const SCHEMA: u32 = 4;

/// The items of an API by their C name.
pub type Items = BTreeMap<String, Item>;

/// Names that the API uses and another API declares, each with that other API.
pub type Imports = BTreeMap<String, String>;

/// Differences of other targets from the one that the items describe: triple to item to difference.
pub type Targets = BTreeMap<String, BTreeMap<String, TargetDifference>>;

/// The difference of an item on another target. Absent values are equal to the item's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct TargetDifference {
    /// Size and alignment of a struct or union.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub layout: Option<Layout>,
    /// Offsets of all fields of a struct, in order.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub offsets: Vec<u64>,
    /// Size of a struct in the `struct_size` protocol.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub struct_size: Option<u64>,
    /// Value of a constant.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub value: Option<i64>,
}

/// The declarations of one C API in one release of TensorFlow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Api {
    /// [`SCHEMA`], also if the snapshot was read from an earlier one.
    pub schema: u32,
    /// The API's name, which is that of its notes file: `stream_executor`.
    pub name: String,
    /// The TensorFlow minor release, such as `2.21`, or the whole version of a nightly build.
    pub release: String,
    /// The exact version if it is not a final release: `2.22.0rc0`. In JSON `preview` is `true` and
    /// `exact` is the version.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub preview: Option<String>,
    /// The version in the API's version macros, such as `0.0.1`, if it has such macros.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub version: Option<String>,
    /// The declarations of the API's own headers.
    pub items: Items,
    /// The names that the items use and another API declares.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "BTreeMap::is_empty")
    )]
    pub imports: Imports,
    /// The differences of targets other than x86_64-unknown-linux-gnu.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "BTreeMap::is_empty")
    )]
    pub targets: Targets,
}

impl Api {
    /// Returns an API of a final release, without a version, imports and differences of targets.
    pub fn new(name: impl Into<String>, release: impl Into<String>, items: Items) -> Self {
        Self {
            schema: SCHEMA,
            name: name.into(),
            release: release.into(),
            preview: None,
            version: None,
            items,
            imports: Imports::new(),
            targets: Targets::new(),
        }
    }

    /// Returns the release for reports: `2.21`, or `2.22.0rc0 (preview)`.
    pub fn release_name(&self) -> String {
        match &self.preview {
            Some(exact) => format!("{exact} (preview)"),
            None => self.release.clone(),
        }
    }

    /// Returns the struct `name`, or `None` if this API declares no struct of that name.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.items.get(name)?.as_struct()
    }
}

/// A position in a header. In JSON it is text, `header:line`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Loc {
    /// Path of the header below the include root, such as `tensorflow/c/kernels.h`.
    pub file: String,
    /// Line number, counted from 1.
    pub line: u32,
}

impl Loc {
    /// Returns the position of `line` in `file`.
    pub fn new(file: impl Into<String>, line: u32) -> Self {
        let file = file.into();
        Self { file, line }
    }
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
        let position = parts.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) =
            position.ok_or_else(|| format!("invalid position `{text}`: expected `HEADER:LINE`"))?;
        Ok(Self::new(file, line))
    }
}
