//! The parties that store the fields of a struct: the third parameter of [`Field`](crate::Field).
//!
//! The host allocates the structs, and each field belongs to one party. A plugin reads all of them
//! and sets its own only.
//!
//! A slot's parameter is a `PrefixMut` only if its direction is out or inout. A reserved `ext` and a pointer to a
//! struct that TensorFlow allocates are not the plugin's.

/// The plugin stores the field.
#[derive(Debug)]
pub enum Plugin {}

/// TensorFlow stores the field; the plugin reads it. A pointer to a struct that the plugin fills is
/// such a field: TensorFlow allocates the struct.
#[derive(Debug)]
pub enum TensorFlow {}

/// The header reserves the field for later releases; it stays null.
#[derive(Debug)]
pub enum Reserved {}

/// [`PrefixMut::set_struct_size`](crate::PrefixMut::set_struct_size) stores the field: it is `struct_size`.
#[derive(Debug)]
pub enum StructSize {}

/// A party whose fields a plugin sets.
#[diagnostic::on_unimplemented(
    message = "this field is set by `{Self}`, not by the plugin",
    label = "the field belongs to `{Self}`",
    note = "`TensorFlow` sets what it passes to the plugin; the plugin reads it with `get`",
    note = "`Reserved` is a field that the header reserves for later releases; it stays null",
    note = "`StructSize` is `struct_size`, which `PrefixMut::set_struct_size` sets"
)]
pub trait Settable: private::Sealed {}

impl Settable for Plugin {}

mod private {
    /// Keeps other crates from declaring a party settable.
    pub trait Sealed {}
    impl Sealed for super::Plugin {}
}
