//! The root file of the generated crate.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_ir::{Api, Release};

use super::releases::arguments;
use super::source_file;
use crate::model::context::Context;
use crate::model::timeline::Timeline;

/// Prints `lib.rs`.
pub fn print(contexts: &[Context<'_>], has_availability: bool) -> String {
    let apis = contexts.iter().map(|context| context.api);
    let timeline = contexts.first().map(|it| it.timeline);
    let constants = timeline.map(|it| release_constants(it, has_availability));
    source_file::print(
        &doc(apis.clone()),
        items(apis, &constants, has_availability),
    )
}

fn items<'a>(
    apis: impl Iterator<Item = &'a Api>,
    constants: &Option<TokenStream>,
    has_availability: bool,
) -> TokenStream {
    let shared = has_availability.then(|| module("availability", None));
    let modules = apis.map(|api| {
        let feature = &api.name;
        module(feature, Some(quote!(#[cfg(feature = #feature)])))
    });
    quote! {
        #![allow(
            non_camel_case_types,
            non_snake_case,
            non_upper_case_globals,
            reason = "the items have their C names"
        )]
        #![allow(
            clippy::too_many_arguments,
            clippy::type_complexity,
            reason = "the signatures are those of the headers"
        )]
        #constants
        #shared
        #(#modules)*
        #[doc(hidden)]
        pub use sp_runtime as __rt;
    }
}

/// Returns the constants for the releases from which the crate was generated.
fn release_constants(timeline: &Timeline, has_availability: bool) -> TokenStream {
    let newest = timeline
        .newest()
        .map(|newest| newest_release(newest, has_availability));
    let previews = timeline.previews();
    let previews = previews.iter().map(|(version, minor)| {
        let minor = release_expression(*minor);
        quote!((#version, #minor))
    });
    let docs = [
        " The pre-releases from which this crate was generated: the version that `TF_Version()` returns, and the",
        " release whose layouts and functions they have.",
    ];
    quote! {
        #newest
        #(#[doc = #docs])*
        #[rustfmt::skip]
        pub const PREVIEWS: &[(&str, sp_runtime::Release)] = &[#(#previews),*];
    }
}

fn newest_release(newest: Release, has_availability: bool) -> TokenStream {
    let newest = release_expression(newest);
    let release_symbols = match has_availability {
        true => quote!(availability::RELEASE_SYMBOLS),
        false => quote!(&[]),
    };
    quote! {
        #[doc = " The newest final release from which this crate was generated."]
        pub const NEWEST: sp_runtime::Release = #newest;
        #[doc = " The releases from which this crate was generated, for the decision about a host."]
        pub static KNOWN_RELEASES: sp_runtime::KnownReleases = sp_runtime::KnownReleases {
            newest: NEWEST,
            previews: PREVIEWS,
            release_symbols: #release_symbols,
        };
    }
}

fn release_expression(release: Release) -> TokenStream {
    let arguments = arguments(release);
    quote!(sp_runtime::Release::new(#arguments))
}

fn module(name: &str, gate: Option<TokenStream>) -> TokenStream {
    let name = format_ident!("{name}");
    // prettyplease formats the module.
    quote!(#gate #[rustfmt::skip] pub mod #name;)
}

fn doc<'a>(apis: impl Iterator<Item = &'a Api>) -> Vec<String> {
    let mut lines = vec![
        "The C ABI of TensorFlow plugins: one module for each API, with the C names.".to_owned(),
        "A module exists if the feature of its name is enabled.".to_owned(),
        String::new(),
    ];
    lines.extend(apis.map(|api| format!("- `{}`: TensorFlow {}", api.name, api.release_name())));
    lines
}
