//! Attributes of an op, read once when TensorFlow constructs the kernel.

/// Implements the parameter `&$borrowed` of an attribute that is stored as `$ty`.
macro_rules! borrowed_parameter {
    ($ty:ty as $borrowed:ty: $marker:ty) => {
        impl<'c> AttributeParameter<'c, $marker> for &'c $borrowed {
            type Stored = $ty;

            fn from_stored(stored: &'c $ty) -> Self {
                stored
            }
        }
    };
}

// since 2.8
/// Implements a list of attributes that `$function` reads, and its parameter, a slice.
macro_rules! list_attribute {
    ($item:ty: $kind:ident, $marker:ty, $function:ident, |$raw:ident, $name:ident| $read:expr) => {
        impl FromAttribute for Vec<$item> {
            const KIND: Kind = Kind::$kind;

            fn read(construction: &Construction<'_>, $name: &CStr) -> Result<Self> {
                let $raw = construction.raw;
                $read
            }

            fn from_default(value: DefaultValue) -> Result<Self> {
                super::list_from_default(value)
            }

            reads_by!($function);
        }

        borrowed_parameter!(Vec<$item> as [$item]: marker::ListOf<$marker>);
    };
}

pub(super) mod construction;
mod function_name; // since 2.11
pub(super) mod node_def; // since 2.11
mod shape; // since 2.6
mod shape_attribute; // since 2.6
mod tensor_value; // since 2.8

use std::ffi::CStr;
use std::sync::Arc;

use sp_abi::kernels::TF_OpKernelConstruction;
use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::UnavailableFunction;

use self::construction::ConstructionRef;
use super::marker;
use super::spec::{DefaultValue, FunctionNames, Kind, OpSpec};
use crate::release::is_running;
use crate::{Error, Result};

pub use self::function_name::FunctionName; // since 2.11
pub use self::shape::{FullShape, PartialShape}; // since 2.6
pub use self::tensor_value::TensorValue; // since 2.8

/// A node whose kernel TensorFlow constructs.
pub struct Construction<'c> {
    pub(super) raw: ConstructionRef<'c>,
    op: &'static OpSpec,
}

impl Construction<'_> {
    /// # Safety
    /// `raw` is live during the value's lifetime.
    pub(super) unsafe fn from_raw(raw: *mut TF_OpKernelConstruction, op: &'static OpSpec) -> Self {
        // SAFETY: the caller has the same obligation.
        let raw = unsafe { ConstructionRef::from_raw(raw) };
        Self { raw, op }
    }

    /// Returns the attribute `name`, or its default if the running release's op does not have it.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if it is of another type.
    pub fn attribute<A: FromAttribute>(&self, name: &CStr) -> Result<A> {
        let mut attributes = self.op.attributes.iter();
        let with_name = |error: Error| {
            let message = format!("attribute {name:?}: {}", error.message());
            Error::new(error.code(), message)
        };
        match attributes.find(|it| it.name == name) {
            Some(it) if !is_running(it.releases) => A::from_default(it.default).map_err(with_name),
            _ => A::read(self, name),
        }
    }

    /// Returns the same node for a kernel with this description of the op.
    pub(super) fn with_op(&self, op: &'static OpSpec) -> Self {
        Self { raw: self.raw, op }
    }

    /// Returns the type of an attribute that a kernel can read.
    pub(super) fn attribute_kind(&self, name: &CStr) -> Option<Kind> {
        let mut attributes = self.op.attributes.iter();
        attributes.find(|it| it.name == name).map(|it| it.kind)
    }

    /// Returns the name of the node.
    pub(super) fn node_name(&self) -> Result<Arc<str>> {
        self.raw.node_name()
    }

    /// Returns the length of a list.
    pub(super) fn list_len(&self, name: &CStr) -> Result<usize> {
        self.raw.sizes(name).map(|(len, _)| len)
    }

    pub(super) fn fail(&self, error: &Error) -> Result<()> {
        self.raw.fail(error)
    }

    /// Returns the C object, for functions that the SDK does not wrap.
    ///
    /// # Safety
    /// The caller uses it within the lifetime of `self` only, as the C API documents.
    pub unsafe fn as_raw(&self) -> *mut TF_OpKernelConstruction {
        self.raw.as_ptr()
    }
}

