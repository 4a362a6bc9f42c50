//! Two sides, and which item of one corresponds to which item of the other.
//!
//! Items with the same name correspond. If a name is an alias on one side, the item behind it corresponds. A removed
//! and an added name correspond if their definitions are the same and the same declarations use them.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Signature, Type};

use super::name_map::NameMap;
use super::surface::Surface;
use super::view::SurfaceView;

/// Pairs of an old and a new name that the same declarations use.
type NamePairs = BTreeSet<(String, String)>;

/// Two sides to compare, for one target.
#[derive(Debug)]
pub struct SurfacePair<'a> {
    /// OLD.
    pub old: SurfaceView<'a>,
    /// NEW.
    pub new: SurfaceView<'a>,
    /// OLD's names to NEW's, if an alias connects them.
    pub aliased: BTreeMap<String, String>,
    /// OLD's names to NEW's, if no alias connects them.
    pub renamed: BTreeMap<String, String>,
}

impl<'a> SurfacePair<'a> {
    /// Indexes both sides and finds the corresponding items.
    pub fn new(old: &'a Surface, new: &'a Surface, target: &str) -> Self {
        let mut pair = Self {
            old: SurfaceView::new(old, target),
            new: SurfaceView::new(new, target),
            aliased: BTreeMap::new(),
            renamed: BTreeMap::new(),
        };
        pair.aliased = pair.find_aliases();
        pair.find_renames();
        pair
    }

    /// Returns the same pair with the layouts of another target.
    pub fn for_target(&self, old: &'a Surface, new: &'a Surface, target: &str) -> Self {
        Self {
            old: self.old.for_target(old, target),
            new: self.new.for_target(new, target),
            aliased: self.aliased.clone(),
            renamed: self.renamed.clone(),
        }
    }

    /// Returns true if the two names are the same item.
    pub fn is_partner(&self, old: &str, new: &str) -> bool {
        let other = self.aliased.get(old).or_else(|| self.renamed.get(old));
        other.is_some_and(|other| other == new) || (old == new && self.new.item(old).is_some())
    }

    /// Returns the names that are an item on one side and an alias of an item on the other.
    fn find_aliases(&self) -> BTreeMap<String, String> {
        let mut aliases = BTreeMap::new();
        for (name, old) in &self.old.items {
            let Some(new) = self.new.items.get(name) else {
                continue;
            };
            match (&*old.item, &*new.item) {
                (Item::Alias(_), Item::Alias(_)) => {}
                (_, Item::Alias(_)) => {
                    if let Some(target) = aliased_item(&self.new, name) {
                        aliases.insert((*name).to_string(), target.to_string());
                    }
                }
                (Item::Alias(_), _) => {
                    if let Some(target) = aliased_item(&self.old, name) {
                        aliases.insert(target.to_string(), (*name).to_string());
                    }
                }
                _ => {}
            }
        }
        aliases
    }

    /// Finds renames until there are no more: each rename may show other declarations that use both names.
    fn find_renames(&mut self) {
        let removed = names_only_in(&self.old, &self.new);
        let added = names_only_in(&self.new, &self.old);
        if removed.is_empty() || added.is_empty() {
            return;
        }
        let mut candidates = self.candidates_of_common_items();
        loop {
            let count = self.renamed.len();
            let mut next = NamePairs::new();
            for (old, new) in candidates {
                if removed.contains(old.as_str()) && added.contains(new.as_str()) {
                    self.accept_rename(old, new, &mut next);
                }
            }
            if self.renamed.len() == count {
                break;
            }
            candidates = next;
        }
    }

    fn candidates_of_common_items(&self) -> NamePairs {
        let mut candidates = NamePairs::new();
        for name in self.old.items.keys() {
            if let (Some(old), Some(new)) = (self.old.item(name), self.new.item(name)) {
                collect_from_items(old, new, &mut candidates);
            }
        }
        candidates
    }

    /// Records a rename if both names are free and have the same definition, and collects what the two items use.
    fn accept_rename(&mut self, old: String, new: String, candidates: &mut NamePairs) {
        let (Some(old_item), Some(new_item)) = (self.old.item(&old), self.new.item(&new)) else {
            return;
        };
        let is_taken = self.renamed.values().any(|other| *other == new);
        if is_taken
            || self.renamed.contains_key(&old)
            || !self.has_same_definition(old_item, new_item)
        {
            return;
        }
        collect_from_items(old_item, new_item, candidates);
        self.renamed.insert(old, new);
    }
}

/// Returns the name of the item behind an alias.
fn aliased_item<'v>(view: &'v SurfaceView, name: &str) -> Option<&'v str> {
    let alias = view.item(name)?.as_alias()?;
    match view.resolve(&alias.ty) {
        Type::Named(target) => view.item(target).map(|_| target.as_str()),
        _ => None,
    }
}

fn names_only_in<'a>(view: &SurfaceView<'a>, other: &SurfaceView<'a>) -> BTreeSet<&'a str> {
    let names = view.items.keys();
    let names = names.filter(|name| !other.items.contains_key(*name));
    names.copied().collect()
}

/// Collects pairs of names that two items use in the same position.
fn collect_from_items(old: &Item, new: &Item, candidates: &mut NamePairs) {
    if let (Some(old), Some(new)) = (old.fields(), new.fields()) {
        let types = new.iter().map(|field| (field.name.as_str(), &field.ty));
        let types: NameMap<&str, &Type> = types.collect();
        for field in old {
            if let Some(ty) = types.get(field.name.as_str()) {
                collect_from_types(&field.ty, ty, candidates);
            }
        }
    }
    match (old, new) {
        (Item::Function(old), Item::Function(new)) => {
            collect_from_signatures(&old.signature, &new.signature, candidates)
        }
        (Item::Callback(old), Item::Callback(new)) => {
            collect_from_signatures(&old.signature, &new.signature, candidates)
        }
        (Item::Alias(old), Item::Alias(new)) => collect_from_types(&old.ty, &new.ty, candidates),
        _ => {}
    }
}

fn collect_from_signatures(old: &Signature, new: &Signature, candidates: &mut NamePairs) {
    collect_from_types(&old.ret, &new.ret, candidates);
    for (old, new) in old.params.iter().zip(&new.params) {
        collect_from_types(&old.ty, &new.ty, candidates);
    }
}

fn collect_from_types(old: &Type, new: &Type, candidates: &mut NamePairs) {
    match (old, new) {
        (Type::Named(old), Type::Named(new)) if old != new => {
            candidates.insert((old.clone(), new.clone()));
        }
        (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. }) => {
            collect_from_types(old, new, candidates)
        }
        (Type::Array { elem: old, .. }, Type::Array { elem: new, .. }) => {
            collect_from_types(old, new, candidates)
        }
        (Type::Function(old), Type::Function(new)) => collect_from_signatures(old, new, candidates),
        _ => {}
    }
}
