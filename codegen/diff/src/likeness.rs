//! How alike two types are, to a compiler and to a binary. Each is read with the names of its own
//! side, so that another name for the same thing is no difference.

use sp_ir::{Enum, Field, Item, Signature, Type};

use super::pair::Pair;
use super::view::fields;

/// Names are followed this far into each other.
const DEPTH: u8 = 8;

/// How alike, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The same, under whatever name.
    Same,
    /// Constness differs, which no binary has.
    Const,
    /// Another way to write the same bytes: `void*` and `T*`, an enumeration and its integer.
    Respelled,
    /// Functions that take or return something else.
    Signature,
    /// As many bytes passed in the same way, of another meaning.
    Reread,
    /// Another size, or passed in another way.
    Other,
}

impl Likeness {
    /// Whether a binary sees no difference.
    pub fn is_binary(self) -> bool {
        self <= Self::Respelled
    }
}

impl Pair<'_> {
    /// How alike OLD's type and NEW's are.
    pub fn like(&self, old: &Type, new: &Type) -> Likeness {
        self.types(old, new, DEPTH)
    }

    /// How alike the things behind two names are, whatever the names.
    pub fn opened(&self, old: &Type, new: &Type) -> Likeness {
        match (self.old.resolve(old), self.new.resolve(new)) {
            (Type::Named(old), Type::Named(new)) => {
                match (self.old.item(old), self.new.item(new)) {
                    (Some(one), Some(two)) => self.items(one, two, old, new, DEPTH),
                    _ => Likeness::Other,
                }
            }
            (old, new) => self.types(old, new, DEPTH),
        }
    }

    /// How alike two signatures are, by what is passed and returned.
    pub fn like_signatures(&self, old: &Signature, new: &Signature) -> Likeness {
        self.signatures(old, new, DEPTH)
    }

    fn signatures(&self, old: &Signature, new: &Signature, depth: u8) -> Likeness {
        if old.params.len() != new.params.len() {
            return Likeness::Signature;
        }
        let params = old.params.iter().zip(&new.params);
        let params = params.map(|(old, new)| self.types(&old.ty, &new.ty, depth));
        let worst = params.fold(self.types(&old.ret, &new.ret, depth), Ord::max);
        worst.min(Likeness::Signature)
    }

    fn types(&self, old: &Type, new: &Type, depth: u8) -> Likeness {
        use Likeness::{Const, Other, Reread, Respelled, Same};
        let Some(depth) = depth.checked_sub(1) else {
            return if old == new { Same } else { Other };
        };
        let (one, two) = (self.old.resolve(old), self.new.resolve(new));
        match (one, two) {
            (Type::Named(one), Type::Named(two)) => self.names(one, two, depth),
            (
                Type::Pointer { pointee, mutable },
                Type::Pointer {
                    pointee: other,
                    mutable: as_well,
                },
            ) => {
                let constness = if mutable == as_well { Same } else { Const };
                constness.max(self.pointees(pointee, other, depth))
            }
            (
                Type::Array { elem, len },
                Type::Array {
                    elem: other,
                    len: many,
                },
            ) => {
                if len == many {
                    self.types(elem, other, depth)
                } else {
                    Other
                }
            }
            _ => match (self.old.signature(one), self.new.signature(two)) {
                (Some(one), Some(two)) => self.signatures(one, two, depth),
                _ if one == two => Same,
                _ => self.values(one, two).unwrap_or(Reread.max(Respelled)),
            },
        }
    }

    fn pointees(&self, old: &Type, new: &Type, depth: u8) -> Likeness {
        let free = |ty: &Type| *ty == Type::Void;
        let bytes = |ty: &Type| matches!(ty, Type::Char | Type::Int { bits: 8, .. });
        match (self.old.resolve(old), self.new.resolve(new)) {
            (one, two) if free(one) && free(two) => Likeness::Same,
            (one, two) if free(one) || free(two) => Likeness::Respelled,
            (one, two) if one != two && bytes(one) && bytes(two) => Likeness::Respelled,
            _ => self.types(old, new, depth).min(Likeness::Reread),
        }
    }

    /// Plain values of different types.
    fn values(&self, old: &Type, new: &Type) -> Option<Likeness> {
        let (one, two) = (self.carrier(old, true), self.carrier(new, false));
        let number = |ty: &Type| {
            matches!(
                ty,
                Type::Int { .. } | Type::Size | Type::Address { .. } | Type::Char | Type::Bool
            )
        };
        let address = |ty: &Type| matches!(ty, Type::Pointer { .. } | Type::Function(_));
        if self.old.size(old) != self.new.size(new) {
            return Some(Likeness::Other);
        }
        Some(match (&one, &two) {
            (one, two) if one == two => Likeness::Respelled,
            (one, two) if number(one) && number(two) && sign(one) == sign(two) => {
                match **one == Type::Bool || **two == Type::Bool {
                    true => Likeness::Reread,
                    false => Likeness::Respelled,
                }
            }
            (one, two) if number(one) && number(two) => Likeness::Reread,
            (one, two) if address(one) && address(two) => Likeness::Reread,
            (Type::Pointer { pointee, .. }, Type::Named(_))
            | (Type::Named(_), Type::Pointer { pointee, .. }) => match **pointee == Type::Void {
                true => Likeness::Respelled,
                false => Likeness::Reread,
            },
            (Type::Named(_), Type::Named(_)) => Likeness::Reread,
            _ => Likeness::Other,
        })
    }

    /// The integer that carries an enumeration; else the type.
    fn carrier<'t>(&'t self, ty: &'t Type, old: bool) -> &'t Type {
        let view = if old { &self.old } else { &self.new };
        match ty {
            Type::Named(name) => match view.item(name) {
                Some(Item::Enum(found)) => &found.repr,
                _ => ty,
            },
            _ => ty,
        }
    }

    fn names(&self, old: &str, new: &str, depth: u8) -> Likeness {
        if self.is_partner(old, new) {
            return Likeness::Same;
        }
        let (one, two) = (self.old.item(old), self.new.item(new));
        match (one, two) {
            (Some(one), Some(two)) => self.items(one, two, old, new, depth),
            // What no side declares is known by its name alone.
            _ if old == new => Likeness::Same,
            _ => Likeness::Other,
        }
    }

    fn items(&self, one: &Item, two: &Item, old: &str, new: &str, depth: u8) -> Likeness {
        match (one, two) {
            (Item::Callback(one), Item::Callback(two)) => {
                self.signatures(&one.signature, &two.signature, depth)
            }
            (Item::Enum(one), Item::Enum(two)) if one.repr == two.repr => {
                match same_values(one, two) {
                    true => Likeness::Respelled,
                    false => Likeness::Reread,
                }
            }
            (Item::Struct(_), Item::Struct(_)) | (Item::Union(_), Item::Union(_)) => {
                if self.made_alike(one, two, depth) {
                    return Likeness::Respelled;
                }
                let named = |name: &str| Type::Named(name.into());
                match self.old.size(&named(old)) == self.new.size(&named(new)) {
                    true => Likeness::Reread,
                    false => Likeness::Other,
                }
            }
            _ => {
                let named = |name: &str| Type::Named(name.into());
                self.values(&named(old), &named(new))
                    .unwrap_or(Likeness::Other)
            }
        }
    }

    /// Whether two items are made alike under different names, so that one may be the other renamed.
    pub fn is_remade(&self, old: &Item, new: &Item) -> bool {
        match (old, new) {
            (Item::Handle(old), Item::Handle(new)) => old.pointer == new.pointer,
            (Item::Enum(old), Item::Enum(new)) => old.repr == new.repr && same_values(old, new),
            (Item::Callback(old), Item::Callback(new)) => {
                self.like_signatures(&old.signature, &new.signature) == Likeness::Same
            }
            (Item::Alias(old), Item::Alias(new)) => self.like(&old.ty, &new.ty) == Likeness::Same,
            _ => self.made_alike(old, new, DEPTH),
        }
    }

    fn made_alike(&self, old: &Item, new: &Item, depth: u8) -> bool {
        let (Some(was), Some(is)) = (fields(old), fields(new)) else {
            return false;
        };
        let layout = |item: &Item| match item {
            Item::Struct(item) => Some(item.layout),
            Item::Union(item) => Some(item.layout),
            _ => None,
        };
        let place = |field: &Field| (field.offset, field.size);
        layout(old) == layout(new)
            && was.len() == is.len()
            && was.iter().zip(is).all(|(one, two)| {
                place(one) == place(two) && self.types(&one.ty, &two.ty, depth).is_binary()
            })
    }
}

fn sign(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Int { signed: true, .. } | Type::Address { signed: true }
    )
}

fn same_values(old: &Enum, new: &Enum) -> bool {
    let values = |one: &Enum| {
        let mut values: Vec<i64> = one.variants.iter().map(|one| one.value).collect();
        values.sort_unstable();
        values
    };
    values(old) == values(new)
}
