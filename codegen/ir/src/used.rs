//! The types that an item refers to.

use crate::{Field, Item, Signature, Type};
use std::collections::BTreeMap;

impl Item {
    /// Returns the names of the types that the item's members and parameters have; true for one that is used by
    /// value at least once.
    pub fn used_types(&self) -> BTreeMap<String, bool> {
        let mut used = UsedTypes::default();
        used.item(self);
        used.0
    }
}

/// Names of types; true if one is used by value.
#[derive(Default)]
struct UsedTypes(BTreeMap<String, bool>);

impl UsedTypes {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Struct(item) => self.fields(&item.fields),
            Item::Union(item) => self.fields(&item.fields),
            Item::Alias(item) => self.ty(&item.ty, true),
            Item::Callback(item) => self.signature(&item.signature),
            Item::Function(item) => self.signature(&item.signature),
            Item::Enum(_) | Item::Handle(_) | Item::Constant(_) => {}
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        fields.iter().for_each(|field| self.ty(&field.ty, true));
    }

    fn signature(&mut self, signature: &Signature) {
        let params = signature.params.iter();
        params.for_each(|param| self.ty(&param.ty, true));
        self.ty(&signature.ret, true);
    }

    fn ty(&mut self, ty: &Type, by_value: bool) {
        match ty {
            Type::Named(name) => *self.0.entry(name.clone()).or_default() |= by_value,
            Type::Pointer { pointee, .. } => self.ty(pointee, false),
            Type::Array { elem, .. } => self.ty(elem, by_value),
            Type::Function(signature) => self.signature(signature),
            _ => {}
        }
    }
}
