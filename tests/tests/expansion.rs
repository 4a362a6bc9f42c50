//! Golden files of the macros' expansions, pretty-printed. `SP_BLESS=1 cargo test -p sp-tests` rewrites
//! them; read the difference before you commit it.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::ToTokens;

type Expand = fn(TokenStream) -> syn::Result<TokenStream>;

/// Each input `tests/expansion/<name>.rs`, with the macro that expands it.
const CASES: [(&str, Expand); 5] = [
    ("abi", sp_expand::derive),
    ("attributes", sp_expand::attributes),
    ("forward_slots", sp_expand::forward_slots),
    ("kernel", kernel),
    ("op", op),
];

fn kernel(input: TokenStream) -> syn::Result<TokenStream> {
    expand_attribute(input, sp_expand::kernel)
}

fn op(input: TokenStream) -> syn::Result<TokenStream> {
    expand_attribute(input, sp_expand::op)
}

/// Expands the first attribute of a function.
fn expand_attribute(
    input: TokenStream,
    expand: fn(TokenStream, TokenStream) -> syn::Result<TokenStream>,
) -> syn::Result<TokenStream> {
    let mut function: syn::ItemFn = syn::parse2(input)?;
    let attribute = function.attrs.remove(0);
    let arguments = attribute.meta.require_list()?.tokens.clone();
    expand(arguments, function.into_token_stream())
}

#[test]
fn expansions_match_golden_files() {
    let folder = sp_tests::root().join("tests/expansion");
    for (name, expand) in CASES {
        let input = fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
        let expanded = pretty(expand(input.parse().unwrap()).unwrap());
        check_golden(&folder.join(format!("{name}.expanded.rs")), &expanded);
    }
}

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

fn check_golden(golden: &Path, expanded: &str) {
    if std::env::var_os("SP_BLESS").is_some() {
        fs::write(golden, expanded).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(expected.as_str(), expanded);
    assert!(
        expected == expanded,
        "{}:\n{}",
        golden.display(),
        difference.unified_diff()
    );
}
