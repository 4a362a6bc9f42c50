//! The C signatures of the functions in this module, read off their Rust types, for the test that
//! compares them with every release's headers.

use std::ffi::c_void;
use std::fmt;

use super::argument::{Arg, CStringArgument, List, Out};
use crate::objects::HostObject;
use crate::status_object::StatusObject;

/// A C type, as far as a call passes it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum CallType {
    Void,
    Int { bits: usize, signed: bool },
    Float { bits: usize },
    Pointer(Box<CallType>),
    Opaque(String),
    Struct { name: String, size: usize },
    Function(Box<CSignature>),
}

/// Parameters and result of a C function.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CSignature {
    pub parameters: Vec<CallType>,
    pub result: CallType,
}

/// A function that the host defines.
pub(crate) struct CFunction {
    pub name: &'static str,
    pub signature: CSignature,
}

impl CallType {
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

impl fmt::Display for CallType {
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
        let parameters: Vec<String> = self.parameters.iter().map(CallType::to_string).collect();
        write!(f, "{}({})", self.result, parameters.join(", "))
    }
}

/// Returns the C type of the last parameter of a function that sets a status.
pub(crate) fn status() -> CallType {
    <Arg<StatusObject>>::c_type()
}

/// A Rust type that stands for a C type in a signature or behind a pointer.
pub(crate) trait ForeignType {
    fn c_type() -> CallType;
}

macro_rules! integers {
    ($($ty:ty: $signed:literal)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CallType {
            CallType::Int { bits: 8 * size_of::<$ty>(), signed: $signed }
        }
    })* };
}

integers!(u8: false bool: false u32: false u64: false usize: false i8: true i32: true i64: true);

macro_rules! floats {
    ($($ty:ty)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CallType {
            CallType::Float { bits: 8 * size_of::<$ty>() }
        }
    })* };
}

floats!(f32 f64);

macro_rules! voids {
    ($($ty:ty)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CallType {
            CallType::Void
        }
    })* };
}

voids!(() c_void);

impl<T: HostObject> ForeignType for T {
    fn c_type() -> CallType {
        CallType::Opaque(T::KIND.to_string())
    }
}

macro_rules! pointers {
    ($($ty:ty)*) => { $(impl<T: ForeignType> ForeignType for $ty {
        fn c_type() -> CallType {
            CallType::pointer(T::c_type())
        }
    })* };
}

pointers!(*mut T *const T Arg<T> Out<T> List<T>);

impl ForeignType for CStringArgument {
    fn c_type() -> CallType {
        CallType::pointer(i8::c_type())
    }
}

macro_rules! functions {
    ($($parameter:ident)*) => {
        impl<$($parameter: ForeignType,)* R: ForeignType> ForeignType
            for unsafe extern "C" fn($($parameter),*) -> R
        {
            fn c_type() -> CallType {
                CallType::Function(Box::new(CSignature {
                    parameters: vec![$($parameter::c_type()),*],
                    result: R::c_type(),
                }))
            }
        }

        impl<$($parameter: ForeignType,)* R: ForeignType> ForeignType
            for extern "C" fn($($parameter),*) -> R
        {
            fn c_type() -> CallType {
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
    fn c_type() -> CallType {
        T::c_type()
    }
}
