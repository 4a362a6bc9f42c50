//! C types, reduced to the properties that matter to an ABI.

use crate::{Direction, Scope, Stated, Transfer};

/// A C type. Only pointees have constness: there it states which side may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `void`.
    Void,
    /// A fixed-width integer; `int` is 32 bits on every target we know.
    Int {
        /// Width: 8, 16, 32 or 64.
        bits: u8,
        /// True for a signed integer.
        signed: bool,
    },
    /// `float` or `double`.
    Float {
        /// Width: 32 or 64.
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
        /// True for `intptr_t`.
        signed: bool,
    },
    /// A struct, union, enum, handle, alias or callback, by its name.
    Named(String),
    /// A data pointer.
    Pointer {
        /// The type that it points to.
        pointee: Box<Type>,
        /// True if the pointee is not `const`.
        mutable: bool,
    },
    /// A fixed-length array.
    Array {
        /// The element type.
        elem: Box<Type>,
        /// The number of elements.
        len: u64,
    },
    /// A pointer to a function. It may be null.
    Function(Box<Signature>),
}

impl Type {
    /// Returns an integer of `bits` bits.
    pub const fn int(bits: u8, signed: bool) -> Self {
        Self::Int { bits, signed }
    }

    /// Returns a pointer to `pointee`, which is `const` unless `mutable`.
    pub fn pointer(pointee: Self, mutable: bool) -> Self {
        let pointee = Box::new(pointee);
        Self::Pointer { pointee, mutable }
    }

    /// Returns an array of `len` elements.
    pub fn array(elem: Self, len: u64) -> Self {
        let elem = Box::new(elem);
        Self::Array { elem, len }
    }

    /// Returns the type's name in C, such as `int32_t` or an item's name, or `None` for a derived type.
    pub fn c_name(&self) -> Option<String> {
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

    /// Returns the name of the item that this type is, or to which it leads through pointers and arrays.
    pub fn named(&self) -> Option<&str> {
        match self {
            Type::Named(name) => Some(name),
            Type::Pointer { pointee, .. } => pointee.named(),
            Type::Array { elem, .. } => elem.named(),
            _ => None,
        }
    }

    /// Returns true for a pointer to the item `name`.
    pub fn points_to(&self, name: &str) -> bool {
        matches!(self, Type::Pointer { pointee, .. } if **pointee == Type::Named(name.into()))
    }
}

/// The visibility of a function's symbol, as its declaration states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// An attribute exports it, as `TF_CAPI_EXPORT` does.
    Exported,
    /// No attribute states it.
    Unmarked,
    /// An attribute or a pragma hides it.
    Hidden,
}

/// The parameters and return type of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Signature {
    /// The parameters in order.
    pub params: Vec<Param>,
    /// The return type.
    pub ret: Type,
    /// Ownership transfer of the returned value to the caller.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub ret_transfer: Option<Stated<Transfer>>,
    /// The calling convention as clang's attribute names it, such as `ms_abi`; `None` for that of C on the target.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub convention: Option<String>,
}

impl Signature {
    /// Returns a signature with the calling convention of C and no facts.
    pub fn new(params: Vec<Param>, ret: Type) -> Self {
        Self {
            params,
            ret,
            ret_transfer: None,
            convention: None,
        }
    }
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Param {
    /// The name in the header; empty if it has none.
    pub name: String,
    /// The C type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// The direction of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub direction: Option<Stated<Direction>>,
    /// Ownership transfer of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub transfer: Option<Stated<Transfer>>,
    /// The time for which the callee uses the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scope: Option<Stated<Scope>>,
}

impl Param {
    /// Returns a parameter without facts.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            direction: None,
            transfer: None,
            scope: None,
        }
    }
}
