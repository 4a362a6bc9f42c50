//! The wheels that export each function, as data. `availability::LIKE_TF_X` is one static for all functions
//! that the same wheels export, named after the first of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ty::ident;
use sp_ir::{Api, Item, Release, Side};

use super::source_file;
use crate::releases::arguments;
use sp_data::symbols::table::Table;
use sp_data::symbols::{Symbols, runs};

/// For each table, the releases that export a function.
type ExportingReleases = Vec<BTreeSet<Release>>;

/// The wheels that export the functions of all APIs.
pub struct Exports<'a> {
    /// The tables, that with the oldest release first.
    tables: Vec<&'a Table>,
    by_function: BTreeMap<&'a str, ExportingReleases>,
    /// The first function of each set of exporting releases.
    first_functions: BTreeMap<ExportingReleases, &'a str>,
}

impl<'a> Exports<'a> {
    /// Collects the exports of TensorFlow's functions from `symbols`.
    pub fn collect(apis: &'a [Api], symbols: &'a Symbols) -> Self {
        let mut tables: Vec<&Table> = symbols.tables().iter().collect();
        tables.sort_by_key(|table| (releases_of(table).first().copied(), &table.package));
        let functions = apis.iter().flat_map(|api| api.items.values());
        let names = functions.filter_map(|item| match item {
            Item::Function(item) if !item.inline => {
                let by = item.exported_by.as_ref().map(|by| by.value);
                (by != Some(Side::Plugin)).then_some(item.symbol.as_str())
            }
            _ => None,
        });
        let exporting = |name: &str| -> ExportingReleases {
            let libraries = tables.iter().map(|table| table.libraries(name));
            libraries.map(|it| it.into_keys().collect()).collect()
        };
        let by_function: BTreeMap<&str, ExportingReleases> = match tables.is_empty() {
            true => BTreeMap::new(),
            false => names.map(|name| (name, exporting(name))).collect(),
        };
        let mut first_functions = BTreeMap::new();
        for (name, exporting) in &by_function {
            first_functions.entry(exporting.clone()).or_insert(*name);
        }
        Self {
            tables,
            by_function,
            first_functions,
        }
    }