/// A type that has the value of an attribute.
pub trait FromAttribute: Sized + Send + Sync + 'static {
    /// The type of the attribute.
    const KIND: Kind;

    /// For an enum, the strings of each variant.
    const VALUES: &'static [&'static [&'static str]] = &[];

    /// Reads the attribute `name`.
    ///
    /// # Errors
    /// Returns an error if the node has no such attribute, or if its value is not one of this type.
    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self>;

    /// Converts a default value.
    ///
    /// # Errors
    /// Returns an error if the default is of another type, or absent.
    fn from_default(value: DefaultValue) -> Result<Self>;

    /// The name of the function that reads the attribute, if not every host has it.
    const FUNCTIONS: FunctionNames = FunctionNames::NONE;

    /// Checks that the running TensorFlow has a function that reads the attribute. If not, its own kernels run.
    ///
    /// # Errors
    /// Returns an error with the function that is absent.
    fn check_available() -> Result<(), UnavailableFunction> {
        Ok(())
    }
}

/// A parameter of a kernel that is an attribute of type `K`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for this attribute of the op",
    label = "the op's attribute has another type",
    note = "a bool is `bool`, an int `i64`, `i32` or `usize`, a float `f32`, a type `DataType`, a string `&str` or an enum with `#[derive(AttributeValue)]`",
    note = "a shape is `&PartialShape` or `&[usize]`, a tensor `&TensorValue`, a func `&FunctionName`, a list a slice such as `&[i64]`; the function's documentation has the op's signature"
)]
pub trait AttributeParameter<'c, K>: Sized {
    /// The value in the kernel's instance.
    type Stored: FromAttribute;

    /// Returns the parameter.
    fn from_stored(stored: &'c Self::Stored) -> Self;
}

pub(super) fn no_default() -> Error {
    Error::internal("the running release lacks it, and it has no default")
}

/// Converts each item of a default list.
pub(super) fn list_from_default<A: FromAttribute>(value: DefaultValue) -> Result<Vec<A>> {
    match value {
        DefaultValue::List(items) => items.iter().map(|it| A::from_default(*it)).collect(),
        _ => Err(no_default()),
    }
}

/// `None` if the running release's op does not have the attribute.
impl<A: FromAttribute> FromAttribute for Option<A> {
    const KIND: Kind = A::KIND;
    const VALUES: &'static [&'static [&'static str]] = A::VALUES;
    const FUNCTIONS: FunctionNames = A::FUNCTIONS;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        A::read(construction, name).map(Some)
    }

    fn from_default(_: DefaultValue) -> Result<Self> {
        Ok(None)
    }

    fn check_available() -> Result<(), UnavailableFunction> {
        A::check_available()
    }
}

impl<'c, K, A: AttributeParameter<'c, K>> AttributeParameter<'c, K> for Option<A> {
    type Stored = Option<A::Stored>;

    fn from_stored(stored: &'c Option<A::Stored>) -> Self {
        stored.as_ref().map(A::from_stored)
    }
}

macro_rules! from_attribute {
    ($ty:ty: $kind:ident, |$raw:ident, $name:ident| $read:expr, $pattern:pat => $default:expr) => {
        impl FromAttribute for $ty {
            const KIND: Kind = Kind::$kind;

            fn read(construction: &Construction<'_>, $name: &CStr) -> Result<Self> {
                let $raw = construction.raw;
                $read
            }

            fn from_default(value: DefaultValue) -> Result<Self> {
                match value {
                    $pattern => $default,
                    _ => Err(no_default()),
                }
            }
        }
    };
}

macro_rules! copied {
    ($($ty:ty: $kind:ident, |$raw:ident, $name:ident| $read:expr, $pattern:pat => $default:expr;)*) => {$(
        from_attribute!($ty: $kind, |$raw, $name| $read, $pattern => $default);

        impl<'c> AttributeParameter<'c, marker::$kind> for $ty {
            type Stored = Self;

            fn from_stored(stored: &'c Self) -> Self {
                *stored
            }
        }
    )*};
}

copied! {
    bool: Boolean, |raw, name| Ok(raw.bool_byte(name)? != 0), DefaultValue::Bool(value) => Ok(value);
    i64: Int, |raw, name| raw.int(name), DefaultValue::Int(value) => Ok(value);
    i32: Int, |raw, name| narrow(raw.int(name)?), DefaultValue::Int(value) => narrow(value);
    usize: Int, |raw, name| narrow(raw.int(name)?), DefaultValue::Int(value) => narrow(value);
    f32: Float, |raw, name| raw.float(name), DefaultValue::Float(value) => Ok(value);
    TF_DataType: Type, |raw, name| Ok(TF_DataType(raw.type_number(name)?)), DefaultValue::Type(value) => Ok(value);
}

