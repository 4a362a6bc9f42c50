//! What became of every item over the releases, as epochs: runs of releases in which an item's
//! layout, signature or values stayed as they were.
//!
//! It is computed from the releases' [`Api`]s alone. Other names for the same thing are no change,
//! nor are constness, what a `void*` is said to point to, a member that only got another name where
//! it stood, and members that moved into a struct of their own without moving in memory. A release
//! in which an item is absent ends no epoch: the epoch's releases then have a gap.

mod alike;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Api, Discriminator, Field, Item, Layout, Release, Signature, Stated, StructSize, Type, Variant,
};
use alike::{Declared, Pair};

/// A run of releases and what held in all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch<T> {
    /// The minor releases in order; a gap is a release that lacks the item.
    pub releases: Vec<String>,
    /// What held, as the last of the releases words it.
    pub shape: T,
    /// Whether who was built with the epoch before goes wrong with this one. A struct that was only
    /// appended to breaks nobody, unless others hold it by value.
    pub breaks: bool,
}

impl<T> Epoch<T> {
    /// The release it began with.
    pub fn first(&self) -> &str {
        self.releases.first().map_or("", String::as_str)
    }

    /// The release it ended with.
    pub fn last(&self) -> &str {
        self.releases.last().map_or("", String::as_str)
    }
}

/// How a struct or union lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Record {
    /// Whether it is a union.
    pub union: bool,
    /// What the C compiler says.
    pub layout: Layout,
    /// What the `struct_size` protocol says, where the struct takes part in it.
    pub struct_size: Option<StructSize>,
    /// What tells its layouts apart where their sizes do not.
    pub discriminator: Option<Discriminator>,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

impl Record {
    /// The record that an item is, if it is one.
    pub fn of(item: &Item) -> Option<Self> {
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

    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field of `newer` that `field` of this record became under another name, without moving.
    /// Functions are not followed: another function in the same slot is another function.
    pub fn renamed<'n>(&self, field: &Field, newer: &'n Record) -> Option<&'n Field> {
        if newer.field(&field.name).is_some() {
            return None;
        }
        newer.fields.iter().find(|other| {
            self.field(&other.name).is_none()
                && (other.offset, other.size) == (field.offset, field.size)
                && interchangeable(&field.ty, &other.ty)
        })
    }
}

/// Whether a value of one type may stand for the other in a member that was only renamed.
fn interchangeable(old: &Type, new: &Type) -> bool {
    match (old, new) {
        (Type::Function(_), _) | (_, Type::Function(_)) => false,
        (Type::Pointer { .. }, Type::Pointer { .. }) => true,
        _ => old == new,
    }
}

/// Where an item is declared, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Origin {
    /// The API whose header has it.
    pub api: String,
    /// The item's kind: `struct`, `function`, ...
    pub kind: String,
    /// The name that it is another name for, where it is one.
    pub alias_of: Option<String>,
}

/// Epochs by name.
pub type Epochs<T> = BTreeMap<String, Vec<Epoch<T>>>;

/// The epochs of everything. Function-typed fields are called `Struct.field`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct History {
    /// The releases it is of, oldest first.
    pub releases: Vec<String>,
    /// The releases that are not final, each with its exact version.
    pub previews: BTreeMap<String, String>,
    /// The APIs and what their version macros said.
    pub apis: Epochs<Option<String>>,
    /// Every item: where it is declared, and as what.
    pub items: Epochs<Origin>,
    /// Structs and unions.
    pub structs: Epochs<Record>,
    /// Functions.
    pub functions: Epochs<Signature>,
    /// Typedefs of function pointers.
    pub callbacks: Epochs<Signature>,
    /// Function-typed fields.
    pub slots: Epochs<Signature>,
    /// Every field, `Struct.field`, by its type; where it stands is the struct's to say.
    pub fields: Epochs<Field>,
    /// Enumerations.
    pub enums: Epochs<Vec<Variant>>,
    /// Each field, `Struct.field`, to the first release that has it.
    pub since: BTreeMap<String, String>,
}

