//! The C signatures of the functions in this module, read off their Rust types, for the test that
//! compares them with every release's headers.

use std::ffi::c_void;
use std::fmt;

use super::argument::{Arg, List, Out, Text};
use super::buffer::Fields;
use super::compute::AllocatorAttributes;
use super::construction::StringView;
use super::serialized::InputRange;
use crate::objects::Object;

/// A C type, as far as a call passes it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum CType {
    Void,
    Int { bits: usize, signed: bool },
    Float { bits: usize },
    Pointer(Box<CType>),
    Opaque(String),
    Struct { name: String, size: usize },
    Function(Box<CSignature>),
}

/// Parameters and result of a C function.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CSignature {
    pub parameters: Vec<CType>,
    pub result: CType,
}

/// A function that the host defines.
pub(crate) struct CFunction {
    pub name: &'static str,
    pub signature: CSignature,
}

impl CType {
    pub fn pointer(pointee: Self) -> Self {
        Self::Pointer(Box::new(pointee))
    }

    fn is_byte(&self) -> bool {
        matches!(self, Self::Int { bits: 8, .. })
    }

    /// Returns true if a caller that passes `declared` and a callee that takes `self` agree. A pointer to
    /// `void` agrees with every pointer, and bytes agree with each other.
    pub fn accepts(&self, declared: &Self) -> bool {
        match (self, declared) {
            (Self::Pointer(own), Self::Pointer(other)) => {
                **own == Self::Void
                    || **other == Self::Void
                    || own.is_byte() && other.is_byte()
                    || own.accepts(other)
            }
            (Self::Function(own), Self::Function(other)) => own.accepts(other),
            // An object of the host's own has more fields than the struct that plugins see.
            (Self::Opaque(own), Self::Struct { name, .. }) => own == name,
            _ => self == declared,
        }
    }
}

impl CSignature {
    /// Returns true if the parameters and results agree, each with its counterpart.
    pub fn accepts(&self, declared: &Self) -> bool {
        let pairs = || self.parameters.iter().zip(&declared.parameters);
        self.parameters.len() == declared.parameters.len()
            && pairs().all(|(own, other)| own.accepts(other))
            && self.result.accepts(&declared.result)
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Int { bits, signed: true } => write!(f, "int{bits}"),
            Self::Int { bits, .. } => write!(f, "uint{bits}"),
            Self::Float { bits } => write!(f, "float{bits}"),
            Self::Pointer(pointee) => write!(f, "{pointee}*"),
            Self::Opaque(name) => f.write_str(name),
            Self::Struct { name, size } => write!(f, "{name}[{size}]"),
            Self::Function(signature) => write!(f, "({signature})"),
        }
    }
}

impl fmt::Display for CSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> = self.parameters.iter().map(CType::to_string).collect();
        write!(f, "{}({})", self.result, parameters.join(", "))
    }
}

/// A Rust type that stands for a C type in a signature or behind a pointer.
pub(crate) trait ForeignType {
    fn c_type() -> CType;
}

macro_rules! integers {
    ($($ty:ty: $signed:literal)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CType {
            CType::Int { bits: 8 * size_of::<$ty>(), signed: $signed }
        }
    })* };
}

integers!(u8: false bool: false u32: false u64: false usize: false i8: true i32: true i64: true);

macro_rules! floats {
    ($($ty:ty)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CType {
            CType::Float { bits: 8 * size_of::<$ty>() }
        }
    })* };
}

floats!(f32 f64);

macro_rules! voids {
    ($($ty:ty)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CType {
            CType::Void
        }
    })* };
}

voids!(() c_void);

impl<T: Object> ForeignType for T {
    fn c_type() -> CType {
        CType::Opaque(T::KIND.to_string())
    }
}

macro_rules! structs {
    ($($ty:ty = $name:literal,)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CType {
            CType::Struct { name: $name.to_owned(), size: size_of::<$ty>() }
        }
    })* };
}

structs! {
    Fields = "TF_Buffer",
    StringView = "TF_StringView",
    AllocatorAttributes = "TF_AllocatorAttributes",
    InputRange = "TF_InputRange_Args",
}

macro_rules! pointers {
    ($($ty:ty)*) => { $(impl<T: ForeignType> ForeignType for $ty {
        fn c_type() -> CType {
            CType::pointer(T::c_type())
        }
    })* };
}

pointers!(*mut T *const T Arg<T> Out<T> List<T>);

impl ForeignType for Text {
    fn c_type() -> CType {
        CType::pointer(i8::c_type())
    }
}

macro_rules! functions {
    ($($parameter:ident)*) => {
        impl<$($parameter: ForeignType,)* R: ForeignType> ForeignType
            for unsafe extern "C" fn($($parameter),*) -> R
        {
            fn c_type() -> CType {
                CType::Function(Box::new(CSignature {
                    parameters: vec![$($parameter::c_type()),*],
                    result: R::c_type(),
                }))
            }
        }

        impl<$($parameter: ForeignType,)* R: ForeignType> ForeignType
            for extern "C" fn($($parameter),*) -> R
        {
            fn c_type() -> CType {
                <unsafe extern "C" fn($($parameter),*) -> R>::c_type()
            }
        }
    };
}

functions!();
functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E F);

impl<T: ForeignType> ForeignType for Option<T> {
    fn c_type() -> CType {
        T::c_type()
    }
}
