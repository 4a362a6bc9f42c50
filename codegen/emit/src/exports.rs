//! Who exports the functions, as data: `availability::LIKE_TF_X`, one static for all functions that
//! stand in the same wheels, named after the first of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ty::ident;
use sp_ir::{Api, Item, Side};

use super::page;
use crate::minor::FIRST_LOADER;
use sp_data::release::Release;
use sp_data::symbols::table::Table;
use sp_data::symbols::{Symbols, runs};

/// For each table, the releases that export a function.
type Set = Vec<BTreeSet<Release>>;

/// Where the functions of all APIs are exported.
pub struct Exports<'a> {
    /// What was read the furthest back comes first.
    tables: Vec<&'a Table>,
    of: BTreeMap<&'a str, Set>,
    /// Each set, and the first function that has it.
    sets: BTreeMap<Set, &'a str>,
}

impl<'a> Exports<'a> {
    /// What `symbols` tell of the functions that core exports.
    pub fn of(apis: &'a [Api], symbols: &'a Symbols) -> Self {
        let mut tables: Vec<&Table> = symbols.tables().iter().collect();
        tables.sort_by_key(|table| (known(table).first().copied(), &table.package));
        let functions = apis.iter().flat_map(|api| api.items.values());
        let names = functions.filter_map(|item| match item {
            Item::Function(item) if !item.inline => {
                let by = item.exported_by.as_ref().map(|by| by.value);
                (by != Some(Side::Plugin)).then_some(item.symbol.as_str())
            }
            _ => None,
        });
        let set = |name: &str| -> Set {
            let exported = tables.iter().map(|table| table.libraries(name));
            exported.map(|by| by.into_keys().collect()).collect()
        };
        let of: BTreeMap<&str, Set> = match tables.is_empty() {
            true => BTreeMap::new(),
            false => names.map(|name| (name, set(name))).collect(),
        };
        let mut sets = BTreeMap::new();
        for (name, set) in &of {
            sets.entry(set.clone()).or_insert(*name);
        }
        Self { tables, of, sets }
    }

