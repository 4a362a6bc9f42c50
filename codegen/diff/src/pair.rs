//! Two sides, and which item of the one is which of the other. A name stands for itself; where it
//! became another name for something, for that; where it went and what is made alike came at the
//! places that used it, for the newcomer.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Signature, Type};

use super::names::Names;
use super::surface::Surface;
use super::view::{View, fields};

/// Two sides to compare, for one target.
#[derive(Debug)]
pub struct Pair<'a> {
    /// OLD.
    pub old: View<'a>,
    /// NEW.
    pub new: View<'a>,
    /// OLD's name to NEW's, where they differ: an alias tells so.
    pub aliased: BTreeMap<String, String>,
    /// OLD's name to NEW's, where they differ and nothing tells so.
    pub renamed: BTreeMap<String, String>,
}

impl<'a> Pair<'a> {
    /// Lays two sides beside each other.
    pub fn of(old: &'a Surface, new: &'a Surface, target: &str) -> Self {
        let mut pair = Self {
            old: View::of(old, target),
            new: View::of(new, target),
            aliased: BTreeMap::new(),
            renamed: BTreeMap::new(),
        };
        pair.aliased = pair.aliases();
        pair.rename();
        pair
    }

    /// The same two sides for another target.
    pub fn elsewhere(&self, old: &'a Surface, new: &'a Surface, target: &str) -> Self {
        Self {
            old: self.old.elsewhere(old, target),
            new: self.new.elsewhere(new, target),
            aliased: self.aliased.clone(),
            renamed: self.renamed.clone(),
        }
    }

    /// Whether the two names are one item.
    pub fn is_partner(&self, old: &str, new: &str) -> bool {
        let other = self.aliased.get(old).or_else(|| self.renamed.get(old));
        other.is_some_and(|other| other == new) || (old == new && self.new.item(old).is_some())
    }

    /// Names that are an alias on one side for what they stood for on the other.
    fn aliases(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for (name, was) in &self.old.items {
            let Some(is) = self.new.items.get(name) else {
                continue;
            };
            match (&*was.item, &*is.item) {
                (Item::Alias(_), Item::Alias(_)) => {}
                (_, Item::Alias(_)) => {
                    if let Some(target) = behind(&self.new, name) {
                        found.insert((*name).to_string(), target.to_string());
                    }
                }
                (Item::Alias(_), _) => {
                    if let Some(target) = behind(&self.old, name) {
                        found.insert(target.to_string(), (*name).to_string());
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Accepts one rename after the other, since each shows more places where they are used.
    fn rename(&mut self) {
        let (gone, came) = (only(&self.old, &self.new), only(&self.new, &self.old));
        if gone.is_empty() || came.is_empty() {
            return;
        }
        let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
        let common: Vec<&str> = self.old.items.keys().copied().collect();
        for name in common {
            if let (Some(old), Some(new)) = (self.old.item(name), self.new.item(name)) {
                meet_items(old, new, &mut seen);
            }
        }
        loop {
            let met = std::mem::take(&mut seen);
            let before = self.renamed.len();
            for (old, new) in met {
                if !gone.contains(old.as_str()) || !came.contains(new.as_str()) {
                    continue;
                }
                let (Some(was), Some(is)) = (self.old.item(&old), self.new.item(&new)) else {
                    continue;
                };
                let taken = self.renamed.values().any(|other| *other == new);
                if taken || self.renamed.contains_key(&old) || !self.is_remade(was, is) {
                    continue;
                }
                meet_items(was, is, &mut seen);
                self.renamed.insert(old, new);
            }
            if self.renamed.len() == before {
                break;
            }
        }
    }
}

/// The item that an alias comes to.
fn behind<'v>(view: &'v View, name: &str) -> Option<&'v str> {
    let Item::Alias(alias) = view.item(name)? else {
        return None;
    };
    match view.resolve(&alias.ty) {
        Type::Named(found) => view.item(found).map(|_| found.as_str()),
        _ => None,
    }
}

fn only<'a>(one: &View<'a>, other: &View<'a>) -> BTreeSet<&'a str> {
    let names = one
        .items
        .keys()
        .filter(|name| !other.items.contains_key(*name));
    names.copied().collect()
}

/// Names at the same place of the two.
fn meet_items(old: &Item, new: &Item, seen: &mut BTreeSet<(String, String)>) {
    if let (Some(old), Some(new)) = (fields(old), fields(new)) {
        let by_name: Names<&str, &Type> = new.iter().map(|it| (it.name.as_str(), &it.ty)).collect();
        for field in old {
            if let Some(ty) = by_name.get(field.name.as_str()) {
                meet(&field.ty, ty, seen);
            }
        }
    }
    match (old, new) {
        (Item::Function(old), Item::Function(new)) => {
            meet_calls(&old.signature, &new.signature, seen)
        }
        (Item::Callback(old), Item::Callback(new)) => {
            meet_calls(&old.signature, &new.signature, seen)
        }
        (Item::Alias(old), Item::Alias(new)) => meet(&old.ty, &new.ty, seen),
        _ => {}
    }
}

fn meet_calls(old: &Signature, new: &Signature, seen: &mut BTreeSet<(String, String)>) {
    meet(&old.ret, &new.ret, seen);
    for (old, new) in old.params.iter().zip(&new.params) {
        meet(&old.ty, &new.ty, seen);
    }
}

fn meet(old: &Type, new: &Type, seen: &mut BTreeSet<(String, String)>) {
    match (old, new) {
        (Type::Named(old), Type::Named(new)) if old != new => {
            seen.insert((old.clone(), new.clone()));
        }
        (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. }) => {
            meet(old, new, seen)
        }
        (Type::Array { elem: old, .. }, Type::Array { elem: new, .. }) => meet(old, new, seen),
        (Type::Function(old), Type::Function(new)) => meet_calls(old, new, seen),
        _ => {}
    }
}
