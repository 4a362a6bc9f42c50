//! C names as Rust identifiers.

use proc_macro2::{Ident, Span};
use quote::format_ident;

/// Converts a C name to a Rust identifier. A keyword becomes a raw identifier; one that cannot be raw gets
/// an underscore at its end. A character that Rust may not accept, such as `$`, is written as its number.
pub fn ident(name: &str) -> Ident {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    if !name.chars().all(is_plain) {
        let written = name.chars().map(|it| match is_plain(it) {
            true => it.to_string(),
            false => format!("_u{:x}_", u32::from(it)),
        });
        return ident(&written.collect::<String>());
    }
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        return format_ident!("{name}_");
    }
    let raw = || Ident::new_raw(name, Span::call_site());
    match name {
        // A keyword of edition 2024, which syn does not list.
        "gen" => raw(),
        name => syn::parse_str(name).unwrap_or_else(|_| raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("gen").to_string(), "r#gen");
        assert_eq!(ident("self").to_string(), "self_");
        assert_eq!(ident("device").to_string(), "device");
    }

    #[test]
    fn characters_that_rust_rejects_become_numbers() {
        assert_eq!(ident("a$b").to_string(), "a_u24_b");
        assert_eq!(ident("é").to_string(), "_ue9_");
    }
}