impl History {
    /// The history that `apis` tell: any number of APIs of any number of releases, in any order.
    pub fn of(apis: &[Api]) -> Self {
        let mut history = Self {
            previews: previews(apis),
            ..Self::default()
        };
        let held = held_by_value(apis);
        let mut before: Option<Declared> = None;
        for release in releases(apis) {
            let of_release = apis.iter().filter(|api| api.release == release);
            let now = Declared::of(of_release);
            let step = Step {
                release,
                held: &held,
                pair: Pair {
                    old: before.as_ref().unwrap_or(&now),
                    new: &now,
                },
            };
            history.take(&step);
            history.releases.push(release.into());
            // What went is remembered, so that it is recognised when it comes again.
            before = Some(now.over(before));
        }
        history
    }

    /// Returns a release as tables name it: `2.21`, and `2.22*` for a preview.
    pub fn label(&self, release: &str) -> String {
        let mark = self.previews.contains_key(release).then_some("*");
        format!("{release}{}", mark.unwrap_or_default())
    }

    /// Returns the footnote of tables that label a preview, or `None` if there is none.
    pub fn footnote(&self) -> Option<String> {
        let exact: Vec<&str> = self.previews.values().map(String::as_str).collect();
        (!exact.is_empty()).then(|| format!("* preview: {}", exact.join(", ")))
    }

    /// The epochs of a struct that nothing in the struct tells apart, two at a time: they have one
    /// `struct_size` or none, and their API has one version or none.
    pub fn indistinguishable(&self, name: &str) -> Vec<(&Epoch<Record>, &Epoch<Record>)> {
        let size = |epoch: &Epoch<Record>| epoch.shape.struct_size.as_ref().map(|size| size.value);
        let epochs = self.structs.get(name).map_or(&[][..], Vec::as_slice);
        let pairs = epochs.iter().enumerate().flat_map(|(index, old)| {
            let newer = &epochs[index + 1..];
            newer.iter().map(move |new| (old, new))
        });
        let alike = pairs.filter(|(old, new)| {
            let told = self
                .versions(name, old, new)
                .is_some_and(|(old, new)| old != new);
            size(old) == size(new) && !told
        });
        alike.collect()
    }

    /// What the API's version macros said at the end of one epoch of `name` and at the beginning of a
    /// later one, where it has such macros.
    pub fn versions<T>(&self, name: &str, old: &Epoch<T>, new: &Epoch<T>) -> Option<(&str, &str)> {
        let version = |release: &str| {
            let has = |releases: &[String]| releases.iter().any(|one| one == release);
            let mut origins = self.items.get(name)?.iter();
            let origin = origins.find(|one| has(&one.releases))?;
            let mut epochs = self.apis.get(&origin.shape.api)?.iter();
            epochs.find(|one| has(&one.releases))?.shape.as_deref()
        };
        Some((version(old.last())?, version(new.first())?))
    }

