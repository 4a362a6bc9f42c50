//! C names as Rust identifiers.

use proc_macro2::{Ident, Span};
use quote::format_ident;

/// Converts a C name to a Rust identifier. A keyword becomes a raw identifier; one that cannot be raw gets
/// an underscore at its end.
pub fn ident(name: &str) -> Ident {
    if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        return format_ident!("{name}_");
    }
    syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("self").to_string(), "self_");
        assert_eq!(ident("device").to_string(), "device");
    }
}
