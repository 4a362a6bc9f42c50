//! Comparison of declarations of two releases by their binary form: sizes, offsets and passed values. Each
//! type is resolved with the names of its own release.

use std::collections::BTreeMap;

use super::Record;
use crate::{Api, Field, Item, Signature, Type};

/// Limit for resolving names within names, since C types can be recursive through pointers.
const MAX_DEPTH: u8 = 8;

/// The declarations of one release, in all APIs.
pub(super) struct Declared<'a> {
    /// The APIs with their versions.
    pub apis: BTreeMap<&'a str, Option<String>>,
    /// The items by name, each with the API that declares it.
    pub items: BTreeMap<&'a str, (&'a str, &'a Item)>,
}

impl<'a> Declared<'a> {
    pub fn new(apis: impl Iterator<Item = &'a Api>) -> Self {
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

    /// Adds the items that only earlier releases declare.
    pub fn with_earlier(mut self, earlier: Option<Self>) -> Self {
        for (name, item) in earlier.into_iter().flat_map(|earlier| earlier.items) {
            self.items.entry(name).or_insert(item);
        }
        self
    }

    fn item(&self, name: &str) -> Option<&'a Item> {
        self.items.get(name).map(|(_, item)| *item)
    }

    /// Returns the record with embedded structs replaced by their fields, at all depths.
    fn flatten(&self, record: &Record) -> Record {
        let mut flat = record.clone();
        flat.fields = self.flatten_fields(&record.fields, 0, MAX_DEPTH);
        flat
    }

    fn flatten_fields(&self, fields: &[Field], base: u64, depth: u8) -> Vec<Field> {
        let mut flat = Vec::new();
        for field in fields {
            let item = match self.resolve(&field.ty) {
                Type::Named(name) if depth > 0 => self.item(&name),
                _ => None,
            };
            match item {
                Some(Item::Struct(inner)) => {
                    flat.extend(self.flatten_fields(&inner.fields, base + field.offset, depth - 1));
                }
                _ => flat.push(Field {
                    offset: base + field.offset,
                    ..field.clone()
                }),
            }
        }
        flat
    }

    /// Resolves aliases; a callback resolves to its function type.
    fn resolve(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        for _ in 0..MAX_DEPTH {
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
pub(super) struct ReleasePair<'p, 'a> {
    pub old: &'p Declared<'a>,
    pub new: &'p Declared<'a>,
}

impl ReleasePair<'_, '_> {
    pub fn same_record(&self, old: &Record, new: &Record) -> bool {
        self.same_record_within(old, new, MAX_DEPTH)
    }

    pub fn same_signature(&self, old: &Signature, new: &Signature) -> bool {
        self.same_signature_within(old, new, MAX_DEPTH)
    }

    pub fn same_type(&self, old: &Type, new: &Type) -> bool {
        self.same_type_within(old, new, MAX_DEPTH)
    }

    /// Compares field by field. If the numbers of fields differ, one release may have moved fields into an
    /// embedded struct; then it compares with embedded structs flattened.
    fn same_record_within(&self, old: &Record, new: &Record, depth: u8) -> bool {
        self.same_fields(old, new, depth)
            || (old.fields.len() != new.fields.len()
                && self.same_fields(&self.old.flatten(old), &self.new.flatten(new), depth))
    }

    /// Returns true if the new record has all fields of the old one unchanged; it may have more.
    pub fn extends(&self, old: &Record, new: &Record) -> bool {
        let has_all = |old: &Record, new: &Record| {
            let mut fields = old.fields.iter();
            fields.all(|field| self.has_unchanged(field, old, new))
        };
        let may_grow = !new.union || old.layout == new.layout;
        may_grow && (has_all(old, new) || has_all(&self.old.flatten(old), &self.new.flatten(new)))
    }

    fn has_unchanged(&self, field: &Field, old: &Record, new: &Record) -> bool {
        let extent = |field: &Field| (field.offset, field.size);
        match new.field(&field.name) {
            Some(same) => extent(same) == extent(field) && self.same_type(&field.ty, &same.ty),
            None => old.renamed_field(field, new).is_some(),
        }
    }

    fn same_fields(&self, old: &Record, new: &Record, depth: u8) -> bool {
        let size = |record: &Record| record.struct_size.as_ref().map(|size| size.value);
        let fields = || old.fields.iter().zip(&new.fields);
        (old.union, old.layout, size(old)) == (new.union, new.layout, size(new))
            && old.fields.len() == new.fields.len()
            && fields().all(|(old_field, new_field)| {
                (old_field.offset, old_field.size) == (new_field.offset, new_field.size)
                    && match old_field.name == new_field.name {
                        true => self.same_type_within(&old_field.ty, &new_field.ty, depth),
                        false => old.renamed_field(old_field, new) == Some(new_field),
                    }
            })
    }

    fn same_signature_within(&self, old: &Signature, new: &Signature, depth: u8) -> bool {
        let mut params = old.params.iter().zip(&new.params);
        old.params.len() == new.params.len()
            && old.convention == new.convention
            && self.same_type_within(&old.ret, &new.ret, depth)
            && params.all(|(old, new)| self.same_type_within(&old.ty, &new.ty, depth))
    }

    fn same_type_within(&self, old: &Type, new: &Type, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return old == new;
        };
        match (&self.old.resolve(old), &self.new.resolve(new)) {
            (Type::Named(old), Type::Named(new)) => self.same_name_within(old, new, depth),
            // A later release may state the type behind a `void*`; the pointer is the same.
            (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. })
                if **old == Type::Void || **new == Type::Void =>
            {
                true
            }
            // Constness matters to the compiler only; the passed value is the same.
            (Type::Pointer { pointee: old, .. }, Type::Pointer { pointee: new, .. }) => {
                self.same_type_within(old, new, depth)
            }
            (
                Type::Array { elem: old, len },
                Type::Array {
                    elem: new,
                    len: new_len,
                },
            ) => len == new_len && self.same_type_within(old, new, depth),
            (Type::Function(old), Type::Function(new)) => {
                self.same_signature_within(old, new, depth)
            }
            (old, new) => old == new,
        }
    }

    /// Returns true if two names denote the same type: the names are equal, or one is an alias of the other,
    /// or the type was renamed. A renamed type has one name in each release and the same structure.
    fn same_name_within(&self, old: &str, new: &str, depth: u8) -> bool {
        let named = |name: &str| Type::Named(name.into());
        old == new
            || self.new.resolve(&named(old)) == named(new)
            || self.old.resolve(&named(new)) == named(old)
            || (self.new.item(old).is_none()
                && self.old.item(new).is_none()
                && self.same_structure(old, new, depth))
    }

    fn same_structure(&self, old: &str, new: &str, depth: u8) -> bool {
        match (self.old.item(old), self.new.item(new)) {
            (Some(Item::Handle(old)), Some(Item::Handle(new))) => old.pointer == new.pointer,
            (Some(Item::Enum(old)), Some(Item::Enum(new))) => {
                let values = |variants: &[crate::Variant]| -> Vec<i64> {
                    variants.iter().map(|variant| variant.value).collect()
                };
                old.repr == new.repr && values(&old.variants) == values(&new.variants)
            }
            (Some(old), Some(new)) => match (Record::from_item(old), Record::from_item(new)) {
                (Some(old), Some(new)) => self.same_record_within(&old, &new, depth),
                _ => false,
            },
            _ => false,
        }
    }
}
