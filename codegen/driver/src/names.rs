//! C names as Rust names.

use proc_macro2::Ident;
use sp_expand::ident;

/// Names that the generated file uses itself: of primitive types, of the prelude and of its own items.
const RESERVED: [&str; 47] = [
    "bool",
    "char",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "c_void",
    "c_char",
    "CStr",
    "CString",
    "OnceLock",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "String",
    "Vec",
    "Self",
    "Copy",
    "Clone",
    "Default",
    "Drop",
    "Send",
    "Sync",
    "Debug",
    "Driver",
    "Functions",
    "Error",
    "LoadError",
    "Lookup",
    "LIBRARY",
    "LIBRARY_VARIABLE",
    "FUNCTIONS",
    "SUCCESS",
];

/// Names of the driver's own methods.
const METHODS: [&str; 5] = ["get", "load", "load_from", "missing", "require"];

/// Returns the Rust name of a type or constant. A name that the file uses itself gets an underscore at its end.
pub fn item(name: &str) -> Ident {
    match RESERVED.contains(&name) {
        true => ident(&format!("{name}_")),
        false => ident(name),
    }
}

/// Returns the Rust name of a function.
pub fn method(name: &str) -> Ident {
    match METHODS.contains(&name) {
        true => ident(&format!("{name}_")),
        false => ident(name),
    }
}

/// Returns the name of a function's safe method.
pub fn safe_method(name: &str) -> Ident {
    match METHODS.contains(&name) || matches!(name, "address" | "handle") {
        true => ident(&format!("{name}_")),
        false => ident(name),
    }
}

/// Returns the Rust name of the parameter with this index, which may have no name in C.
pub fn parameter(name: &str, index: usize) -> Ident {
    match name {
        "" => ident(&format!("argument_{index}")),
        "function" => ident("function_"),
        name => ident(name),
    }
}
