//! Element types of TensorFlow as Rust types.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use sp_ops::DataType;
use syn::{Type, parse_quote};

/// The elements that have a Rust type, by the last segment of its path. The first name of a type is the one of sp-plugin.
pub const ELEMENTS: &[(DataType, &str)] = &[
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
    (DataType::HALF, "f16"),
    (DataType::BFLOAT16, "Bf16"),
    (DataType::BFLOAT16, "bf16"),
    (DataType::COMPLEX64, "Complex64"),
    (DataType::COMPLEX128, "Complex128"),
    (DataType::FLOAT8_E5M2, "F8E5M2"),
    (DataType::FLOAT8_E4M3FN, "F8E4M3FN"),
    (DataType::FLOAT8_E4M3FNUZ, "F8E4M3FNUZ"),
    (DataType::FLOAT8_E4M3B11FNUZ, "F8E4M3B11FNUZ"),
    (DataType::FLOAT8_E5M2FNUZ, "F8E5M2FNUZ"),
    (DataType::INT4, "Int4"),
    (DataType::UINT4, "Uint4"),
    (DataType::QINT8, "QInt8"),
    (DataType::QUINT8, "QUint8"),
    (DataType::QINT16, "QInt16"),
    (DataType::QUINT16, "QUint16"),
    (DataType::QINT32, "QInt32"),
    (DataType::STRING, "Text"),
    (DataType::RESOURCE, "Resource"),
    (DataType::VARIANT, "Variant"),
];

/// Number of elements whose Rust type is a primitive type.
const PRIMITIVES: usize = 10;

/// The last of the elements that are numbers of a model: after it are types that TensorFlow only converts, and handles.
const LAST_NUMBER: DataType = DataType::COMPLEX128;

/// Elements that are handles: their memory cannot be copied as bytes.
const HANDLES: [DataType; 3] = [DataType::STRING, DataType::RESOURCE, DataType::VARIANT];

/// Returns the Rust type of every element for which `[..]` registers a kernel.
pub fn all_types(span: Span) -> Vec<Type> {
    let mut types = Vec::new();
    for (index, (data_type, name)) in ELEMENTS.iter().enumerate() {
        let is_alias = index > 0 && ELEMENTS[index - 1].0 == *data_type;
        let name = Ident::new(name, span);
        match index < PRIMITIVES {
            _ if is_alias => {}
            true => types.push(parse_quote!(::core::primitive::#name)),
            false => types.push(parse_quote!(::sp_plugin::#name)),
        }
        if *data_type == LAST_NUMBER {
            break;
        }
    }
    types
}

/// Returns the element type that a Rust type has by its name; `None` for another name.
pub fn data_type_of(ty: &Type) -> Option<DataType> {
    let path = match ty {
        // A type that came from a macro.
        Type::Group(group) => return data_type_of(&group.elem),
        Type::Path(path) => path,
        _ => return None,
    };
    data_type_of_element(&path.path.segments.last()?.ident.to_string())
}

fn data_type_of_element(name: &str) -> Option<DataType> {
    let found = ELEMENTS.iter().find(|(_, known)| *known == name);
    found.map(|(data_type, _)| *data_type)
}

/// Returns the element type with this name in Rust, `f32`, or in TensorFlow, `float`.
pub fn data_type_of_name(name: &str) -> Option<DataType> {
    data_type_of_element(name).or_else(|| DataType::from_name(name))
}

/// Returns the Rust name of an element type, for messages; TensorFlow's name if there is none.
pub fn rust_name(data_type: DataType) -> String {
    let found = ELEMENTS.iter().find(|(known, _)| *known == data_type);
    found.map_or_else(|| data_type.to_string(), |(_, name)| (*name).to_owned())
}

/// Prints the type of an argument whose element type is the same in all nodes.
pub fn print_fixed(data_type: DataType) -> TokenStream {
    let Some(index) = ELEMENTS.iter().position(|(known, _)| *known == data_type) else {
        return quote!(::sp_plugin::kernel::marker::OtherType);
    };
    let name = quote::format_ident!("{}", ELEMENTS[index].1);
    match data_type {
        _ if HANDLES.contains(&data_type) => quote!(::sp_plugin::kernel::marker::#name),
        _ if index < PRIMITIVES => quote!(::core::primitive::#name),
        _ => quote!(::sp_plugin::#name),
    }
}
