//! The roles of parameters, and their syntax.

use sp_ir::{Param, Type};

/// The role of a parameter in a safe method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A number or an enumerator.
    Value,
    /// A handle of the owned type with this name.
    Handle(String),
    /// An address of the device, which is no address of the process: a pointer, or an integer as wide as one.
    Address,
    /// Always null.
    Null,
    /// A value of this type that the function writes.
    Out(Type),
    /// A value of the owned type with this name, which the function creates.
    New(String),
    /// A value that the function reads.
    In(Type),
    /// A value that the function reads and changes.
    InOut(Type),
    /// A value that the function reads, or null.
    Optional(Type),
    /// A C string that the function reads.
    CString,
    /// A C string that the function writes. The parameter with this index is its capacity.
    Text(usize),
    /// Elements that the function reads. The parameter with this index is their number.
    Slice(Type, usize),
    /// Host memory that a queue reads later. The parameter with this index is its length.
    Source(usize),
    /// Host memory that a queue writes later. The parameter with this index is its length.
    Target(usize),
    /// A function that is called once, later. The parameter with this index is its argument.
    Function(usize),
    /// The length of a `Target`.
    Length,
    /// Follows from another parameter.
    Implied,
}

/// The first words of roles.
pub const WORDS: [&str; 13] = [
    "address", "null", "out", "new", "in", "inout", "optional", "string", "text", "slice",
    "source", "target", "function",
];

impl Role {
    /// Parses the role of a parameter.
    ///
    /// # Errors
    /// Returns the reason if the text is no role, or the parameter is no such pointer. `Contract::check` checks the types
    /// that the header declares.
    pub fn parse(text: &str, param: &Param, params: &[Param]) -> Result<Self, String> {
        let (word, operand) = text.split_once(' ').unwrap_or((text, ""));
        let other = || {
            let found = params.iter().position(|it| it.name == operand);
            found.ok_or_else(|| format!("has no parameter `{operand}`"))
        };
        let pointee = |wants_mutable| pointee(&param.ty, wants_mutable);
        Ok(match (word, operand) {
            ("address", "") => Self::Address,
            ("null", "") => pointee(None).map(|_| Self::Null)?,
            ("out", "") => Self::Out(pointee(Some(true))?),
            ("new", "") => Self::New(created(&pointee(Some(true))?)?),
            ("new", name) => pointee(Some(true)).map(|_| Self::New(name.to_owned()))?,
            ("in", "") => Self::In(pointee(Some(false))?),
            ("inout", "") => Self::InOut(pointee(Some(true))?),
            ("optional", "") => Self::Optional(pointee(Some(false))?),
            ("string", "") if pointee(Some(false))? == Type::Char => Self::CString,
            ("text", _) if pointee(Some(true))? == Type::Char => Self::Text(other()?),
            ("slice", _) => Self::Slice(pointee(Some(false))?, other()?),
            ("source", _) => pointee(Some(false)).and_then(|_| other().map(Self::Source))?,
            ("target", _) => pointee(Some(true)).and_then(|_| other().map(Self::Target))?,
            ("function", _) => Self::Function(other()?),
            ("string" | "text", _) => return Err("is no pointer to characters".to_owned()),
            _ => return Err(format!("has no role `{text}`")),
        })
    }

    /// Returns the index of the parameter that follows from this one, and its role.
    pub fn companion(&self) -> Option<(usize, Self)> {
        match self {
            Self::Text(index)
            | Self::Slice(_, index)
            | Self::Source(index)
            | Self::Function(index) => Some((*index, Self::Implied)),
            Self::Target(index) => Some((*index, Self::Length)),
            _ => None,
        }
    }
}

/// Returns the name of a created value's type: of a handle, or of the struct that it points to.
fn created(ty: &Type) -> Result<String, String> {
    let ty = match ty {
        Type::Pointer { pointee, .. } => pointee,
        other => other,
    };
    match ty {
        Type::Named(name) => Ok(name.clone()),
        _ => Err("is no pointer to a handle: write `new NAME`".to_owned()),
    }
}

fn pointee(ty: &Type, wants_mutable: Option<bool>) -> Result<Type, String> {
    match ty {
        Type::Pointer { pointee, mutable } if wants_mutable.is_none_or(|it| it == *mutable) => {
            Ok((**pointee).clone())
        }
        Type::Pointer { mutable: true, .. } => {
            Err("is a pointer to a value that is not const: expected `out`, `inout`, `new`, `text`, `target`, `address` or `null`".to_owned())
        }
        Type::Pointer { .. } => Err("is a pointer to a const value: expected `in`, `optional`, `string`, `slice`, `source`, `address` or `null`".to_owned()),
        _ => Err("is no pointer".to_owned()),
    }
}
