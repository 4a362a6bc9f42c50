//! The wheels that export each function, as data. `availability::LIKE_TF_X` is one static for all functions
//! that the same wheels export, named after the first of them.

use std::ffi::CString;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_data::symbols::runs;
use sp_data::symbols::table::Table;
use sp_expand::ident;

use super::releases::arguments;
use super::source_file;
use crate::model::exports::{ExportingReleases, Exports, releases_of};

/// The first lines of the file.
const DOC: [&str; 2] = [
    "The wheels that export each function. One static serves all functions that the same wheels",
    "export; it is named after the first of them. A wheel that is not listed is not known.",
];

/// Prints the call `.with_availability(..)` for a function; `None` if nothing is known about it.
pub fn builder_call(symbol: &str, exports: &Exports<'_>) -> Option<TokenStream> {
    let name = static_name(exports.first_function(symbol)?);
    Some(quote!(.with_availability(&crate::availability::#name)))
}

/// Prints the file `availability.rs`, or returns `None` if no exports are known.
pub fn print(exports: &Exports<'_>) -> Option<(String, String)> {
    exports.sets().next()?;
    let text = source_file::print(&DOC.map(str::to_owned), items(exports));
    Some(("src/availability.rs".to_owned(), text))
}

fn items(exports: &Exports<'_>) -> TokenStream {
    let wheel_sets = exports.tables().iter().map(|table| wheel_set(table));
    let statics = exports
        .sets()
        .map(|(exporting, first)| availability(exporting, first, exports));
    let release_symbols = exports.sets().map(|(_, first)| release_symbol(first));
    let functions = exports.functions().map(|(name, first)| {
        let (first, name) = (static_name(first), ident(name));
        quote!(pub use super::#first as #name;)
    });
    quote! {
        use sp_runtime::ReleaseSymbol;
        use sp_runtime::availability::{Availability, Exports, WheelSet};

        /// Functions whose presence in a process limits the possible releases, for hosts that do not
        /// state their release.
        pub static RELEASE_SYMBOLS: &[ReleaseSymbol] = &[#(#release_symbols),*];

        /// The availability of each function, by the function's name.
        pub mod functions {
            #(#functions)*
        }
        #(#wheel_sets)*
        #(#statics)*
    }
}

/// Prints the static of a set of functions.
fn availability(exporting: &ExportingReleases, first: &str, exports: &Exports<'_>) -> TokenStream {
    let others = exports.functions().filter(|(_, it)| *it == first).count() - 1;
    let doc = match others {
        0 => format!(" The wheels that export `{first}`."),
        1 => format!(" The wheels that export `{first}` and 1 more function."),
        _ => format!(" The wheels that export `{first}` and {others} more functions."),
    };
    let name = static_name(first);
    let tables = exports.tables().iter().zip(exporting);
    let exports = tables.map(|(table, exporting)| {
        let wheels = wheel_set_name(table);
        let spans = runs::from_set(exporting, &releases_of(table));
        let spans = spans.iter().map(|(first, last)| {
            let (first, last) = (arguments(*first), arguments(*last));
            quote!(((#first), (#last)))
        });
        quote!(Exports { wheels: &#wheels, spans: &[#(#spans),*] })
    });
    quote! {
        #[doc = #doc]
        pub static #name: Availability = Availability(&[#(#exports),*]);
    }
}

fn release_symbol(function: &str) -> TokenStream {
    let symbol = Literal::c_string(&CString::new(function).unwrap_or_default());
    let availability = static_name(function);
    quote!(ReleaseSymbol { symbol: #symbol, availability: &#availability })
}

fn wheel_set(table: &Table) -> TokenStream {
    let (package, platform) = (&table.package, table.platform.triple());
    let name = wheel_set_name(table);
    let releases = releases_of(table).into_iter().map(arguments);
    let doc = format!(" The known wheels of `{package}` for {platform}.");
    quote! {
        #[doc = #doc]
        pub static #name: WheelSet = WheelSet {
            package: #package,
            platform: #platform,
            releases: &[#((#releases)),*],
        };
    }
}

/// Returns `TENSORFLOW_CPU_X86_64_UNKNOWN_LINUX_GNU`.
fn wheel_set_name(table: &Table) -> Ident {
    let name = format!("{}-{}", table.package, table.platform);
    format_ident!("{}", name.replace('-', "_").to_uppercase())
}

fn static_name(function: &str) -> Ident {
    ident(&format!("LIKE_{function}"))
}
