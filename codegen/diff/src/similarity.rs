//! Similarity of two types, to a compiler and to a binary. The names in a type are resolved on the type's own side, so
//! another name for the same definition is not a difference.

use sp_ir::{Enum, Field, Item, Signature, Type};

use super::pair::SurfacePair;
use super::view::SurfaceView;

/// The maximum depth for following names, since types may be recursive.
const DEPTH: u8 = 8;

/// The similarity of two types, from equal to different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Similarity {
    /// The types are the same, possibly under different names.
    Same,
    /// Only constness differs, which does not exist in binaries.
    Const,
    /// Another spelling for the same bytes: `void*` and `T*`, an enumeration and its integer type.
    Respelled,
    /// Function types with different parameters or results.
    Signature,
    /// The same size and the same way of passing, with another meaning.
    Reinterpreted,
    /// Another size, or another way of passing.
    Other,
}

impl Similarity {
    /// Returns true if the difference does not affect binaries.
    pub fn is_binary_compatible(self) -> bool {
        self <= Self::Respelled
    }
}

impl SurfacePair<'_> {
    /// Compares a type of OLD with a type of NEW.
    pub fn compare_types(&self, old: &Type, new: &Type) -> Similarity {
        self.types(old, new, DEPTH)
    }

    /// Compares the types of a parameter, which C adjusts: an array is passed as a pointer to its first element.
    pub fn compare_parameters(&self, old: &Type, new: &Type) -> Similarity {
        self.compare_types(&self.old.adjusted(old), &self.new.adjusted(new))
    }

    /// Compares the definitions behind two types, without regard to their names.
    pub fn compare_definitions(&self, old: &Type, new: &Type) -> Similarity {
        match (self.old.resolve(old), self.new.resolve(new)) {
            (Type::Named(old), Type::Named(new)) => {
                match (self.old.item(old), self.new.item(new)) {
                    (Some(old_item), Some(new_item)) => {
                        self.items((old, old_item), (new, new_item), DEPTH)
                    }
                    _ => Similarity::Other,
                }
            }
            (old, new) => self.types(old, new, DEPTH),
        }
    }

    /// Compares the parameters and results of two signatures.
    pub fn compare_signatures(&self, old: &Signature, new: &Signature) -> Similarity {
        self.signatures(old, new, DEPTH)
    }

    fn signatures(&self, old: &Signature, new: &Signature, depth: u8) -> Similarity {
        if old.params.len() != new.params.len() || old.convention != new.convention {
            return Similarity::Signature;
        }
        let params = old.params.iter().zip(&new.params);
        let params = params.map(|(old, new)| {
            let (old, new) = (self.old.adjusted(&old.ty), self.new.adjusted(&new.ty));
            self.types(&old, &new, depth)
        });
        let worst = params.fold(self.types(&old.ret, &new.ret, depth), Ord::max);
        worst.min(Similarity::Signature)
    }

    fn types(&self, old: &Type, new: &Type, depth: u8) -> Similarity {
        use Similarity::{Const, Other, Reinterpreted, Same};
        let Some(depth) = depth.checked_sub(1) else {
            return if old == new { Same } else { Other };
        };
        let (old, new) = (self.old.resolve(old), self.new.resolve(new));
        match (old, new) {
            (Type::Named(old), Type::Named(new)) => self.names(old, new, depth),
            (
                Type::Pointer {
                    pointee: old,
                    mutable: old_mutable,
                },
                Type::Pointer {
                    pointee: new,
                    mutable: new_mutable,
                },
            ) => {
                let constness = match old_mutable == new_mutable {
                    true => Same,
                    false => Const,
                };
                constness.max(self.pointees(old, new, depth))
            }
            (
                Type::Array {
                    elem: old,
                    len: old_len,
                },
                Type::Array {
                    elem: new,
                    len: new_len,
                },
            ) => match old_len == new_len {
                true => self.types(old, new, depth),
                false => Other,
            },
            _ => match (self.old.signature(old), self.new.signature(new)) {
                (Some(old), Some(new)) => self.signatures(old, new, depth),
                _ if old == new => Same,
                _ => self.values(old, new).unwrap_or(Reinterpreted),
            },
        }
    }

    fn pointees(&self, old: &Type, new: &Type, depth: u8) -> Similarity {
        let is_void = |ty: &Type| *ty == Type::Void;
        let is_byte = |ty: &Type| matches!(ty, Type::Char | Type::Int { bits: 8, .. });
        match (self.old.resolve(old), self.new.resolve(new)) {
            (old, new) if is_void(old) && is_void(new) => Similarity::Same,
            (old, new) if is_void(old) || is_void(new) => Similarity::Respelled,
            (old, new) if old != new && is_byte(old) && is_byte(new) => Similarity::Respelled,
            _ => self.types(old, new, depth).min(Similarity::Reinterpreted),
        }
    }

    /// Compares values of different types: numbers, addresses and enumerations.
    fn values(&self, old: &Type, new: &Type) -> Option<Similarity> {
        if self.old.size(old) != self.new.size(new) {
            return Some(Similarity::Other);
        }
        let old = integer_type(&self.old, old);
        let new = integer_type(&self.new, new);
        let is_address = |ty: &Type| matches!(ty, Type::Pointer { .. } | Type::Function(_));
        Some(match (old, new) {
            (old, new) if old == new => Similarity::Respelled,
            (old, new)
                if is_integer(old) && is_integer(new) && is_signed(old) == is_signed(new) =>
            {
                match *old == Type::Bool || *new == Type::Bool {
                    true => Similarity::Reinterpreted,
                    false => Similarity::Respelled,
                }
            }
            (old, new) if is_integer(old) && is_integer(new) => Similarity::Reinterpreted,
            (old, new) if is_address(old) && is_address(new) => Similarity::Reinterpreted,
            (Type::Pointer { pointee, .. }, Type::Named(_))
            | (Type::Named(_), Type::Pointer { pointee, .. }) => match **pointee == Type::Void {
                true => Similarity::Respelled,
                false => Similarity::Reinterpreted,
            },
            (Type::Named(_), Type::Named(_)) => Similarity::Reinterpreted,
            _ => Similarity::Other,
        })
    }

    fn names(&self, old: &str, new: &str, depth: u8) -> Similarity {
        if self.is_partner(old, new) {
            return Similarity::Same;
        }
        match (self.old.item(old), self.new.item(new)) {
            (Some(old_item), Some(new_item)) => self.items((old, old_item), (new, new_item), depth),
            // A type that no side declares has nothing but its name.
            _ if old == new => Similarity::Same,
            _ => Similarity::Other,
        }
    }

    fn items(
        &self,
        (old_name, old): (&str, &Item),
        (new_name, new): (&str, &Item),
        depth: u8,
    ) -> Similarity {
        let old_type = Type::Named(old_name.into());
        let new_type = Type::Named(new_name.into());
        match (old, new) {
            (Item::Callback(old), Item::Callback(new)) => {
                self.signatures(&old.signature, &new.signature, depth)
            }
            (Item::Enum(old), Item::Enum(new)) if old.repr == new.repr => {
                match has_same_values(old, new) {
                    true => Similarity::Respelled,
                    false => Similarity::Reinterpreted,
                }
            }
            (Item::Struct(_), Item::Struct(_)) | (Item::Union(_), Item::Union(_)) => {
                if self.has_same_layout(old, new, depth) {
                    return Similarity::Respelled;
                }
                match self.old.size(&old_type) == self.new.size(&new_type) {
                    true => Similarity::Reinterpreted,
                    false => Similarity::Other,
                }
            }
            _ => self
                .values(&old_type, &new_type)
                .unwrap_or(Similarity::Other),
        }
    }

    /// Returns true if two items have the same definition, so that one may be the other renamed.
    pub fn has_same_definition(&self, old: &Item, new: &Item) -> bool {
        match (old, new) {
            (Item::Handle(old), Item::Handle(new)) => old.pointer == new.pointer,
            (Item::Enum(old), Item::Enum(new)) => old.repr == new.repr && has_same_values(old, new),
            (Item::Callback(old), Item::Callback(new)) => {
                self.compare_signatures(&old.signature, &new.signature) == Similarity::Same
            }
            (Item::Alias(old), Item::Alias(new)) => {
                self.compare_types(&old.ty, &new.ty) == Similarity::Same
            }
            _ => self.has_same_layout(old, new, DEPTH),
        }
    }

    fn has_same_layout(&self, old: &Item, new: &Item, depth: u8) -> bool {
        let (Some(old_fields), Some(new_fields)) = (old.fields(), new.fields()) else {
            return false;
        };
        let range = |field: &Field| (field.offset, field.size);
        old.layout() == new.layout()
            && old_fields.len() == new_fields.len()
            && old_fields.iter().zip(new_fields).all(|(old, new)| {
                let similarity = || self.types(&old.ty, &new.ty, depth);
                range(old) == range(new) && similarity().is_binary_compatible()
            })
    }
}

/// Returns the integer type of an enumeration, or the type itself.
fn integer_type<'t>(view: &'t SurfaceView, ty: &'t Type) -> &'t Type {
    match ty {
        Type::Named(name) => match view.item(name) {
            Some(Item::Enum(item)) => &item.repr,
            _ => ty,
        },
        _ => ty,
    }
}

fn is_integer(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Int { .. } | Type::Size | Type::Address { .. } | Type::Char | Type::Bool
    )
}

fn is_signed(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Int { signed: true, .. } | Type::Address { signed: true }
    )
}

fn has_same_values(old: &Enum, new: &Enum) -> bool {
    let values = |item: &Enum| {
        let mut values: Vec<i64> = item.variants.iter().map(|variant| variant.value).collect();
        values.sort_unstable();
        values
    };
    values(old) == values(new)
}
