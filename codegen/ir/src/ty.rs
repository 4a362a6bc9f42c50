//! C types, reduced to what an ABI is made of.

use crate::{Direction, Scope, Stated, Transfer};

/// A C type. Constness is kept only on pointees, where it says who may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `void`.
    Void,
    /// A fixed-width integer; `int` is 32 bits on every target we know.
    Int {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// `float` or `double`.
    Float {
        /// 32 or 64.
        bits: u8,
    },
    /// C++ `bool` or C `_Bool`.
    Bool,
    /// `char`, whose signedness the target chooses.
    Char,
    /// `size_t`.
    Size,
    /// `intptr_t` or `uintptr_t`: an integer as wide as the target's pointers.
    Address {
        /// Whether it is signed.
        signed: bool,
    },
    /// A struct, union, enum, handle, alias or callback, by its name.
    Named(String),
    /// A data pointer.
    Pointer {
        /// What it points to.
        pointee: Box<Type>,
        /// Whether the pointee may be written through it.
        mutable: bool,
    },
    /// A fixed-length array.
    Array {
        /// The element.
        elem: Box<Type>,
        /// How many.
        len: u64,
    },
    /// A pointer to a function. It may be null.
    Function(Box<Signature>),
}

impl Type {
    /// What C calls it, where that is one word: `int32_t`, or an item's name.
    pub fn word(&self) -> Option<String> {
        Some(match self {
            Type::Void => "void".into(),
            Type::Int { bits, signed: true } => format!("int{bits}_t"),
            Type::Int { bits, .. } => format!("uint{bits}_t"),
            Type::Float { bits: 32 } => "float".into(),
            Type::Float { bits: 64 } => "double".into(),
            Type::Float { bits } => format!("_Float{bits}"),
            Type::Bool => "bool".into(),
            Type::Char => "char".into(),
            Type::Size => "size_t".into(),
            Type::Address { signed: true } => "intptr_t".into(),
            Type::Address { signed: false } => "uintptr_t".into(),
            Type::Named(name) => name.clone(),
            Type::Pointer { .. } | Type::Array { .. } | Type::Function(_) => return None,
        })
    }

    /// The name of the item this is, or points to through any number of pointers.
    pub fn named(&self) -> Option<&str> {
        match self {
            Type::Named(name) => Some(name),
            Type::Pointer { pointee, .. } => pointee.named(),
            Type::Array { elem, .. } => elem.named(),
            _ => None,
        }
    }

    /// Whether this is a pointer to the item called `name`.
    pub fn points_to(&self, name: &str) -> bool {
        matches!(self, Type::Pointer { pointee, .. } if **pointee == Type::Named(name.into()))
    }
}

/// What a call passes and returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Signature {
    /// The parameters in order.
    pub params: Vec<Param>,
    /// What comes back.
    pub ret: Type,
    /// Whether ownership of what comes back moves to the caller.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub ret_transfer: Option<Stated<Transfer>>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Param {
    /// The header's name; empty where it gives none.
    pub name: String,
    /// The C type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// Which way it travels.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub direction: Option<Stated<Direction>>,
    /// Whether ownership moves with it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub transfer: Option<Stated<Transfer>>,
    /// How long the callee keeps it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub scope: Option<Stated<Scope>>,
}