fn narrow<N: TryFrom<i64>>(value: i64) -> Result<N> {
    let rejected =
        |_| Error::invalid_argument(format!("{value} is not a {}", std::any::type_name::<N>()));
    value.try_into().map_err(rejected)
}

macro_rules! borrowed {
    ($($ty:ty as $borrowed:ty: $kind:ident, $marker:ty, |$raw:ident, $name:ident| $read:expr, $pattern:pat => $default:expr;)*) => {$(
        from_attribute!($ty: $kind, |$raw, $name| $read, $pattern => $default);

        borrowed_parameter!($ty as $borrowed: $marker);
    )*};
}

borrowed! {
    String as str: Text, marker::Text, |raw, name| raw.text(name), DefaultValue::Text(value) => Ok(value.to_owned());
    Vec<i64> as [i64]: IntList, marker::ListOf<marker::Int>, |raw, name| raw.ints(name),
        value @ DefaultValue::List(_) => list_from_default(value);
    Vec<f32> as [f32]: FloatList, marker::ListOf<marker::Float>, |raw, name| raw.floats(name),
        value @ DefaultValue::List(_) => list_from_default(value);
    Vec<bool> as [bool]: BooleanList, marker::ListOf<marker::Boolean>,
        |raw, name| Ok(raw.bool_bytes(name)?.into_iter().map(|byte| byte != 0).collect()),
        value @ DefaultValue::List(_) => list_from_default(value);
    Vec<TF_DataType> as [TF_DataType]: TypeList, marker::ListOf<marker::Type>, |raw, name| raw.types(name),
        value @ DefaultValue::List(_) => list_from_default(value);
    Vec<String> as [String]: TextList, marker::ListOf<marker::Text>, |raw, name| raw.texts(name),
        value @ DefaultValue::List(_) => list_from_default(value);
}

/// The attributes of an op that a kernel reads into a struct: derive it. Each field is an attribute, by name.
pub trait Attributes: Sized + Send + Sync + 'static {
    /// The attributes and their types.
    const FIELDS: &'static [(&'static str, Kind)];

    /// The names of the functions that read them, if not every host has them.
    const FUNCTIONS: FunctionNames = FunctionNames::NONE;

    /// Reads the attributes.
    ///
    /// # Errors
    /// Returns an error if an attribute is absent, or of another type.
    fn read(construction: &Construction<'_>) -> Result<Self>;

    /// Checks that the running TensorFlow has the functions that read the attributes.
    ///
    /// # Errors
    /// Returns an error with the function that is absent.
    fn check_available() -> Result<(), UnavailableFunction>;
}

/// The state of a kernel's instance, prepared once from attributes. A struct of [`Attributes`] is its own state.
pub trait Prepare: Sized + Send + Sync + 'static {
    /// The attributes.
    type Attributes: Attributes;

    /// Prepares the state.
    ///
    /// # Errors
    /// Returns an error if the kernel does not support the attributes.
    fn prepare(attributes: Self::Attributes) -> Result<Self>;
}

/// A parameter of a kernel with `#[state]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter for the state of a kernel",
    note = "the state is `&S`, where `S` derives `Attributes` or implements `Prepare`"
)]
pub trait StateParameter<'c>: Sized {
    /// The state.
    type State: Prepare;

    /// Returns the parameter.
    fn from_state(state: &'c Self::State) -> Self;
}

impl<'c, S: Prepare> StateParameter<'c> for &'c S {
    type State = S;

    fn from_state(state: &'c S) -> Self {
        state
    }
}

/// Reads the attributes of a state and prepares it.
///
/// # Errors
/// Returns an error if an attribute is absent or not supported.
pub fn prepare<S: Prepare>(construction: &Construction<'_>) -> Result<S> {
    S::prepare(S::Attributes::read(construction)?)
}

/// Checks that the running TensorFlow has the functions that read the attributes of a state.
///
/// # Errors
/// Returns an error with the function that is absent.
pub fn check_state_available<S: Prepare>() -> Result<(), UnavailableFunction> {
    S::Attributes::check_available()
}

/// Returns the variant of an enum for a string attribute.
///
/// # Errors
/// Returns an error if no variant has the value.
pub fn variant_of<A: FromAttribute + Copy>(variants: &[A], value: &str) -> Result<A> {
    let mut values = A::VALUES.iter().zip(variants);
    let found = values.find(|(values, _)| values.contains(&value));
    let unsupported = || Error::unimplemented(format!("the kernel does not support {value:?}"));
    found.map(|(_, variant)| *variant).ok_or_else(unsupported)
}