    /// Prints the call `.with_availability(..)` for a function; `None` if nothing is known about it.
    pub fn builder_call(&self, symbol: &str) -> Option<TokenStream> {
        let exporting = self.by_function.get(symbol)?;
        let name = static_name(self.first_functions.get(exporting)?);
        Some(quote!(.with_availability(&crate::availability::#name)))
    }

    /// Returns a sentence such as `Exported by tensorflow-cpu from 2.6 to 2.18, tensorflow in 2.19.`
    pub fn describe(&self, symbol: &str) -> Option<String> {
        let exporting = self.by_function.get(symbol)?;
        let mut groups: Vec<(String, Vec<&Table>)> = Vec::new();
        for (table, exporting) in self.tables.iter().zip(exporting) {
            let text = format!("{} {}", table.package, self.releases_text(table, exporting));
            match groups.iter_mut().find(|(other, _)| *other == text) {
                _ if exporting.is_empty() => {}
                Some((_, tables)) => tables.push(table),
                None => groups.push((text, vec![table])),
            }
        }
        let groups: Vec<String> = groups
            .into_iter()
            .map(|(text, tables)| text + &self.platforms_text(&tables))
            .collect();
        Some(match groups.is_empty() {
            true => "No known wheel exports it.".to_owned(),
            false => format!("Exported by {}.", groups.join(", ")),
        })
    }

    /// Returns `from 2.6 to 2.18` or `from 2.5 on`. If only newer releases of a package are known and all of them
    /// export the function, returns `in all known releases (2.19-2.22)`.
    fn releases_text(&self, table: &Table, exporting: &BTreeSet<Release>) -> String {
        let known = releases_of(table);
        let oldest_table = self.tables.first().map(|it| releases_of(it));
        let first_of = |known: &BTreeSet<Release>| known.first().copied();
        let starts_later = oldest_table.as_ref().and_then(first_of) < first_of(&known);
        if *exporting == known && starts_later {
            return format!("in all known releases ({})", runs::write(&known, &known));
        }
        let text = |(first, last): (Release, Release)| match () {
            () if first == last => format!("in {first}"),
            () if Some(&last) == known.last() => format!("from {first} on"),
            () => format!("from {first} to {last}"),
        };
        let runs = runs::of(exporting, &known).into_iter();
        runs.map(text).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the platforms of the tables, or an empty text if they are all tables of the package.
    fn platforms_text(&self, tables: &[&Table]) -> String {
        let is_same_package = |table: &&&Table| table.package == tables[0].package;
        if self.tables.iter().filter(is_same_package).count() == tables.len() {
            return String::new();
        }
        let platforms: Vec<&str> = tables.iter().map(|it| it.platform.triple()).collect();
        format!(" on {}", platforms.join(" and "))
    }

    /// Returns the release from which on every known wheel exports the function, or `None` if the newest
    /// release of some package does not.
    pub fn always_since(&self, symbol: &str) -> Option<Release> {
        let Some(exporting) = self.by_function.get(symbol) else {
            return self.supported_releases().next();
        };
        let tables = self.tables.iter().zip(exporting);
        let lacking: BTreeSet<Release> = tables
            .flat_map(|(table, exporting)| {
                releases_of(table)
                    .into_iter()
                    .filter(|it| !exporting.contains(it))
            })
            .collect();
        match lacking.last() {
            Some(last) => self.supported_releases().find(|release| release > last),
            None => self.supported_releases().next(),
        }
    }

    /// Returns the releases that load plugins and of which a wheel is known.
    fn supported_releases(&self) -> impl Iterator<Item = Release> {
        let known: BTreeSet<Release> = self.tables.iter().flat_map(|it| releases_of(it)).collect();
        let is_supported = |release: &Release| *release >= Release::FIRST_SUPPORTED;
        known.into_iter().filter(is_supported)
    }

    /// Returns one function of each set, with the first and last release of any package that exports it. The
    /// last release is `None` if the newest release of some package exports the function.
    pub fn release_symbols(&self) -> Vec<(&'a str, Release, Option<Release>)> {
        let release_symbol = |(exporting, name): (&ExportingReleases, &&'a str)| {
            let first = exporting.iter().filter_map(BTreeSet::first).min()?;
            let last = exporting.iter().filter_map(BTreeSet::last).max()?;
            let mut tables = self
                .tables
                .iter()
                .zip(exporting)
                .filter(|(_, exporting)| !exporting.is_empty());
            let is_open =
                tables.any(|(table, exporting)| releases_of(table).last() == exporting.last());
            Some((*name, *first, (!is_open).then_some(*last)))
        };
        self.first_functions
            .iter()
            .filter_map(release_symbol)
            .collect()
    }

    /// Returns the file `availability.rs`, or `None` if no exports are known.
    pub fn file(&self) -> Option<(String, String)> {
        let docs = [
            "The wheels that export each function. One static serves all functions that the same wheels",
            "export; it is named after the first of them. A wheel that is not listed is not known.",
        ];
        let wheel_sets = self.tables.iter().map(|table| wheel_set(table));
        let statics = self
            .first_functions
            .iter()
            .map(|(exporting, name)| self.availability(exporting, name));
        let release_symbols = self
            .first_functions
            .values()
            .map(|name| release_symbol(name));
        let functions = self.by_function.iter().filter_map(|(name, exporting)| {
            let first = static_name(self.first_functions.get(exporting)?);
            let name = ident(name);
            Some(quote!(pub use super::#first as #name;))
        });
        let items = quote! {
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
        };
        (!self.first_functions.is_empty()).then(|| {
            let text = source_file::print(&docs.map(str::to_owned), items);
            ("src/availability.rs".to_owned(), text)
        })
    }

    fn availability(&self, exporting: &ExportingReleases, first: &str) -> TokenStream {
        let functions = self.by_function.values();
        let count = functions.filter(|other| *other == exporting).count();
        let doc = match count {
            1 => format!(" The wheels that export `{first}`."),
            2 => format!(" The wheels that export `{first}` and 1 more function."),
            _ => format!(
                " The wheels that export `{first}` and {} more functions.",
                count - 1
            ),
        };
        let name = static_name(first);
        let exports = self.tables.iter().zip(exporting).map(|(table, exporting)| {
            let wheels = wheel_set_name(table);
            let spans = runs::of(exporting, &releases_of(table));
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

fn releases_of(table: &Table) -> BTreeSet<Release> {
    table.wheels().keys().copied().collect()
}

/// Returns `TENSORFLOW_CPU_X86_64_UNKNOWN_LINUX_GNU`.
fn wheel_set_name(table: &Table) -> Ident {
    let name = format!("{}-{}", table.package, table.platform);
    format_ident!("{}", name.replace('-', "_").to_uppercase())
}

fn static_name(function: &str) -> Ident {
    ident(&format!("LIKE_{function}"))
}
