//! Element types as Rust types.

use sp_expand::ELEMENTS;
use sp_ops::DataType;

/// The form in which a kernel in Rust takes tensors of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementClass {
    /// As elements of a type in Rust.
    Element,
    /// As strings.
    Text,
    /// As the handle of a resource.
    Resource,
    /// As a variant.
    Variant,
}

/// Returns the class of a type.
pub fn class_of(ty: DataType) -> ElementClass {
    match ty {
        DataType::STRING => ElementClass::Text,
        DataType::RESOURCE => ElementClass::Resource,
        DataType::VARIANT => ElementClass::Variant,
        _ => ElementClass::Element,
    }
}

/// Returns the Rust type of an element type, or `None` if it has none.
pub fn rust_name(ty: DataType) -> Option<&'static str> {
    let found = ELEMENTS.iter().find(|(known, _)| *known == ty);
    let found = found.filter(|_| class_of(ty) == ElementClass::Element);
    found.map(|(_, name)| *name)
}

/// Returns true if the Rust type is a primitive one.
pub fn is_primitive(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase())
}

/// Returns true for the name of a Rust type of elements, and of strings, resources and variants.
pub fn is_element_name(name: &str) -> bool {
    ELEMENTS.iter().any(|(_, known)| *known == name)
}
