//! Types without values that stand for the types of an op's arguments and attributes, in error messages and in the
//! traits that parameters of kernels implement. A kernel's list of types may have those that the documentation shows.

use std::marker::PhantomData;

/// An argument whose type attribute allows signed integers only, and which the kernel does not restrict.
#[doc(hidden)]
pub struct Integers(());

/// An argument whose type attribute the kernel does not restrict.
#[doc(hidden)]
pub struct AnyType(());

/// An argument of several tensors of type `E`.
#[doc(hidden)]
pub struct List<E>(PhantomData<E>);

/// An argument of several tensors, each of its own type.
#[doc(hidden)]
pub struct AnyList(());

/// An argument that is the handle of a resource, such as a variable.
pub struct Resource(());

/// An argument that is a reference to a tensor of type `E`.
#[doc(hidden)]
pub struct Ref<E>(PhantomData<E>);

/// A string.
pub struct Text(());

/// A variant.
pub struct Variant(());

/// An argument of an element type that has no Rust type here.
#[doc(hidden)]
pub struct OtherType(());

/// An attribute that is an integer.
#[doc(hidden)]
pub struct Int(());

/// An attribute that is a floating point number.
#[doc(hidden)]
pub struct Float(());

/// An attribute that is a boolean.
#[doc(hidden)]
pub struct Boolean(());

/// An attribute that is an element type.
#[doc(hidden)]
pub struct Type(());

/// An attribute that is a shape.
#[doc(hidden)]
pub struct Shape(());

/// An attribute that is a tensor.
#[doc(hidden)]
pub struct Tensor(());

/// An attribute that is a function.
#[doc(hidden)]
pub struct Function(());

/// An attribute that is a list.
#[doc(hidden)]
pub struct ListOf<K>(PhantomData<K>);
