//! Releases in generated Rust.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use sp_ir::Release;

/// Returns the release as the arguments `2, 5` of a call.
pub fn arguments(release: Release) -> TokenStream {
    let major = Literal::u32_unsuffixed(release.major);
    let minor = Literal::u32_unsuffixed(release.minor);
    quote!(#major, #minor)
}
