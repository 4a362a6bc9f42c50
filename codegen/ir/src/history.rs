//! What became of every item over the releases, as epochs: runs of releases in which an item's
//! layout, signature or values stayed as they were.
//!
//! It is computed from the releases' [`Api`]s alone. Other names for the same thing are no change,
//! nor are constness, what a `void*` is said to point to, a member that only got another name where
//! it stood, and members that moved into a struct of their own without moving in memory. A release
//! in which an item is absent ends no epoch: the epoch's releases then have a gap.

mod alike;

use std::collections::BTreeMap;

use crate::{Api, Field, Item, Layout, Signature, StructSize, Type, Variant};
use alike::{Declared, Pair};

/// A run of releases and what held in all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch<T> {
    /// The minor releases in order; a gap is a release that lacks the item.
    pub releases: Vec<String>,
    /// What held, as the last of the releases words it.
    pub shape: T,
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
    /// Its fields in order.
    pub fields: Vec<Field>,
}

impl Record {
    /// The record that an item is, if it is one.
    pub fn of(item: &Item) -> Option<Self> {
        match item {
            Item::Struct(item) => Some(Self {
                union: false,
                layout: item.layout,
                struct_size: item.struct_size.clone(),
                fields: item.fields.clone(),
            }),
            Item::Union(item) => Some(Self {
                union: true,
                layout: item.layout,
                struct_size: None,
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
        let mut history = Self::default();
        let mut before: Option<Declared> = None;
        for release in releases(apis) {
            let of_release = apis.iter().filter(|api| api.release == release);
            let now = Declared::of(of_release);
            history.take(release, &now, before.as_ref());
            history.releases.push(release.into());
            // What went is remembered, so that it is recognised when it comes again.
            before = Some(now.over(before));
        }
        history
    }

    fn take<'a>(&mut self, release: &'a str, now: &Declared<'a>, before: Option<&Declared<'a>>) {
        let pair = Pair {
            old: before.unwrap_or(now),
            new: now,
        };
        let alike = |old: &Signature, new: &Signature| pair.signatures(old, new);
        for (api, version) in &now.apis {
            grow(&mut self.apis, api, release, version.clone(), PartialEq::eq);
        }
        for (name, (api, item)) in &now.items {
            grow(
                &mut self.items,
                name,
                release,
                origin(api, item),
                PartialEq::eq,
            );
            if let Some(record) = Record::of(item) {
                self.take_fields(name, release, &record, &pair);
                grow(&mut self.structs, name, release, record, |old, new| {
                    pair.records(old, new)
                });
            }
            match item {
                Item::Function(item) => {
                    let signature = item.signature.clone();
                    grow(&mut self.functions, name, release, signature, alike);
                }
                Item::Callback(item) => {
                    let signature = item.signature.clone();
                    grow(&mut self.callbacks, name, release, signature, alike);
                }
                Item::Enum(item) => {
                    let variants = item.variants.clone();
                    grow(&mut self.enums, name, release, variants, PartialEq::eq);
                }
                _ => {}
            }
        }
    }

    fn take_fields(&mut self, name: &str, release: &str, record: &Record, pair: &Pair) {
        for field in &record.fields {
            let full = format!("{name}.{}", field.name);
            if let Type::Function(signature) = &field.ty {
                let alike = |old: &Signature, new: &Signature| pair.signatures(old, new);
                let signature = (**signature).clone();
                grow(&mut self.slots, &full, release, signature, alike);
            }
            grow(
                &mut self.fields,
                &full,
                release,
                field.clone(),
                |old, new| pair.same_type(&old.ty, &new.ty),
            );
            self.since.entry(full).or_insert_with(|| release.into());
        }
    }
}

/// The releases that occur, oldest first; `2.10` comes after `2.9`.
fn releases(apis: &[Api]) -> Vec<&str> {
    let mut found: Vec<&str> = apis.iter().map(|api| api.release.as_str()).collect();
    let number = |text: &&str| -> Vec<u32> {
        let parts = text.split('.');
        parts.map(|part| part.parse().unwrap_or(0)).collect()
    };
    found.sort_by_key(number);
    found.dedup();
    found
}

/// Lengthens the last epoch of `name` where `shape` is alike, else begins another.
fn grow<T>(
    epochs: &mut Epochs<T>,
    name: &str,
    release: &str,
    shape: T,
    alike: impl Fn(&T, &T) -> bool,
) {
    let runs = match epochs.get_mut(name) {
        Some(runs) => runs,
        None => epochs.entry(name.into()).or_default(),
    };
    match runs.last_mut() {
        Some(last) if alike(&last.shape, &shape) => {
            last.releases.push(release.into());
            last.shape = shape;
        }
        _ => runs.push(Epoch {
            releases: vec![release.into()],
            shape,
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
