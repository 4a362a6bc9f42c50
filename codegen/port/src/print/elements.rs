//! Element types as Rust types.

use sp_ops::DataType;

/// The element types that have a Rust type.
const ELEMENTS: [(DataType, &str); 27] = [
    (DataType::FLOAT, "f32"),
    (DataType::DOUBLE, "f64"),
    (DataType::INT8, "i8"),
    (DataType::INT16, "i16"),
    (DataType::INT32, "i32"),
    (DataType::INT64, "i64"),
    (DataType::UINT8, "u8"),
    (DataType::UINT16, "u16"),
    (DataType::UINT32, "u32"),
    (DataType::UINT64, "u64"),
    (DataType::BOOL, "Bool"),
    (DataType::HALF, "F16"),
    (DataType::BFLOAT16, "Bf16"),
    (DataType::COMPLEX64, "Complex64"),
    (DataType::COMPLEX128, "Complex128"),
    (DataType::QINT8, "QInt8"),
    (DataType::QUINT8, "QUint8"),
    (DataType::QINT16, "QInt16"),
    (DataType::QUINT16, "QUint16"),
    (DataType::QINT32, "QInt32"),
    (DataType::FLOAT8_E5M2, "F8E5M2"),
    (DataType::FLOAT8_E4M3FN, "F8E4M3FN"),
    (DataType::FLOAT8_E4M3FNUZ, "F8E4M3FNUZ"),
    (DataType::FLOAT8_E4M3B11FNUZ, "F8E4M3B11FNUZ"),
    (DataType::FLOAT8_E5M2FNUZ, "F8E5M2FNUZ"),
    (DataType::INT4, "Int4"),
    (DataType::UINT4, "Uint4"),
];

/// Returns the Rust type of an element type, or `None` if it has none.
pub fn rust_name(ty: DataType) -> Option<&'static str> {
    let found = ELEMENTS.iter().find(|(known, _)| *known == ty);
    found.map(|(_, name)| *name)
}

/// Returns true if the Rust type is a primitive one.
pub fn is_primitive(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase())
}

/// Returns true for the name of a Rust type of elements, and of strings, resources and variants.
pub fn is_element_name(name: &str) -> bool {
    let is_known = ELEMENTS.iter().any(|(_, known)| *known == name);
    is_known || ["Text", "Resource", "Variant", "f16", "bf16"].contains(&name)
}
