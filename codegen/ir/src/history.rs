//! The history of every item over the releases, as epochs: runs of releases in which an item's layout,
//! signature or values did not change.
//!
//! The history is computed from the [`Api`]s of the releases only. Differences without effect on a binary do
//! not end an epoch: aliases, constness, the type behind a `void*`, a member that was renamed at its offset,
//! and members that moved into an embedded struct at the same offsets. A release in which an item is absent
//! does not end an epoch either: the epoch's releases then have a gap.
//!
//! Fields appended under `struct_size` do not end an epoch, unless another struct contains the struct by value. Two
//! layouts that neither size nor version distinguishes need a `discriminator` in the notes, otherwise `generate`
//! fails.

mod equivalence;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Api, Discriminator, Field, Item, Layout, Release, Signature, Stated, StructSize, Type, Variant,
};
use equivalence::{Declared, ReleasePair};

/// A run of releases with an equal declaration of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch<T> {
    /// The minor releases in order; a gap is a release that lacks the item.
    pub releases: Vec<String>,
    /// The declaration, as in the last of the releases.
    pub shape: T,
    /// True if binaries that were built with the previous epoch do not work with this one. Appending fields to
    /// a struct breaks no binary, unless other structs embed it.
    pub breaks: bool,
}

impl<T> Epoch<T> {
    /// Returns the first release.
    pub fn first(&self) -> &str {
        self.releases.first().map_or("", String::as_str)
    }

    /// Returns the last release.
    pub fn last(&self) -> &str {
        self.releases.last().map_or("", String::as_str)
    }
}

/// The layout of a struct or union in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Record {
    /// True for a union.
    pub union: bool,
    /// Size and alignment in C.
    pub layout: Layout,
    /// Size in the `struct_size` protocol, if the struct takes part in that.
    pub struct_size: Option<StructSize>,
    /// The property that distinguishes its layouts of the same size.
    pub discriminator: Option<Discriminator>,
    /// The fields in order.
    pub fields: Vec<Field>,
}

impl Record {
    /// Returns the layout of a struct or union, or `None` for other items.
    pub fn from_item(item: &Item) -> Option<Self> {
        let value = |stated: &Option<Stated<Discriminator>>| stated.as_ref().map(|it| it.value);
        match item {
            Item::Struct(item) => Some(Self {
                union: false,
                layout: item.layout,
                struct_size: item.struct_size.clone(),
                discriminator: value(&item.discriminator),
                fields: item.fields.clone(),
            }),
            Item::Union(item) => Some(Self {
                union: true,
                layout: item.layout,
                struct_size: None,
                discriminator: value(&item.discriminator),
                fields: item.fields.clone(),
            }),
            _ => None,
        }
    }

    /// Returns the field `name`, or `None` if there is none.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the field of `newer` that is `field` of this record with another name at the same offset.
    /// A slot never counts as renamed: another name there means another function.
    pub fn renamed_field<'n>(&self, field: &Field, newer: &'n Record) -> Option<&'n Field> {
        if newer.field(&field.name).is_some() {
            return None;
        }
        newer.fields.iter().find(|other| {
            self.field(&other.name).is_none()
                && (other.offset, other.size) == (field.offset, field.size)
                && is_interchangeable(&field.ty, &other.ty)
        })
    }
}

/// Returns true if a renamed member may have changed from one of these types to the other.
fn is_interchangeable(old: &Type, new: &Type) -> bool {
    match (old, new) {
        (Type::Function(_), _) | (_, Type::Function(_)) => false,
        (Type::Pointer { .. }, Type::Pointer { .. }) => true,
        _ => old == new,
    }
}

/// The API and the kind of an item's declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Origin {
    /// The API whose header declares it.
    pub api: String,
    /// The item's kind: `struct`, `function`, ...
    pub kind: String,
    /// The name of the aliased type, if the item is an alias.
    pub alias_of: Option<String>,
}

/// Epochs by name.
pub type Epochs<T> = BTreeMap<String, Vec<Epoch<T>>>;

/// The epochs of all items. Fields have names of the form `Struct.field`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    /// All releases, oldest first.
    pub releases: Vec<String>,
    /// The releases that are not final, each with its exact version.
    pub previews: BTreeMap<String, String>,
    /// The APIs with the values of their version macros.
    pub apis: Epochs<Option<String>>,
    /// All items with their APIs and kinds.
    pub items: Epochs<Origin>,
    /// Structs and unions.
    pub structs: Epochs<Record>,
    /// Functions.
    pub functions: Epochs<Signature>,
    /// Typedefs of function pointers.
    pub callbacks: Epochs<Signature>,
    /// Function-typed fields, `Struct.field`.
    pub slots: Epochs<Signature>,
    /// All fields, `Struct.field`, compared by type. Their offsets belong to the struct's epochs.
    pub fields: Epochs<Field>,
    /// Enumerations.
    pub enums: Epochs<Vec<Variant>>,
    /// The first release that has each field, `Struct.field`.
    pub since: BTreeMap<String, String>,
}

