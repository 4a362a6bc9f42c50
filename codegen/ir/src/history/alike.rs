//! Whether what two releases declare is the same to a binary: the same sizes and offsets, the same
//! values passed. Each type is read with the names of its own release.

use std::collections::BTreeMap;

use super::Record;
use crate::{Api, Field, Item, Signature, Type};

/// Names are followed this far into each other; C's recursion goes through pointers to names.
const DEPTH: u8 = 8;

/// What one release declares, in all of its APIs.
pub(super) struct Declared<'a> {
    /// Each API and its version.
    pub apis: BTreeMap<&'a str, Option<String>>,
    /// Each item, and the API that has it.
    pub items: BTreeMap<&'a str, (&'a str, &'a Item)>,
}

impl<'a> Declared<'a> {
    pub fn of(apis: impl Iterator<Item = &'a Api>) -> Self {
        let mut declared = Self {
            apis: BTreeMap::new(),
            items: BTreeMap::new(),
        };
        for api in apis {
            declared.apis.insert(&api.name, api.version.clone());
            let items = api.items.iter();
            let items = items.map(|(name, item)| (name.as_str(), (api.name.as_str(), item)));
            declared.items.extend(items);
        }
        declared
    }

    /// This release, and beneath it what only earlier ones have.
    pub fn over(mut self, before: Option<Self>) -> Self {
        for (name, item) in before.into_iter().flat_map(|before| before.items) {
            self.items.entry(name).or_insert(item);
        }
        self
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).map(|(_, item)| *item)
    }

    /// The record with its structs' fields in their place, as deep as they go.
    fn opened(&self, record: &Record) -> Record {
        let mut opened = record.clone();
        opened.fields = self.leaves(&record.fields, 0, DEPTH);
        opened
    }

    fn leaves(&self, fields: &[Field], base: u64, depth: u8) -> Vec<Field> {
        let mut leaves = Vec::new();
        for field in fields {
            let item = match self.resolve(&field.ty) {
                Type::Named(name) if depth > 0 => self.item(&name),
                _ => None,
            };
            match item {
                Some(Item::Struct(inner)) => {
                    leaves.extend(self.leaves(&inner.fields, base + field.offset, depth - 1));
                }
                _ => leaves.push(Field {
                    offset: base + field.offset,
                    ..field.clone()
                }),
            }
        }
        leaves
    }

    /// The type behind other names for it; a callback is its function.
    fn resolve(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        for _ in 0..DEPTH {
            let Type::Named(name) = &ty else { break };
            ty = match self.item(name) {
                Some(Item::Alias(alias)) => alias.ty.clone(),
                Some(Item::Callback(callback)) => {
                    Type::Function(Box::new(callback.signature.clone()))
                }
                _ => break,
            };
        }
        ty
    }
}

/// Two releases to compare.
pub(super) struct Pair<'p, 'a> {
    pub old: &'p Declared<'a>,
    pub new: &'p Declared<'a>,
}

impl Pair<'_, '_> {
    pub fn records(&self, old: &Record, new: &Record) -> bool {
        self.records_within(old, new, DEPTH)
    }

    pub fn signatures(&self, old: &Signature, new: &Signature) -> bool {
        self.signatures_within(old, new, DEPTH)
    }

    pub fn same_type(&self, old: &Type, new: &Type) -> bool {
        self.types(old, new, DEPTH)
    }

    /// Field by field; or, where one of them has put fields into a struct of its own, with all
    /// such structs opened.
    fn records_within(&self, old: &Record, new: &Record, depth: u8) -> bool {
        self.fields_alike(old, new, depth)
            || (old.fields.len() != new.fields.len()
                && self.fields_alike(&self.old.opened(old), &self.new.opened(new), depth))
    }

    /// Whether who was built with the old record finds all of it in the new one, which may have more.
    pub fn extends(&self, old: &Record, new: &Record) -> bool {
        let keeps =
            |old: &Record, new: &Record| old.fields.iter().all(|field| self.keeps(field, old, new));
        let grows = !new.union || old.layout == new.layout;
        grows && (keeps(old, new) || keeps(&self.old.opened(old), &self.new.opened(new)))
    }

    fn keeps(&self, field: &Field, old: &Record, new: &Record) -> bool {
        let place = |field: &Field| (field.offset, field.size);
        match new.field(&field.name) {
            Some(same) => place(same) == place(field) && self.same_type(&field.ty, &same.ty),
            None => old.renamed(field, new).is_some(),
        }
    }

    fn fields_alike(&self, old: &Record, new: &Record, depth: u8) -> bool {
        let size = |record: &Record| record.struct_size.as_ref().map(|size| size.value);
        let fields = || old.fields.iter().zip(&new.fields);
        (old.union, old.layout, size(old)) == (new.union, new.layout, size(new))
            && old.fields.len() == new.fields.len()
            && fields().all(|(one, other)| {
                (one.offset, one.size) == (other.offset, other.size)
                    && match one.name == other.name {
                        true => self.types(&one.ty, &other.ty, depth),
                        false => old.renamed(one, new) == Some(other),
                    }
            })
    }

    fn signatures_within(&self, old: &Signature, new: &Signature, depth: u8) -> bool {
        let mut params = old.params.iter().zip(&new.params);
        old.params.len() == new.params.len()
            && self.types(&old.ret, &new.ret, depth)
            && params.all(|(one, other)| self.types(&one.ty, &other.ty, depth))
    }

    fn types(&self, old: &Type, new: &Type, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return old == new;
        };
        match (&self.old.resolve(old), &self.new.resolve(new)) {
            (Type::Named(old), Type::Named(new)) => self.names(old, new, depth),
            // What a free pointer points to may be said later; the pointer is the same.
            (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. })
                if **old == Type::Void || **new == Type::Void =>
            {
                true
            }
            // Constness is the header's word to the compiler; nothing of it is passed.
            (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. }) => {
                self.types(old, new, depth)
            }
            (
                Type::Array { elem: old, len },
                Type::Array {
                    elem: new,
                    len: new_len,
                },
            ) => len == new_len && self.types(old, new, depth),
            (Type::Function(old), Type::Function(new)) => self.signatures_within(old, new, depth),
            (old, new) => old == new,
        }
    }

    /// Whether two names are one thing: by name, because one has become another name for the
    /// other, or because the one went when the other came and they are made alike.
    fn names(&self, old: &str, new: &str, depth: u8) -> bool {
        let named = |name: &str| Type::Named(name.into());
        old == new
            || self.new.resolve(&named(old)) == named(new)
            || self.old.resolve(&named(new)) == named(old)
            || (self.new.item(old).is_none()
                && self.old.item(new).is_none()
                && self.made_alike(old, new, depth))
    }

    fn made_alike(&self, old: &str, new: &str, depth: u8) -> bool {
        match (self.old.item(old), self.new.item(new)) {
            (Some(Item::Handle(old)), Some(Item::Handle(new))) => old.pointer == new.pointer,
            (Some(Item::Enum(old)), Some(Item::Enum(new))) => {
                let values = |variants: &[crate::Variant]| -> Vec<i64> {
                    variants.iter().map(|one| one.value).collect()
                };
                old.repr == new.repr && values(&old.variants) == values(&new.variants)
            }
            (Some(old), Some(new)) => match (Record::of(old), Record::of(new)) {
                (Some(old), Some(new)) => self.records_within(&old, &new, depth),
                _ => false,
            },
            _ => false,
        }
    }
}
