//! Releases and ranges of releases in generated code and its docs.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_ir::Release;

/// First and last release of a range.
pub type Span = (Release, Release);

/// Parses the minor release of a snapshot. A text that is not a release sorts before all releases.
pub fn parse_minor(release: &str) -> Release {
    let release = release.parse::<Release>();
    release.map_or(Release::from_minor(0, 0), Release::minor)
}

/// Formats a range: `2.5`, `2.6 to 2.9`.
pub fn format_span((first, last): Span) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    }
}

/// Returns the release as the arguments `2, 5` of a Rust call.
pub fn arguments(release: Release) -> TokenStream {
    let major = Literal::u32_unsuffixed(release.major);
    let minor = Literal::u32_unsuffixed(release.minor);
    quote!(#major, #minor)
}

/// Returns the release as the number that the C headers use: 205 for 2.5.
pub fn c_number(release: Release) -> u32 {
    release.major * 100 + release.minor
}
