//! All items of the APIs that are generated together, by name. C names are global, so one map
//! answers for every API.

use std::collections::BTreeMap;

use sp_expand::structure::is_versioned;
use sp_ir::{Api, Handle, Item, Struct, Type};

/// Where every name is declared.
pub struct Catalog<'a> {
    items: BTreeMap<&'a str, (&'a str, &'a Item)>,
    variants: BTreeMap<&'a str, &'a str>,
}

impl<'a> Catalog<'a> {
    /// The names of `apis`, and what is wrong with them: names declared twice.
    pub fn of(apis: &'a [Api]) -> (Self, Vec<String>) {
        let (mut items, mut variants, mut problems) = (BTreeMap::new(), BTreeMap::new(), vec![]);
        for api in apis {
            for (name, item) in &api.items {
                if let Some((other, _)) = items.insert(name.as_str(), (api.name.as_str(), item)) {
                    problems.push(format!(
                        "`{name}` is declared by {other} and by {}",
                        api.name
                    ));
                }
                if let Item::Enum(item) = item {
                    variants.extend(
                        item.variants
                            .iter()
                            .map(|v| (v.name.as_str(), name.as_str())),
                    );
                }
            }
        }
        (Self { items, variants }, problems)
    }

    /// The item called `name`.
    pub fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).map(|(_, item)| *item)
    }

    /// The API that declares `name`.
    pub fn home(&self, name: &str) -> Option<&'a str> {
        self.items.get(name).map(|(home, _)| *home)
    }

    /// The enumeration that has a value called `name`.
    pub fn enumeration(&self, name: &str) -> Option<&'a str> {
        self.variants.get(name).copied()
    }

    /// The name and item that `ty` names, seen through aliases.
    pub fn named(&self, ty: &'a Type) -> Option<(&'a str, &'a Item)> {
        let Type::Named(name) = self.resolve(ty) else {
            return None;
        };
        self.item(name).map(|item| (name.as_str(), item))
    }

    /// `ty` without the aliases in front.
    pub fn resolve(&self, ty: &'a Type) -> &'a Type {
        let Type::Named(name) = ty else { return ty };
        match self.item(name) {
            Some(Item::Alias(alias)) => self.resolve(&alias.ty),
            _ => ty,
        }
    }

    /// The pointer-handle that `ty` is.
    pub fn pointer_handle(&self, ty: &'a Type) -> Option<&'a str> {
        match self.named(ty)? {
            (name, Item::Handle(Handle { pointer: true, .. })) => Some(name),
            _ => None,
        }
    }

    /// The struct with a `struct_size` that `ty` is.
    pub fn versioned(&self, ty: &'a Type) -> Option<(&'a str, &'a Struct)> {
        match self.named(ty)? {
            (name, Item::Struct(item)) if is_versioned(item) => Some((name, item)),
            _ => None,
        }
    }

    /// Returns true if `ty` is a struct with a `struct_size`. Unlike [`Self::versioned`], it takes
    /// types that are not the catalog's own.
    pub fn is_versioned(&self, ty: &Type) -> bool {
        let Type::Named(name) = ty else { return false };
        match self.item(name) {
            Some(Item::Alias(alias)) => self.is_versioned(&alias.ty),
            Some(Item::Struct(item)) => is_versioned(item),
            _ => false,
        }
    }

    /// Whether `ty` is the status object that sp-runtime reads and writes.
    pub fn is_status(&self, ty: &'a Type) -> bool {
        let Some((_, Item::Handle(handle))) = self.named(ty) else {
            return false;
        };
        handle.rust.as_deref() == Some("sp_runtime::RawStatus")
    }
}
