//! C names as Rust names.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use sp_expand::ident;
use sp_ir::{Handle, Item, Param};

use crate::model::Model;

/// Types that the generated file uses: primitive ones, those of the prelude and its own.
const TYPES: &[&str] = &[
    "bool",
    "char",
    "f16",
    "f32",
    "f64",
    "f128",
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
    "c_int",
    "CStr",
    "CString",
    "OnceLock",
    "Option",
    "Result",
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
    "Arc",
    "AsRef",
    "Box",
    "FnOnce",
    "Into",
    "TryInto",
    "Iterator",
    "ToOwned",
    "runtime",
    "safe",
];

/// Constants, variants and functions that it uses.
const VALUES: &[&str] = &[
    "Some",
    "None",
    "Ok",
    "Err",
    "LIBRARY",
    "LIBRARY_VARIABLE",
    "FUNCTIONS",
    "SUCCESS",
    "check",
    "drop",
    "read_bits",
    "sign_extended",
    "write_bits",
    "function__",
];

/// Returns true for a name that the generated file uses itself.
fn is_reserved(name: &str) -> bool {
    TYPES.contains(&name) || VALUES.contains(&name)
}

/// Names of the driver's own methods.
const METHODS: [&str; 5] = ["get", "load", "load_from", "missing", "require"];

/// Returns the Rust name of a type or constant. A name that the file uses itself gets an underscore at its end.
pub fn item(name: &str) -> Ident {
    match is_reserved(name) {
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

/// Returns the Rust name of an enumerator. An enumeration has a method `name`.
pub fn enumerator(name: &str) -> Ident {
    match name {
        "name" => ident("name_"),
        name => item(name),
    }
}

/// Sets the Rust names of constants and parameters, which depend on those of types.
pub fn name_values(model: &mut Model) {
    let types = value_types(model);
    for constant in &mut model.constants {
        constant.rust_name = item(&constant.name).to_string();
        if types.contains(&constant.rust_name) {
            constant.rust_name.push('_');
        }
    }
    let mut values = types;
    values.extend(model.constants.iter().map(|it| it.rust_name.clone()));
    for function in &mut model.functions {
        function.parameters = parameters(&function.signature.params, &values);
    }
}

/// Returns the Rust names of types that are values too: structs with one unnamed field.
fn value_types(model: &Model) -> BTreeSet<String> {
    let types = model.types.iter().filter(|(_, item)| {
        matches!(
            item,
            Item::Enum(_) | Item::Handle(Handle { pointer: true, .. })
        )
    });
    types.map(|(name, _)| item(name).to_string()).collect()
}

/// Returns the Rust names of parameters, which may have none in C. A pattern with the name of a value is none of a variable.
fn parameters(params: &[Param], values: &BTreeSet<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, param) in params.iter().enumerate() {
        let mut name = match param.name.as_str() {
            "" => format!("argument_{index}"),
            name => ident(name).to_string(),
        };
        let is_value = |name: &str| values.contains(name) || VALUES.contains(&name);
        while is_value(&name) || names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

/// Returns the Rust names of the fields of a struct: `self` and `self_` are two in C.
pub fn fields<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Ident> {
    let mut found: Vec<Ident> = Vec::new();
    for name in names {
        let mut field = ident(name);
        while found.contains(&field) {
            field = ident(&format!("{}_", field.to_string().trim_start_matches("r#")));
        }
        found.push(field);
    }
    found
}

/// Returns the identifier of a name of this module.
pub fn parsed(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(name) => Ident::new_raw(name, proc_macro2::Span::call_site()),
        None => Ident::new(name, proc_macro2::Span::call_site()),
    }
}
