//! The sizes that structs state of themselves, in a field of one name.

use std::collections::HashMap;

use sp_ir::{Field, Item, Struct, Type};

use super::{Model, Shape};

/// The deepest nesting of types that is followed.
const MAX_NESTING: usize = 64;

/// What a type has of sizes that structs state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// The number of fields to assign in a value of the type. The elements of an array are assigned in a loop.
    pub assignments: usize,
    /// True if a struct states its size somewhere in the type, or the fields of a struct are not known.
    any: bool,
    /// True if a size may be stated that no assignment to a field sets: in a union, in bytes, or in a bit-field.
    pub is_hidden: bool,
}

impl Sizes {
    /// Those of a type that contains itself, or is nested too deep.
    const UNKNOWN: Self = Self {
        assignments: 0,
        any: true,
        is_hidden: true,
    };

    /// Those of a type whose fields cannot be assigned.
    fn hidden_if(any: bool) -> Self {
        Self {
            assignments: 0,
            any,
            is_hidden: any,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            assignments: self.assignments.saturating_add(other.assignments),
            any: self.any || other.any,
            is_hidden: self.is_hidden || other.is_hidden,
        }
    }
}

/// The sizes that the types of a header state in fields of one name. Each type is examined once.
#[derive(Debug)]
pub struct StatedSizes<'a> {
    model: &'a Model,
    field: &'a str,
    found: HashMap<&'a str, Sizes>,
}

impl<'a> StatedSizes<'a> {
    /// Examines nothing yet.
    pub fn new(model: &'a Model, field: &'a str) -> Self {
        Self {
            model,
            field,
            found: HashMap::new(),
        }
    }

    /// Returns true if this is the field in which a struct states its size.
    pub fn is_size(&self, field: &Field) -> bool {
        let is_number = matches!(
            self.model.resolve(&field.ty),
            Type::Int { .. } | Type::Size | Type::Address { .. }
        );
        field.name == self.field && is_number
    }

    /// Returns what a value of the type has of them.
    pub fn of(&mut self, ty: &'a Type) -> Sizes {
        self.at(ty, 0)
    }

    fn at(&mut self, ty: &'a Type, nesting: usize) -> Sizes {
        match self.model.resolve(ty) {
            _ if nesting > MAX_NESTING => Sizes::UNKNOWN,
            Type::Array { elem, .. } => self.at(elem, nesting + 1),
            Type::Named(name) => self.of_item(name, nesting),
            _ => Sizes::default(),
        }
    }

    fn of_item(&mut self, name: &'a str, nesting: usize) -> Sizes {
        if let Some(found) = self.found.get(name) {
            return *found;
        }
        self.found.insert(name, Sizes::UNKNOWN);
        let found = match self.model.item(name) {
            Some(Item::Struct(item)) => self.of_struct(name, item, nesting),
            // A member of a union that is a number is no size of a struct.
            Some(Item::Union(item)) => Sizes::hidden_if(self.of_fields(&item.fields, nesting).any),
            Some(_) => Sizes::default(),
            None => Sizes::hidden_if(self.model.opaque_values.contains_key(name)),
        };
        self.found.insert(name, found);
        found
    }

    fn of_struct(&mut self, name: &str, item: &'a Struct, nesting: usize) -> Sizes {
        let accessors = self.model.accessors.get(name);
        let is_bit_field = accessors.is_some_and(|it| it.iter().any(|it| it.name == self.field));
        let stated = item.fields.iter().filter(|it| self.is_size(it)).count();
        let of_struct = Sizes {
            assignments: stated,
            any: stated > 0 || is_bit_field,
            is_hidden: is_bit_field,
        };
        let found = of_struct.and(self.of_fields(&item.fields, nesting));
        match self.model.shapes.get(name) {
            Some(Shape::Bytes(..)) | None => Sizes::hidden_if(found.any),
            Some(_) => found,
        }
    }

    fn of_fields(&mut self, fields: &'a [Field], nesting: usize) -> Sizes {
        let of_field = |found: Sizes, field: &'a Field| found.and(self.at(&field.ty, nesting + 1));
        fields.iter().fold(Sizes::default(), of_field)
    }
}