    /// `.exported(..)` of a function, where something is known.
    pub fn attach(&self, symbol: &str) -> Option<TokenStream> {
        let like = like(self.sets.get(self.of.get(symbol)?)?);
        Some(quote!(.with_availability(&crate::availability::#like)))
    }

    /// `Exported by tensorflow-cpu 2.6 to 2.18, tensorflow in 2.19.`
    pub fn told(&self, symbol: &str) -> Option<String> {
        let set = self.of.get(symbol)?;
        let mut told: Vec<(String, Vec<&Table>)> = Vec::new();
        for (table, exporting) in self.tables.iter().zip(set) {
            let words = format!("{} {}", table.package, self.words(table, exporting));
            match told.iter_mut().find(|(other, _)| *other == words) {
                _ if exporting.is_empty() => {}
                Some((_, tables)) => tables.push(table),
                None => told.push((words, vec![table])),
            }
        }
        let told: Vec<String> = told
            .into_iter()
            .map(|(words, tables)| words + &self.where_not_everywhere(&tables))
            .collect();
        Some(match told.is_empty() {
            true => "Exported by no wheel that was read.".to_owned(),
            false => format!("Exported by {}.", told.join(", ")),
        })
    }

    /// `2.6 to 2.18`, `2.5 on`; of a package that was read of late only, that it always does.
    fn words(&self, table: &Table, exporting: &BTreeSet<Release>) -> String {
        let (known, oldest) = (known(table), self.tables.first().map(|it| known(it)));
        let first_of = |known: &BTreeSet<Release>| known.first().copied();
        let is_late = oldest.as_ref().and_then(first_of) < first_of(&known);
        if *exporting == known && is_late {
            return format!("in all that was read ({})", runs::format(&known, &known));
        }
        let word = |(first, last): (Release, Release)| match () {
            () if first == last => format!("in {first}"),
            () if Some(&last) == known.last() => format!("{first} on"),
            () => format!("{first} to {last}"),
        };
        let runs = runs::from_set(exporting, &known).into_iter();
        runs.map(word).collect::<Vec<_>>().join(" and ")
    }

    /// The platforms, unless they are all that were read of the package.
    fn where_not_everywhere(&self, tables: &[&Table]) -> String {
        let package = |table: &&&Table| table.package == tables[0].package;
        if self.tables.iter().filter(package).count() == tables.len() {
            return String::new();
        }
        let platforms: Vec<&str> = tables.iter().map(|it| it.platform.triple()).collect();
        format!(" on {}", platforms.join(" and "))
    }

    /// The release from which on every wheel that was read exports it; nothing where the newest of
    /// some package does not.
    pub fn always_since(&self, symbol: &str) -> Option<Release> {
        let Some(set) = self.of.get(symbol) else {
            return self.loaders().next();
        };
        let each = self.tables.iter().zip(set);
        let lacking: BTreeSet<Release> = each
            .flat_map(|(table, exporting)| {
                known(table)
                    .into_iter()
                    .filter(|it| !exporting.contains(it))
            })
            .collect();
        match lacking.last() {
            Some(last) => self.loaders().find(|release| release > last),
            None => self.loaders().next(),
        }
    }

    /// The releases that load plugins, as far as a wheel of each was read.
    fn loaders(&self) -> impl Iterator<Item = Release> {
        let read: BTreeSet<Release> = self.tables.iter().flat_map(|it| known(it)).collect();
        let loads = |release: &Release| (release.major, release.minor) >= FIRST_LOADER;
        read.into_iter().filter(loads)
    }

    /// One function of each kind, and the releases among which every one is that exports it anywhere;
    /// a last one only where none goes on.
    pub fn marks(&self) -> Vec<(&'a str, Release, Option<Release>)> {
        let mark = |(set, name): (&Set, &&'a str)| {
            let first = set.iter().filter_map(BTreeSet::first).min()?;
            let last = set.iter().filter_map(BTreeSet::last).max()?;
            let mut each = self
                .tables
                .iter()
                .zip(set)
                .filter(|(_, set)| !set.is_empty());
            let goes_on = each.any(|(table, set)| known(table).last() == set.last());
            Some((*name, *first, (!goes_on).then_some(*last)))
        };
        self.sets.iter().filter_map(mark).collect()
    }

    /// The module, if it has anything.
    pub fn file(&self) -> Option<(String, String)> {
        let docs = [
            "Which wheels export which functions. One static for all functions that the same wheels",
            "export, named after the first of them; a wheel that is not listed was not read.",
        ];
        let wheels = self.tables.iter().map(|table| wheels(table));
        let sets = self.sets.iter().map(|(set, name)| self.set(set, name));
        let marks = self.sets.values().map(|name| mark(name));
        let each = self.of.iter().filter_map(|(name, set)| {
            let (like, name) = (like(self.sets.get(set)?), ident(name));
            Some(quote!(pub use super::#like as #name;))
        });
        let items = quote! {
            use sp_runtime::ReleaseSymbol;
            use sp_runtime::availability::{Availability, Exports, WheelSet};

            /// One function of each kind: which of them a process has tells its release, where
            /// nothing else does.
            pub static RELEASE_SYMBOLS: &[ReleaseSymbol] = &[#(#marks),*];

            /// Each function's by the function's name.
            pub mod functions {
                #(#each)*
            }
            #(#wheels)*
            #(#sets)*
        };
        (!self.sets.is_empty()).then(|| {
            let text = page::print(&docs.map(str::to_owned), items);
            ("src/availability.rs".to_owned(), text)
        })
    }

    fn set(&self, set: &Set, first: &str) -> TokenStream {
        let alike = self.of.values().filter(|other| *other == set).count();
        let doc = match alike {
            1 => format!(" Where `{first}` is exported."),
            _ => format!(
                " Where `{first}` and {} more functions are exported.",
                alike - 1
            ),
        };
        let like = like(first);
        let exports = self.tables.iter().zip(set).map(|(table, exporting)| {
            let wheels = constant(table);
            let spans = runs::from_set(exporting, &known(table));
            let spans = spans.iter().map(|(first, last)| {
                let (first, last) = (minor(*first), minor(*last));
                quote!((#first, #last))
            });
            quote!(Exports { wheels: &#wheels, spans: &[#(#spans),*] })
        });
        quote! {
            #[doc = #doc]
            pub static #like: Availability = Availability(&[#(#exports),*]);
        }
    }
}

fn mark(function: &str) -> TokenStream {
    let symbol = Literal::c_string(&CString::new(function).unwrap_or_default());
    let like = like(function);
    quote!(ReleaseSymbol { symbol: #symbol, availability: &#like })
}

fn wheels(table: &Table) -> TokenStream {
    let (name, package, platform) = (constant(table), &table.package, table.platform.triple());
    let read = known(table).into_iter().map(minor);
    let doc = format!(" `{package}` for {platform}, as far as it was read.");
    quote! {
        #[doc = #doc]
        pub static #name: WheelSet = WheelSet {
            package: #package,
            platform: #platform,
            releases: &[#(#read),*],
        };
    }
}

fn known(table: &Table) -> BTreeSet<Release> {
    table.wheel_names().keys().copied().collect()
}

fn minor(release: Release) -> TokenStream {
    let (major, minor) = (
        Literal::u32_unsuffixed(release.major),
        Literal::u32_unsuffixed(release.minor),
    );
    quote!((#major, #minor))
}

/// `TENSORFLOW_CPU_X86_64_UNKNOWN_LINUX_GNU`
fn constant(table: &Table) -> Ident {
    let name = format!("{}-{}", table.package, table.platform);
    format_ident!("{}", name.replace('-', "_").to_uppercase())
}

fn like(function: &str) -> Ident {
    ident(&format!("LIKE_{function}"))
}
