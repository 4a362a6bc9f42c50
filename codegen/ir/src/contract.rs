//! Facts that the C types do not carry, each with how we know it.

use crate::Loc;

/// A fact and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stated<T> {
    /// The fact.
    pub value: T,
    /// How we know it.
    pub evidence: Evidence,
    /// The value that a comment in the header states, if a note took precedence over the comment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub comment: Option<T>,
}

impl<T> Stated<T> {
    /// Creates a fact over which no other evidence was passed.
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

/// How a fact is known. Later variants take precedence over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Evidence {
    /// The naming convention that the API's notes state.
    Prefix,
    /// A comment in the header.
    Comment(Loc),
    /// An entry of the API's notes (`headers/apis/<api>.toml`), with what it rests on.
    Notes(String),
    /// A validation message in the release's libraries: `'FIELD' field in STRUCT must be set.`
    Library,
}

/// One of the two parties to a plugin's load.
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

/// Which party stores a field's value in the struct. It differs from who fills the field where a
/// pointer's struct is filled by one party and the pointer is set by the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Writer {
    /// TensorFlow.
    Core,
    /// The plugin.
    Plugin,
    /// Neither: the header reserves the field, so it stays null.
    Nobody,
}

impl From<Side> for Writer {
    fn from(side: Side) -> Self {
        match side {
            Side::Core => Self::Core,
            Side::Plugin => Self::Plugin,
        }
    }
}

/// Which way a value travels, seen from the callee.
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

/// Whether a field may be left empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Presence {
    /// The other side refuses or crashes where it is empty.
    Required,
    /// The other side copes.
    Optional,
    /// Nothing says.
    Unstated,
}

/// Whether ownership moves with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Transfer {
    /// It is lent.
    None,
    /// It is given away.
    Full,
}

/// How long a callback or pointer is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Scope {
    /// Until the call returns.
    Call,
    /// Beyond the call.
    Stored,
}

/// What tells layouts of a struct apart that its size does not tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Discriminator {
    /// Nothing in the process but the running release.
    Release,
}

/// Where a function table's callbacks find the object they act on: the parameter of type
/// `const owner*`, and in it the free-form pointer `field`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Receiver {
    /// The struct that every callback is handed: `SP_Device`.
    pub owner: String,
    /// Its field that is the plugin's own: `device_handle`.
    pub field: String,
}
