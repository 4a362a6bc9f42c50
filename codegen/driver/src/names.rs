//! C names as Rust names.

use proc_macro2::Ident;
use sp_expand::ident;

/// Types that the generated file uses: primitive ones, those of the prelude and its own.
const TYPES: &str = "
    bool char f16 f32 f64 f128 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize c_void
    c_char c_int CStr CString OnceLock Option Result String Vec Self Copy Clone Default Drop
    Send Sync Debug Driver Functions Error LoadError Lookup Arc AsRef Box FnOnce Into TryInto
    Iterator ToOwned runtime safe";

/// Constants, variants and functions that it uses.
const VALUES: &str = "
    Some None Ok Err LIBRARY LIBRARY_VARIABLE FUNCTIONS SUCCESS check drop read_bits
    sign_extended write_bits function__";

/// Returns true for a name that the generated file uses itself.
fn is_reserved(name: &str) -> bool {
    TYPES.split_whitespace().any(|it| it == name) || is_value(name)
}

/// Returns true for a constant, variant or function of the generated file.
pub fn is_value(name: &str) -> bool {
    VALUES.split_whitespace().any(|it| it == name)
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
