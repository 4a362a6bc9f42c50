//! Element types of TensorFlow as Rust types.

use proc_macro2::TokenStream;
use quote::quote;
use sp_ops::DataType;
use syn::Type;

/// The elements that have a Rust type, by the last segment of its path.
const ELEMENTS: [(DataType, &str); 17] = [
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
];

/// Returns the element type that a Rust type has by its name; `None` for another name.
pub fn data_type_of(ty: &Type) -> Option<DataType> {
    let path = match ty {
        // A type that came from a macro.
        Type::Group(group) => return data_type_of(&group.elem),
        Type::Path(path) => path,
        _ => return None,
    };
    let name = path.path.segments.last()?.ident.to_string();
    ELEMENTS
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(data_type, _)| *data_type)
}

/// Returns the Rust name of an element type, for messages; TensorFlow's name if there is none.
pub fn rust_name(data_type: DataType) -> String {
    let found = ELEMENTS.iter().find(|(known, _)| *known == data_type);
    found.map_or_else(|| data_type.to_string(), |(_, name)| (*name).to_owned())
}

/// Prints the type of an argument whose element type is the same in all nodes.
pub fn print_fixed(data_type: DataType) -> TokenStream {
    let marker = quote!(::sp_plugin::kernel::marker);
    match data_type {
        DataType::BOOL => quote!(::sp_plugin::Bool),
        DataType::STRING => quote!(#marker::Text),
        DataType::RESOURCE => quote!(#marker::Resource),
        DataType::VARIANT => quote!(#marker::Variant),
        _ => match ELEMENTS[..10].iter().find(|(known, _)| *known == data_type) {
            Some((_, name)) => {
                let name = quote::format_ident!("{name}");
                quote!(::core::primitive::#name)
            }
            None => quote!(#marker::OtherType),
        },
    }
}