    fn take(&mut self, step: &Step) {
        let release = step.release;
        let signatures = |old: &Signature, new: &Signature| step.signatures(old, new);
        for (api, version) in &step.pair.new.apis {
            grow(&mut self.apis, api, release, version.clone(), equal);
        }
        for (name, (api, item)) in &step.pair.new.items {
            grow(&mut self.items, name, release, origin(api, item), equal);
            if let Some(record) = Record::of(item) {
                self.take_fields(name, &record, step);
                let records = |old: &Record, new: &Record| step.records(name, old, new);
                grow(&mut self.structs, name, release, record, records);
            }
            match item {
                Item::Function(item) => {
                    let signature = item.signature.clone();
                    grow(&mut self.functions, name, release, signature, signatures);
                }
                Item::Callback(item) => {
                    let signature = item.signature.clone();
                    grow(&mut self.callbacks, name, release, signature, signatures);
                }
                Item::Enum(item) => {
                    grow(
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

    fn take_fields(&mut self, name: &str, record: &Record, step: &Step) {
        let release = step.release;
        for field in &record.fields {
            let full = format!("{name}.{}", field.name);
            if let Type::Function(signature) = &field.ty {
                let signatures = |old: &Signature, new: &Signature| step.signatures(old, new);
                let signature = (**signature).clone();
                grow(&mut self.slots, &full, release, signature, signatures);
            }
            let types =
                |old: &Field, new: &Field| same_or_broken(step.pair.same_type(&old.ty, &new.ty));
            grow(&mut self.fields, &full, release, field.clone(), types);
            self.since.entry(full).or_insert_with(|| release.into());
        }
    }
}

/// What became of something from one release to the next.
enum Change {
    Same,
    /// Older programs live with it.
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
    match old.iter().all(|one| new.contains(one)) {
        _ if old == new => Change::Same,
        true => Change::Extended,
        false => Change::Broken,
    }
}

/// One release after the one before it.
struct Step<'s, 'a> {
    release: &'a str,
    /// The names that others hold by value: where one of them grows, what holds it breaks.
    held: &'s BTreeSet<&'a str>,
    pair: Pair<'s, 'a>,
}

impl Step<'_, '_> {
    fn signatures(&self, old: &Signature, new: &Signature) -> Change {
        same_or_broken(self.pair.signatures(old, new))
    }

    fn records(&self, name: &str, old: &Record, new: &Record) -> Change {
        let grew = old.layout != new.layout;
        if self.pair.records(old, new) {
            Change::Same
        } else if self.pair.extends(old, new) && !(grew && self.held.contains(name)) {
            Change::Extended
        } else {
            Change::Broken
        }
    }
}

/// The names that structs and unions hold by value, in any release.
fn held_by_value(apis: &[Api]) -> BTreeSet<&str> {
    let items = apis.iter().flat_map(|api| api.items.values());
    let fields = items.flat_map(|item| match item {
        Item::Struct(item) => &item.fields[..],
        Item::Union(item) => &item.fields[..],
        _ => &[],
    });
    let held = fields.filter_map(|field| match &field.ty {
        Type::Named(name) => Some(name.as_str()),
        Type::Array { elem, .. } => elem.named(),
        _ => None,
    });
    held.collect()
}

/// The releases that are not final, each with its exact version.
fn previews(apis: &[Api]) -> BTreeMap<String, String> {
    let exact = |api: &Api| Some((api.release.clone(), api.preview.clone()?));
    apis.iter().filter_map(exact).collect()
}

/// The releases that occur, oldest first; `2.10` comes after `2.9`.
fn releases(apis: &[Api]) -> Vec<&str> {
    let mut found: Vec<&str> = apis.iter().map(|api| api.release.as_str()).collect();
    found.sort_by_key(|text| text.parse::<Release>().ok());
    found.dedup();
    found
}

/// Lengthens the last epoch of `name` where nothing changed, else begins another.
fn grow<T>(
    epochs: &mut Epochs<T>,
    name: &str,
    release: &str,
    shape: T,
    judge: impl Fn(&T, &T) -> Change,
) {
    let runs = match epochs.get_mut(name) {
        Some(runs) => runs,
        None => epochs.entry(name.into()).or_default(),
    };
    let change = runs.last().map(|last| judge(&last.shape, &shape));
    match (change, runs.last_mut()) {
        (Some(Change::Same), Some(last)) => {
            last.releases.push(release.into());
            last.shape = shape;
        }
        (change, _) => runs.push(Epoch {
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
    let alias_of = match item {
        Item::Alias(alias) => alias.ty.named().map(str::to_string),
        _ => None,
    };
    Origin {
        api: api.into(),
        kind: kind.into(),
        alias_of,
    }
}

#[cfg(test)]
mod tests;
