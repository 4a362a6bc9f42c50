//! Types without values that stand for the types of an op's arguments and attributes, in error messages and in the
//! traits that parameters of kernels implement.

use std::marker::PhantomData;

/// An argument whose type attribute allows signed integers only, and which the kernel does not restrict.
pub struct Integers(());

/// An argument whose type attribute the kernel does not restrict.
pub struct AnyType(());

/// An argument of several tensors of type `E`.
pub struct List<E>(PhantomData<E>);

/// An argument of several tensors, each of its own type.
pub struct AnyList(());

/// An argument that is the handle of a resource, such as a variable.
pub struct Resource(());

/// An argument that is a reference to a tensor of type `E`.
pub struct Ref<E>(PhantomData<E>);

/// A string.
pub struct Text(());

/// A variant.
pub struct Variant(());

/// An argument of an element type that has no Rust type here.
pub struct OtherType(());

/// An attribute that is an integer.
pub struct Int(());

/// An attribute that is a floating point number.
pub struct Float(());

/// An attribute that is a boolean.
pub struct Boolean(());

/// An attribute that is an element type.
pub struct Type(());

/// An attribute that is a shape.
pub struct Shape(());

/// An attribute that is a tensor.
pub struct Tensor(());

/// An attribute that is a function.
pub struct Function(());

/// An attribute that is a list.
pub struct ListOf<K>(PhantomData<K>);
