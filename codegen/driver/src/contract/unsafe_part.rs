//! Parts of a value that a safe caller must not choose, since the driver dereferences or calls them.

use std::collections::BTreeSet;
use std::fmt;

use sp_ir::{Field, Item, Type};

use super::owned::Owners;
use crate::model::Model;

/// The deepest nesting of types that is followed.
const MAX_NESTING: usize = 64;

/// A part of a value that a safe caller could invent.
#[derive(Debug)]
pub struct UnsafePart<'a> {
    kind: UnsafeKind<'a>,
    /// The names of the fields that lead to it, the innermost first. Empty for the value, and for an element of it.
    fields: Vec<&'a str>,
}

#[derive(Debug)]
enum UnsafeKind<'a> {
    Handle,
    FunctionPointer,
    /// A value of this typedef, or a pointer to this struct, which is owned.
    Owned(&'a str),
    /// The fields of this type are not bound, so any of them may be a handle or a function pointer.
    Unknown(&'a str),
    /// The types are nested deeper than they are followed.
    TooDeep,
}

impl<'a> UnsafePart<'a> {
    /// Returns the first such part of a value of the type, or `None` if a safe caller can choose every value. Pointers and
    /// numbers are no such parts, unless their type is owned: the contract states that the driver accesses no host memory
    /// through them.
    pub fn find(model: &'a Model, owners: &'a Owners, ty: &'a Type) -> Option<Self> {
        let seen = BTreeSet::new();
        let mut finder = Finder {
            model,
            owners,
            seen,
        };
        finder.find(ty, 0)
    }

    fn new(kind: UnsafeKind<'a>) -> Self {
        let fields = Vec::new();
        Self { kind, fields }
    }
}

impl fmt::Display for UnsafePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            UnsafeKind::Handle => f.write_str("has a handle in its value")?,
            UnsafeKind::FunctionPointer => f.write_str("has a function pointer in its value")?,
            UnsafeKind::Owned(name) => write!(f, "has an owned `{name}` in its value")?,
            UnsafeKind::Unknown(name) => write!(
                f,
                "has the type `{name}` in its value, whose fields are not bound and may be handles or function pointers"
            )?,
            UnsafeKind::TooDeep => write!(
                f,
                "has more than {MAX_NESTING} nested types in its value, which are not searched for handles and function pointers"
            )?,
        }
        let names: Vec<&str> = self.fields.iter().rev().copied().collect();
        if !names.is_empty() && !matches!(self.kind, UnsafeKind::TooDeep) {
            write!(f, " (field `{}`)", names.join("."))?;
        }
        f.write_str(": a safe caller could invent one")
    }
}

struct Finder<'a> {
    model: &'a Model,
    owners: &'a Owners<'a>,
    /// The types that were searched.
    seen: BTreeSet<&'a str>,
}

impl<'a> Finder<'a> {
    fn find(&mut self, ty: &'a Type, nesting: usize) -> Option<UnsafePart<'a>> {
        if let Some(name) = self.owners.find_invented(ty) {
            return Some(UnsafePart::new(UnsafeKind::Owned(name)));
        }
        match self.model.resolve(ty) {
            _ if nesting > MAX_NESTING => Some(UnsafePart::new(UnsafeKind::TooDeep)),
            Type::Array { elem, .. } => self.find(elem, nesting + 1),
            Type::Function(_) => Some(UnsafePart::new(UnsafeKind::FunctionPointer)),
            Type::Named(name) => self.find_in_item(name, nesting),
            _ => None,
        }
    }

    fn find_in_item(&mut self, name: &'a str, nesting: usize) -> Option<UnsafePart<'a>> {
        let kind = match self.model.item(name) {
            Some(Item::Struct(item)) => return self.find_in_fields(name, &item.fields, nesting),
            Some(Item::Union(item)) => return self.find_in_fields(name, &item.fields, nesting),
            Some(Item::Enum(_)) => return None,
            Some(Item::Handle(_)) => UnsafeKind::Handle,
            Some(Item::Callback(_)) => UnsafeKind::FunctionPointer,
            // `resolve` ends at a typedef only if its chain has no end.
            Some(Item::Alias(_) | Item::Function(_) | Item::Constant(_)) | None => {
                UnsafeKind::Unknown(name)
            }
        };
        Some(UnsafePart::new(kind))
    }

    fn find_in_fields(
        &mut self,
        name: &'a str,
        fields: &'a [Field],
        nesting: usize,
    ) -> Option<UnsafePart<'a>> {
        if !self.seen.insert(name) {
            return None;
        }
        let fields = fields.iter().map(|it| (&it.name, &it.ty));
        let bit_fields = self.model.accessors.get(name).into_iter().flatten();
        let bit_fields = bit_fields.map(|it| (&it.name, &it.ty));
        fields.chain(bit_fields).find_map(|(name, ty)| {
            let mut part = self.find(ty, nesting + 1)?;
            part.fields.push(name);
            Some(part)
        })
    }
}
