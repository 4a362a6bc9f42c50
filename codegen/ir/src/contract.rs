//! Facts that the C types do not express, each with its evidence.

use crate::Loc;

/// A fact and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stated<T> {
    /// The fact.
    pub value: T,
    /// The evidence of the fact.
    pub evidence: Evidence,
    /// The value that a comment in the header states, if a note took precedence over the comment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub comment: Option<T>,
}

impl<T> Stated<T> {
    /// Creates a fact that took precedence over no other evidence.
    pub fn new(value: T, evidence: Evidence) -> Self {
        Self {
            value,
            evidence,
            comment: None,
        }
    }

    /// Returns the value that a comment in the header states, or `None` if no comment states one.
    pub fn comment_value(&self) -> Option<&T> {
        match self.evidence {
            Evidence::Comment(_) => Some(&self.value),
            Evidence::Prefix | Evidence::Notes(_) | Evidence::Library => self.comment.as_ref(),
        }
    }
}

/// The evidence of a fact. Later variants take precedence over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Evidence {
    /// The naming convention that the API's notes state.
    Prefix,
    /// A comment in the header.
    Comment(Loc),
    /// An entry of the API's notes (`headers/apis/<api>.toml`), with the source that the entry states.
    Notes(String),
    /// A validation message in the release's libraries: `'FIELD' field in STRUCT must be set.`
    Library,
}

/// One of the two sides of the ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Side {
    /// TensorFlow.
    Core,
    /// The plugin.
    Plugin,
}

impl Side {
    /// Returns the other side.
    pub fn other(self) -> Self {
        match self {
            Self::Core => Self::Plugin,
            Self::Plugin => Self::Core,
        }
    }
}

/// The party that stores a field's value in the struct. It may differ from the side that fills the field:
/// one side sets a pointer, the other fills the struct behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Writer {
    /// TensorFlow.
    Core,
    /// The plugin.
    Plugin,
    /// No party: the header reserves the field, so it stays null.
    Reserved,
}

impl From<Side> for Writer {
    fn from(side: Side) -> Self {
        match side {
            Side::Core => Self::Core,
            Side::Plugin => Self::Plugin,
        }
    }
}

/// The direction of a value, from the callee's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Direction {
    /// The caller fills it, the callee reads it.
    In,
    /// The callee fills it.
    Out,
    /// The caller fills it, the callee reads and changes it.
    InOut,
}

/// The presence of a field: whether a null value is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Presence {
    /// The other side rejects a null value, or crashes.
    Required,
    /// The other side accepts a null value.
    Optional,
    /// No source states it.
    Unstated,
}

/// Ownership transfer of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Transfer {
    /// The value is borrowed.
    None,
    /// Ownership moves to the receiver of the value.
    Full,
}

/// The time for which the callee uses a callback or pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Scope {
    /// Until the call returns.
    Call,
    /// Beyond the call.
    Stored,
}

/// The property that distinguishes layouts of a struct that have the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Discriminator {
    /// Only the running release distinguishes the layouts.
    Release,
}

/// The field in which a function table's callbacks find the plugin's object: the free-form pointer `field`
/// of their parameter of type `const owner*`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Receiver {
    /// The struct that every callback receives, such as `SP_Device`.
    pub owner: String,
    /// The struct's field that belongs to the plugin, such as `device_handle`.
    pub field: String,
}
