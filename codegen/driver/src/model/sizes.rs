//! The sizes that structs state of themselves, in a field of one name.

use sp_ir::{Field, Item, Type};

use super::{Model, Shape};

/// The deepest nesting of types that is followed, against types that contain themselves.
pub const MAX_NESTING: usize = 64;

impl Model {
    /// Returns true if this is the field `name` in which a struct states its size.
    pub fn is_size(&self, field: &Field, name: &str) -> bool {
        let is_number = matches!(
            self.resolve(&field.ty),
            Type::Int { .. } | Type::Size | Type::Address { .. }
        );
        field.name == name && is_number
    }

    /// Returns true if a value of the type may state a size that no assignment to a field sets: in a union, in bytes, or in a
    /// bit-field.
    pub fn has_hidden_size(&self, ty: &Type, name: &str) -> bool {
        self.has_hidden_size_at(ty, name, 0)
    }

    fn has_hidden_size_at(&self, ty: &Type, name: &str, nesting: usize) -> bool {
        if nesting > MAX_NESTING {
            return true;
        }
        let any_field = |fields: &[Field]| {
            let mut fields = fields.iter();
            fields.any(|it| self.has_hidden_size_at(&it.ty, name, nesting + 1))
        };
        match self.resolve(ty) {
            Type::Array { elem, .. } => self.has_hidden_size_at(elem, name, nesting + 1),
            Type::Named(of) => match self.item(of) {
                Some(Item::Struct(item)) => {
                    let accessors = self.accessors.get(of);
                    let is_bit_field =
                        accessors.is_some_and(|it| it.iter().any(|it| it.name == name));
                    let is_bytes = matches!(self.shapes.get(of), Some(Shape::Bytes(..)) | None);
                    is_bit_field
                        || is_bytes && self.has_size_at(ty, name, nesting)
                        || any_field(&item.fields)
                }
                Some(Item::Union(_)) => self.has_size_at(ty, name, nesting),
                Some(_) => false,
                None => self.opaque_values.contains_key(of),
            },
            _ => false,
        }
    }

    /// Returns true if a value of the type contains a struct that states its size, or one whose fields are not known.
    fn has_size_at(&self, ty: &Type, name: &str, nesting: usize) -> bool {
        if nesting > MAX_NESTING {
            return true;
        }
        let any_field = |fields: &[Field]| {
            let mut fields = fields.iter();
            fields.any(|it| self.is_size(it, name) || self.has_size_at(&it.ty, name, nesting + 1))
        };
        match self.resolve(ty) {
            Type::Array { elem, .. } => self.has_size_at(elem, name, nesting + 1),
            Type::Named(of) => match self.item(of) {
                Some(Item::Struct(item)) => {
                    let accessors = self.accessors.get(of);
                    accessors.is_some_and(|it| it.iter().any(|it| it.name == name))
                        || any_field(&item.fields)
                }
                // A member of a union that is a number is no size of a struct.
                Some(Item::Union(item)) => {
                    let mut fields = item.fields.iter();
                    fields.any(|it| self.has_size_at(&it.ty, name, nesting + 1))
                }
                Some(_) => false,
                None => self.opaque_values.contains_key(of),
            },
            _ => false,
        }
    }
}
