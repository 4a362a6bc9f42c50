//! The sizes that structs state of themselves, in a field of one name.

use std::collections::HashMap;

use sp_ir::{Field, Item, Struct, Type};

use super::{Model, Shape};

/// The deepest nesting of types that is followed.
const MAX_NESTING: usize = 64;

/// The size fields of the structs in a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// The number of assignments that set them in a value. Those of an array's elements are one loop.
    pub assignments: usize,
    /// True if there may be one: also for a struct whose fields are not known.
    is_present: bool,
    /// True if there may be one that no assignment sets: in a union, in bytes, or as a bit-field.
    pub is_hidden: bool,
}

impl Sizes {
    /// For a type that contains itself, or is nested too deep.
    const UNKNOWN: Self = Self {
        assignments: 0,
        is_present: true,
        is_hidden: true,
    };

    /// Returns the value for a type whose fields cannot be assigned.
    fn hidden_if(is_present: bool) -> Self {
        Self {
            assignments: 0,
            is_present,
            is_hidden: is_present,
        }
    }

    fn union(self, other: Self) -> Self {
        Self {
            assignments: self.assignments.saturating_add(other.assignments),
            is_present: self.is_present || other.is_present,
            is_hidden: self.is_hidden || other.is_hidden,
        }
    }
}

/// Finds the size fields of types. Each struct is examined once.
#[derive(Debug)]
pub struct StatedSizes<'a> {
    model: &'a Model,
    field: &'a str,
    found: HashMap<&'a str, Sizes>,
}

impl<'a> StatedSizes<'a> {
    /// Creates a finder of fields with this name.
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

    /// Returns the size fields of the structs in a type.
    pub fn find(&mut self, ty: &'a Type) -> Sizes {
        self.find_nested(ty, 0)
    }

    fn find_nested(&mut self, ty: &'a Type, nesting: usize) -> Sizes {
        match self.model.resolve(ty) {
            _ if nesting > MAX_NESTING => Sizes::UNKNOWN,
            Type::Array { elem, .. } => self.find_nested(elem, nesting + 1),
            Type::Named(name) => self.find_in_item(name, nesting),
            _ => Sizes::default(),
        }
    }

    fn find_in_item(&mut self, name: &'a str, nesting: usize) -> Sizes {
        if let Some(found) = self.found.get(name) {
            return *found;
        }
        self.found.insert(name, Sizes::UNKNOWN);
        let found = match self.model.item(name) {
            Some(Item::Struct(item)) => self.find_in_struct(name, item, nesting),
            // A member of a union that is a number is no size of a struct.
            Some(Item::Union(item)) => {
                Sizes::hidden_if(self.find_in_fields(&item.fields, nesting).is_present)
            }
            Some(_) => Sizes::default(),
            None => Sizes::hidden_if(self.model.opaque_values.contains_key(name)),
        };
        self.found.insert(name, found);
        found
    }

    fn find_in_struct(&mut self, name: &str, item: &'a Struct, nesting: usize) -> Sizes {
        let accessors = self.model.accessors.get(name);
        let is_bit_field = accessors.is_some_and(|it| it.iter().any(|it| it.name == self.field));
        let stated = item.fields.iter().filter(|it| self.is_size(it)).count();
        let own = Sizes {
            assignments: stated,
            is_present: stated > 0 || is_bit_field,
            is_hidden: is_bit_field,
        };
        let found = own.union(self.find_in_fields(&item.fields, nesting));
        match self.model.shapes.get(name) {
            Some(Shape::Bytes(..)) | None => Sizes::hidden_if(found.is_present),
            Some(_) => found,
        }
    }

    fn find_in_fields(&mut self, fields: &'a [Field], nesting: usize) -> Sizes {
        let of_field =
            |found: Sizes, field: &'a Field| found.union(self.find_nested(&field.ty, nesting + 1));
        fields.iter().fold(Sizes::default(), of_field)
    }
}