impl History {
    /// Computes the history of any number of APIs and releases, in any order.
    pub fn from_apis(apis: &[Api]) -> Self {
        let mut history = Self {
            previews: previews(apis),
            ..Self::default()
        };
        let embedded = embedded_names(apis);
        let mut earlier: Option<Declared> = None;
        for release in releases(apis) {
            let declared = Declared::new(apis.iter().filter(|api| api.release == release));
            let step = Step {
                release,
                embedded: &embedded,
                pair: ReleasePair {
                    old: earlier.as_ref().unwrap_or(&declared),
                    new: &declared,
                },
            };
            history.add_release(&step);
            history.releases.push(release.into());
            // Removed items stay in `earlier`, to compare them with a declaration in a later release.
            earlier = Some(declared.with_earlier(earlier));
        }
        history
    }

    /// Returns the label of a release in tables: `2.21`, and `2.22*` for a preview.
    pub fn label(&self, release: &str) -> String {
        let mark = self.previews.contains_key(release).then_some("*");
        format!("{release}{}", mark.unwrap_or_default())
    }

    /// Returns the footnote for tables with previews, or `None` if there are no previews.
    pub fn footnote(&self) -> Option<String> {
        let exact: Vec<&str> = self.previews.values().map(String::as_str).collect();
        (!exact.is_empty()).then(|| format!("* preview: {}", exact.join(", ")))
    }

    /// Returns the pairs of epochs of a struct that a plugin cannot distinguish: their `struct_size` and the
    /// version of their API are equal or absent.
    pub fn indistinguishable(&self, name: &str) -> Vec<(&Epoch<Record>, &Epoch<Record>)> {
        let size = |epoch: &Epoch<Record>| epoch.shape.struct_size.as_ref().map(|size| size.value);
        let epochs = self.structs.get(name).map_or(&[][..], Vec::as_slice);
        let pairs = epochs.iter().enumerate().flat_map(|(index, old)| {
            let newer = &epochs[index + 1..];
            newer.iter().map(move |new| (old, new))
        });
        let indistinguishable = pairs.filter(|(old, new)| {
            let differs_in_version = self
                .versions(name, old, new)
                .is_some_and(|(old, new)| old != new);
            size(old) == size(new) && !differs_in_version
        });
        indistinguishable.collect()
    }

    /// Returns the values of the API's version macros at the end of one epoch of `name` and at the beginning of
    /// a later one, or `None` if the API has no such macros.
    pub fn versions<T>(&self, name: &str, old: &Epoch<T>, new: &Epoch<T>) -> Option<(&str, &str)> {
        let version = |release: &str| {
            let has = |releases: &[String]| releases.iter().any(|it| it == release);
            let mut origins = self.items.get(name)?.iter();
            let origin = origins.find(|epoch| has(&epoch.releases))?;
            let mut epochs = self.apis.get(&origin.shape.api)?.iter();
            epochs.find(|epoch| has(&epoch.releases))?.shape.as_deref()
        };
        Some((version(old.last())?, version(new.first())?))
    }

    fn add_release(&mut self, step: &Step) {
        let release = step.release;
        let signatures = |old: &Signature, new: &Signature| step.signatures(old, new);
        for (api, version) in &step.pair.new.apis {
            add_to_epochs(&mut self.apis, api, release, version.clone(), equal);
        }
        for (name, (api, item)) in &step.pair.new.items {
            add_to_epochs(&mut self.items, name, release, origin(api, item), equal);
            if let Some(record) = Record::from_item(item) {
                self.add_fields(name, &record, step);
                let records = |old: &Record, new: &Record| step.records(name, old, new);
                add_to_epochs(&mut self.structs, name, release, record, records);
            }
            match item {
                Item::Function(item) => {
                    let signature = item.signature.clone();
                    add_to_epochs(&mut self.functions, name, release, signature, signatures);
                }
                Item::Callback(item) => {
                    let signature = item.signature.clone();
                    add_to_epochs(&mut self.callbacks, name, release, signature, signatures);
                }
                Item::Enum(item) => {
                    add_to_epochs(
                        &mut self.enums,
                        name,
                        release,
                        item.variants.clone(),
                        values,
                    );
                }
                _ => {}
            }
        }
    }

