//! The items of all APIs that are generated together, by name. C names are global, so one map serves all APIs.

use std::collections::BTreeMap;

use sp_ir::{Api, Item, Struct, Type};

/// The declaration of every name.
pub struct Catalog<'a> {
    items: BTreeMap<&'a str, (&'a str, &'a Item)>,
    variants: BTreeMap<&'a str, &'a str>,
}

impl<'a> Catalog<'a> {
    /// Collects the names of `apis`. Also returns a message for each name that is declared twice.
    pub fn collect(apis: &'a [Api]) -> (Self, Vec<String>) {
        let (mut items, mut variants, mut problems) = (BTreeMap::new(), BTreeMap::new(), vec![]);
        for api in apis {
            for (name, item) in &api.items {
                if let Some((other, _)) = items.insert(name.as_str(), (api.name.as_str(), item)) {
                    problems.push(format!(
                        "{name}: declared by the APIs `{other}` and `{}`",
                        api.name
                    ));
                }
                if let Item::Enum(item) = item {
                    variants.extend(
                        item.variants
                            .iter()
                            .map(|variant| (variant.name.as_str(), name.as_str())),
                    );
                }
            }
        }
        (Self { items, variants }, problems)
    }

    /// Returns the item `name`.
    pub fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).map(|(_, item)| *item)
    }

    /// Returns the API that declares `name`.
    pub fn declaring_api(&self, name: &str) -> Option<&'a str> {
        self.items.get(name).map(|(api, _)| *api)
    }

    /// Returns the enumeration that has an enumerator `name`.
    pub fn enumeration(&self, name: &str) -> Option<&'a str> {
        self.variants.get(name).copied()
    }

    /// Returns the name and item behind `ty` and its aliases, or `None` if `ty` has no name.
    pub fn named(&self, ty: &'a Type) -> Option<(&'a str, &'a Item)> {
        let Type::Named(name) = self.resolve(ty) else {
            return None;
        };
        self.item(name).map(|item| (name.as_str(), item))
    }

    /// Resolves aliases.
    pub fn resolve(&self, ty: &'a Type) -> &'a Type {
        let Type::Named(name) = ty else { return ty };
        match self.item(name) {
            Some(Item::Alias(alias)) => self.resolve(&alias.ty),
            _ => ty,
        }
    }

    /// Returns the name of the pointer handle `ty`, or `None` if it is another type.
    pub fn pointer_handle(&self, ty: &'a Type) -> Option<&'a str> {
        let (name, item) = self.named(ty)?;
        item.as_handle()?.pointer.then_some(name)
    }

    /// Returns the struct `ty` if it begins with a `struct_size`, or `None`.
    pub fn versioned(&self, ty: &'a Type) -> Option<(&'a str, &'a Struct)> {
        let (name, item) = self.named(ty)?;
        let item = item.as_struct().filter(|item| item.is_versioned())?;
        Some((name, item))
    }

    /// Returns true if `ty` is a struct with a `struct_size`. Unlike [`Self::versioned`], it accepts types that
    /// are not borrowed from the catalog.
    pub fn is_versioned(&self, ty: &Type) -> bool {
        let Type::Named(name) = ty else { return false };
        match self.item(name) {
            Some(Item::Alias(alias)) => self.is_versioned(&alias.ty),
            Some(Item::Struct(item)) => item.is_versioned(),
            _ => false,
        }
    }

    /// Returns true if `ty` is the status object that sp-runtime reads and writes.
    pub fn is_status(&self, ty: &'a Type) -> bool {
        let Some((_, Item::Handle(handle))) = self.named(ty) else {
            return false;
        };
        handle.rust.as_deref() == Some("sp_runtime::RawStatus")
    }
}