    fn add_fields(&mut self, name: &str, record: &Record, step: &Step) {
        let release = step.release;
        for field in &record.fields {
            let full = format!("{name}.{}", field.name);
            if let Type::Function(signature) = &field.ty {
                let signatures = |old: &Signature, new: &Signature| step.signatures(old, new);
                let signature = (**signature).clone();
                add_to_epochs(&mut self.slots, &full, release, signature, signatures);
            }
            let types =
                |old: &Field, new: &Field| same_or_broken(step.pair.same_type(&old.ty, &new.ty));
            add_to_epochs(&mut self.fields, &full, release, field.clone(), types);
            self.since.entry(full).or_insert_with(|| release.into());
        }
    }
}

/// The change of an item from one release to the next.
enum Change {
    Same,
    /// Binaries that were built with the older release work with the newer one.
    Extended,
    Broken,
}

fn same_or_broken(same: bool) -> Change {
    match same {
        true => Change::Same,
        false => Change::Broken,
    }
}

fn equal<T: PartialEq>(old: &T, new: &T) -> Change {
    same_or_broken(old == new)
}

fn values(old: &Vec<Variant>, new: &Vec<Variant>) -> Change {
    match old.iter().all(|variant| new.contains(variant)) {
        _ if old == new => Change::Same,
        true => Change::Extended,
        false => Change::Broken,
    }
}

/// A release and its predecessor.
struct Step<'s, 'a> {
    release: &'a str,
    /// The names of types that others embed. If such a type grows, the types that embed it break.
    embedded: &'s BTreeSet<&'a str>,
    pair: ReleasePair<'s, 'a>,
}

impl Step<'_, '_> {
    fn signatures(&self, old: &Signature, new: &Signature) -> Change {
        same_or_broken(self.pair.same_signature(old, new))
    }

    fn records(&self, name: &str, old: &Record, new: &Record) -> Change {
        let has_grown = old.layout != new.layout;
        if self.pair.same_record(old, new) {
            Change::Same
        } else if self.pair.extends(old, new) && !(has_grown && self.embedded.contains(name)) {
            Change::Extended
        } else {
            Change::Broken
        }
    }
}

/// Returns the names of types that structs and unions embed, in any release.
fn embedded_names(apis: &[Api]) -> BTreeSet<&str> {
    let items = apis.iter().flat_map(|api| api.items.values());
    let names = items.filter_map(Item::fields).flatten();
    let names = names.filter_map(|field| match &field.ty {
        Type::Named(name) => Some(name.as_str()),
        Type::Array { elem, .. } => elem.named(),
        _ => None,
    });
    names.collect()
}

/// Returns the releases that are not final, each with its exact version.
fn previews(apis: &[Api]) -> BTreeMap<String, String> {
    let exact = |api: &Api| Some((api.release.clone(), api.preview.clone()?));
    apis.iter().filter_map(exact).collect()
}

/// Returns the releases of `apis`, oldest first; `2.10` comes after `2.9`.
fn releases(apis: &[Api]) -> Vec<&str> {
    let mut found: Vec<&str> = apis.iter().map(|api| api.release.as_str()).collect();
    found.sort_by_key(|text| text.parse::<Release>().ok());
    found.dedup();
    found
}

/// Adds `release` to the last epoch of `name` if there is no change, else begins another epoch.
fn add_to_epochs<T>(
    epochs: &mut Epochs<T>,
    name: &str,
    release: &str,
    shape: T,
    compare: impl Fn(&T, &T) -> Change,
) {
    let item_epochs = match epochs.get_mut(name) {
        Some(item_epochs) => item_epochs,
        None => epochs.entry(name.into()).or_default(),
    };
    let change = item_epochs.last().map(|last| compare(&last.shape, &shape));
    match (change, item_epochs.last_mut()) {
        (Some(Change::Same), Some(last)) => {
            last.releases.push(release.into());
            last.shape = shape;
        }
        (change, _) => item_epochs.push(Epoch {
            releases: vec![release.into()],
            shape,
            breaks: matches!(change, Some(Change::Broken)),
        }),
    }
}

fn origin(api: &str, item: &Item) -> Origin {
    let kind = match item {
        Item::Struct(_) => "struct",
        Item::Union(_) => "union",
        Item::Enum(_) => "enum",
        Item::Handle(_) => "handle",
        Item::Alias(_) => "alias",
        Item::Callback(_) => "callback",
        Item::Function(_) => "function",
        Item::Constant(_) => "constant",
    };
    let alias_of = item.as_alias().and_then(|alias| alias.ty.named());
    Origin {
        api: api.into(),
        kind: kind.into(),
        alias_of: alias_of.map(str::to_string),
    }
}

#[cfg(test)]
mod tests;
